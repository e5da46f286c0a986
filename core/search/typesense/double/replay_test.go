package double_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search/typesense/double"
)

// exchange is one request to a real server with its answer, search_time_ms
// and created_at set to 0.
type exchange struct {
	Name         string          `json:"name"`
	Method       string          `json:"method"`
	Path         string          `json:"path"`
	Query        string          `json:"query"`
	RequestBody  json.RawMessage `json:"request_body"`
	Status       int             `json:"status"`
	ResponseBody json.RawMessage `json:"response_body"`
}

// recorded is the number of exchanges in the recording.
const recorded = 259

func readExchanges(t *testing.T) []exchange {
	t.Helper()
	file, err := os.Open("../testdata/exchanges.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<24)
	var out []exchange
	for lines.Scan() {
		var e exchange
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// text gives the body of a message: JSON as it is, a JSON string as its text.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// plain decodes JSON for comparison: integers exactly, other numbers as the
// doubles they are, times as 0.
func plain(t *testing.T, body string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return normalise(v)
}

func normalise(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = normalise(e)
			if k == "search_time_ms" || k == "created_at" {
				v[k] = "0"
			}
		}
	case []any:
		for i, e := range v {
			v[i] = normalise(e)
		}
	case json.Number:
		if i, ok := new(big.Int).SetString(v.String(), 10); ok {
			return json.Number(i.String())
		}
		f, err := v.Float64()
		if err != nil {
			return v
		}
		return f
	}
	return v
}

func same(t *testing.T, path, want, got string) bool {
	t.Helper()
	if strings.HasSuffix(path, "/import") || strings.HasSuffix(path, "/export") {
		w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
		if len(w) != len(g) {
			return false
		}
		for i := range w {
			if w[i] != g[i] && !reflect.DeepEqual(plain(t, w[i]), plain(t, g[i])) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(plain(t, want), plain(t, got))
}

// TestReplay sends the recording from the first to the last exchange to an
// empty double and wants the status and the whole body of the real server.
func TestReplay(t *testing.T) {
	ts := double.New(double.Options{Key: "k"})
	t.Cleanup(ts.Close)
	all := readExchanges(t)
	if len(all) != recorded {
		t.Fatalf("%d exchanges, want %d", len(all), recorded)
	}
	equal := 0
	for _, e := range all {
		url := ts.URL() + e.Path
		if e.Query != "" {
			url += "?" + e.Query
		}
		code, body := send(t, e.Method, url, text(e.RequestBody))
		want := text(e.ResponseBody)
		if code != e.Status || !same(t, e.Path, want, body) {
			t.Errorf("%s: %s %s\n  sent %.300s\n  want %d %.1500s\n  got  %d %.1500s", e.Name, e.Method, url, text(e.RequestBody), e.Status, want, code, body)
			continue
		}
		equal++
	}
	t.Logf("%d of %d exchanges equal", equal, len(all))
}

func send(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-TYPESENSE-API-KEY", "k")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(got)
}
