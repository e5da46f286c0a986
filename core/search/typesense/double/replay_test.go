package double_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math/big"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
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

func readExchanges(t testing.TB) []exchange {
	t.Helper()
	file, err := os.Open("../testdata/exchanges.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
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
func plain(t testing.TB, body string) any {
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

func same(t testing.TB, path, want, got string) bool {
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
	c := start(t, true)
	reported := []string{}
	c.replay(func(e exchange) {
		if len(c.ts.Violations()) > 0 {
			reported = append(reported, e.Name)
		}
		c.ts.Forget()
	})
	if want := silent(); !slices.Equal(reported, want) {
		t.Errorf("violations in\n%q, want\n%q", reported, want)
	}
}

// TestReplayReal does so with the server of QUOIN_TEST_TYPESENSE_URL, which
// tells how far its version is from the recorded one (29.0).
func TestReplayReal(t *testing.T) {
	url := os.Getenv("QUOIN_TEST_TYPESENSE_URL")
	if url == "" {
		t.Skip("NOT RUN: no Typesense server in QUOIN_TEST_TYPESENSE_URL, with its key in QUOIN_TEST_TYPESENSE_KEY")
	}
	c := client{t: t, url: url, key: os.Getenv("QUOIN_TEST_TYPESENSE_KEY")}
	for _, path := range []string{"/collections/qi_1", "/collections/qi_1~n", "/collections/qi_2", "/aliases/qi"} {
		if code, _ := c.try("GET", path, ""); code != 404 {
			t.Fatalf("%s: %d; the recording needs that name for itself", path, code)
		}
	}
	t.Cleanup(func() {
		for _, path := range []string{"/aliases/qi", "/collections/qi_1~n", "/collections/qi_1", "/collections/qi_2"} {
			c.try("DELETE", path, "")
		}
	})
	c.replay(func(exchange) {})
}

// replay sends the whole recording and compares each answer; after hears of
// each exchange when it is over.
func (c client) replay(after func(exchange)) {
	c.t.Helper()
	all := readExchanges(c.t)
	if len(all) != recorded {
		c.t.Fatalf("%d exchanges, want %d", len(all), recorded)
	}
	equal := 0
	for _, e := range all {
		path := e.Path
		if e.Query != "" {
			path += "?" + e.Query
		}
		code, body := c.try(e.Method, path, text(e.RequestBody))
		want := text(e.ResponseBody)
		if code == e.Status && same(c.t, e.Path, want, body) {
			equal++
		} else {
			c.t.Errorf("%s: %s %s\n  sent %.300s\n  want %d %.1500s\n  got  %d %.1500s",
				e.Name, e.Method, path, text(e.RequestBody), e.Status, want, code, body)
		}
		after(e)
	}
	c.t.Logf("%d of %d exchanges equal", equal, len(all))
}

// silent names the exchanges that show what a server answers without a word
// and wrongly, and values that can not be filtered for.
func silent() []string {
	return []string{
		"q/prefix default candidates (truncated!)",
		"escape/empty token",
		"errors/open range gives nothing",
		"errors/and word",
		"export/prefix filter is cut at 4 candidates",
		"limits/prefix filter: default 4 candidates",
	}
}
