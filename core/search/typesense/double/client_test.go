package double_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/search/typesense/double"
)

// client speaks to a server; what it does not expect fails the test.
type client struct {
	t   testing.TB
	ts  *double.Server // nil for a real server
	url string
	key string
}

func clientOf(t testing.TB, ts *double.Server) client {
	return client{t: t, ts: ts, url: ts.URL(), key: "k"}
}

// start gives a client of a double whose violations fail the test, unless
// quiet.
func start(t testing.TB, quiet bool) client {
	t.Helper()
	opts := double.Options{Key: "k"}
	if !quiet {
		opts.Violation = t.Errorf
	}
	ts := double.New(opts)
	t.Cleanup(ts.Close)
	return clientOf(t, ts)
}

// try sends a request; the status is 0 when no whole answer came.
func (c client) try(method, path, body string) (int, string) {
	c.t.Helper()
	return send(c.t, c.key, method, c.url+path, body)
}

// must sends a request that must succeed.
func (c client) must(method, path, body string) string {
	c.t.Helper()
	code, answer := c.try(method, path, body)
	if code/100 != 2 {
		c.t.Fatalf("%s %s: %d %s", method, path, code, answer)
	}
	return answer
}

func (c client) create(name, fields string) {
	c.t.Helper()
	c.must("POST", "/collections", `{"name":"`+name+`","fields":[`+fields+`]}`)
}

// load imports lines that must all be taken.
func (c client) load(collection string, lines ...string) {
	c.t.Helper()
	answer := c.must("POST", "/collections/"+collection+"/documents/import?action=upsert", strings.Join(lines, "\n"))
	if strings.Count(answer, `"success":true`) != len(lines) {
		c.t.Fatal(answer)
	}
}

// search gives the ids of a search on collection c, or its error.
func (c client) search(params map[string]any) (string, map[string]any) {
	c.t.Helper()
	p := map[string]any{"collection": "c", "q": "*", "per_page": 250, "sort_by": "", "include_fields": "id", "max_filter_by_candidates": 1000}
	for k, v := range params {
		p[k] = v
	}
	body, err := json.Marshal(map[string]any{"searches": []any{p}})
	if err != nil {
		c.t.Fatal(err)
	}
	code, text := c.try("POST", "/multi_search", string(body))
	if code == 0 {
		return "closed", nil
	}
	var answer struct{ Results []map[string]any }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Results) != 1 {
		return text, nil
	}
	one := answer.Results[0]
	if one["error"] != nil {
		return fmt.Sprintf("%v %v", one["code"], one["error"]), one
	}
	var ids []string
	hits, _ := one["hits"].([]any) // absent from grouped answers
	for _, h := range hits {
		ids = append(ids, h.(map[string]any)["document"].(map[string]any)["id"].(string))
	}
	return strings.Join(ids, " "), one
}

// filter gives the ids that a filter selects, in the order of insertion.
func (c client) filter(filter string) string {
	c.t.Helper()
	ids, _ := c.search(map[string]any{"filter_by": filter})
	if strings.HasPrefix(ids, "4") {
		return ids
	}
	words := strings.Fields(ids)
	for i, j := 0, len(words)-1; i < j; i, j = i+1, j-1 {
		words[i], words[j] = words[j], words[i]
	}
	return strings.Join(words, " ")
}

func escape(s string) string { return url.QueryEscape(s) }

func send(t testing.TB, key, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-TYPESENSE-API-KEY", key)
	answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		return 0, err.Error()
	}
	got, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return 0, string(got)
	}
	return answer.StatusCode, string(got)
}
