package double_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/search/typesense/double"
)

// FuzzSearch sends any filter, q and sort_by: the double answers or closes the
// connection on purpose, and goes on.
func FuzzSearch(f *testing.F) {
	for _, seed := range [][3]string{
		{"k_a:=[va,`b`] && (n_a:!=[1..2] || id:!=x)", "quick \"red fox\" -x", "s(missing_values:last):asc,_eval([(k_a:=va):2]):desc"},
		{"!$r(k_b:=v*) || g:(1,2,3 km)", "*", "g(1,2):asc"},
		{"n_a:[..]", "\"", "_eval(:desc"},
		{"(((", "-", "s(:asc"},
		{"g:(", "", "_eval([]):desc"},
		{"k_a:[`", "é\xff", ",,,"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	ts := double.New(double.Options{})
	f.Cleanup(ts.Close)
	c := clientOf(f, ts)
	c.create("c", small+`,{"name":"g","type":"geopoint[]","optional":true}`)
	c.create("r", small+`,{"name":"_root","type":"string","facet":true,"reference":"c.id"}`)
	c.load("c", `{"id":"1","k_a":["va","vb"],"n_a":[1],"s":1,"g":[[1,2]]}`, `{"id":"2","k_a":["vc"]}`)
	c.load("r", `{"id":"1/x","_root":"1","k_b":["vx"]}`)
	f.Fuzz(func(t *testing.T, filter, q, sort string) {
		body, err := json.Marshal(map[string]any{"searches": []any{map[string]any{
			"collection": "c", "q": q, "filter_by": filter, "sort_by": sort, "query_by": "k_a", "facet_by": "k_a",
		}}})
		if err != nil {
			t.Skip("no JSON")
		}
		ts.Forget()
		code, answer := send(t, "", "POST", ts.URL()+"/multi_search", string(body))
		switch {
		case code == 0 && len(ts.Violations()) == 0:
			t.Fatalf("closed without a violation: %s", answer)
		case code != 0 && code != 200 || code == 200 && !json.Valid([]byte(answer)):
			t.Fatalf("%d %s", code, answer)
		}
	})
}

// FuzzImport sends any line to an import.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{`{"id":"1","k_a":["x"]}`, `{"id":"1","n_a":[1.5]}`, `{"g":[[1]]}`, `{`, `[]`, `{"id":null}`, `{"k_a":null,"n_a":[null]}`, "{}\n\n{}"} {
		f.Add([]byte(seed))
	}
	ts := double.New(double.Options{})
	f.Cleanup(ts.Close)
	c := clientOf(f, ts)
	c.create("c", small+`,{"name":"g","type":"geopoint[]","optional":true}`)
	f.Fuzz(func(t *testing.T, line []byte) {
		ts.Forget()
		code, answer := send(t, "", "POST", ts.URL()+"/collections/c/documents/import?action=emplace&return_id=true", string(line))
		if code == 0 && len(ts.Violations()) == 0 || code != 0 && code != 200 {
			t.Fatalf("%d %s", code, answer)
		}
		if !utf8.ValidString(answer) {
			t.Fatalf("not UTF-8: %q", answer)
		}
		c := clientOf(t, ts)
		c.must("GET", "/collections/c/documents/export", "")
	})
}
