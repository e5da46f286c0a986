package double_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/search/typesense/double"
)

const small = `{"name":"k_.*","type":"string[]","facet":true,"optional":true},{"name":"n_.*","type":"int64[]","optional":true},{"name":"s","type":"int64","optional":true}`

func pair(c client) {
	c.create("c", small)
	c.create("r", small+`,{"name":"_root","type":"string","facet":true,"reference":"c.id"}`)
	c.load("c", `{"id":"1","k_a":["va","vb"],"n_a":[1]}`, `{"id":"2","k_a":["vc"]}`)
	c.load("r", `{"id":"1/x","_root":"1","k_b":["vx"]}`)
}

// TestFatalFilters sends what hangs or kills a server: nothing comes back.
func TestFatalFilters(t *testing.T) {
	c := start(t, true)
	pair(c)
	for name, filter := range map[string]string{
		"above int64":         "n_a:=9223372036854775808",
		"far above":           "n_a:[0..99999999999999999999]",
		"below int64":         "n_a:>-9223372036854775809",
		"in a list":           "n_a:[1,9223372036854775808]",
		"in a group":          "k_a:=va || (n_a:=1 && n_a:!=9223372036854775808)",
		"NUL":                 "n_a:=\x00",
		"second level object": "a.b.{n:=1 && k:=x}",
		"long join":           "$r(k_b:=[" + strings.Repeat("vlongvalue,", 800) + "v])",
		"long negated join":   "!$r(k_b:=[" + strings.Repeat("vlongvalue,", 800) + "v])",
	} {
		c.ts.Forget()
		if got := c.filter(filter); got != "closed" {
			t.Errorf("%s in a search: %.200s", name, got)
		}
		if len(c.ts.Violations()) != 1 {
			t.Errorf("%s in a search: violations %q", name, c.ts.Violations())
		}
		if strings.Contains(name, "long") {
			continue // does not fit into a URL
		}
		for _, path := range []string{"/collections/c/documents/export?filter_by=", "/collections/c/documents/search?q=*&filter_by="} {
			if code, got := c.try("GET", path+escape(filter), ""); code != 0 {
				t.Errorf("%s in %s: %d %s", name, path, code, got)
			}
		}
	}
	if ids, _ := c.search(map[string]any{"sort_by": "_eval([(k_a:=va):9223372036854775808]):desc"}); ids != "closed" {
		t.Error("_eval:", ids)
	}
	if got := c.filter("k_a:=[" + strings.Repeat("vlongvalue,", 8000) + "va]"); got != "1" {
		t.Error("a long list outside of a join is harmless:", got)
	}
}

func TestFatalWrites(t *testing.T) {
	c := start(t, true)
	pair(c)
	long := strings.Repeat("x", 201)
	for name, x := range map[string]struct{ path, body string }{
		"self reference":   {"/collections", `{"name":"self","fields":[{"name":"_up","type":"string","reference":"self.id"}]}`},
		"long schema name": {"/collections", `{"name":"long","fields":[{"name":"` + long + `","type":"string"}]}`},
		"long key":         {"/collections/c/documents/import?action=upsert", `{"id":"3","` + long + `":1}`},
		"long key, single": {"/collections/c/documents?action=upsert", `{"id":"3","` + long + `":1}`},
		"above int64":      {"/collections/c/documents/import?action=upsert", `{"id":"3","n_a":[9223372036854775808]}`},
	} {
		c.ts.Forget()
		if code, got := c.try("POST", x.path, x.body); code != 0 {
			t.Errorf("%s: %d %s", name, code, got)
		}
		if len(c.ts.Violations()) != 1 {
			t.Errorf("%s: violations %q", name, c.ts.Violations())
		}
	}
	if code, _ := c.try("GET", "/collections/self", ""); code != 404 {
		t.Error("a collection that refers to itself was made:", code)
	}
}

// TestSilent sends what a server answers, wrongly or of no use: the answer
// comes, and the violation with it.
func TestSilent(t *testing.T) {
	c := start(t, true)
	pair(c)
	for name, send := range map[string]func(){
		"prefix without candidates": func() { c.must("GET", "/collections/c/documents/search?q=*&filter_by=k_a:=v*", "") },
		"prefix in a join":          func() { c.filter("$r(k_b:=v*)") },
		"prefix in an export":       func() { c.must("GET", "/collections/c/documents/export?filter_by=k_a:=v*", "") },
		"prefix in a deletion":      func() { c.must("DELETE", "/collections/c/documents?filter_by=k_a:=w*", "") },
		"empty value":               func() { c.filter("k_a:=``") },
		"empty value in a list":     func() { c.filter("k_a:=[va,!!]") },
		"open range":                func() { c.filter("n_a:[1..]") },
		"range of strings":          func() { c.filter("k_a:>va") },
		"words for operators":       func() { c.filter("k_a:=va AND k_a:=vb") },
		"backtick in an id":         func() { c.filter("id:=`a`b`") },
		"converting dirty values": func() {
			c.load("c", `{"id":"1"}`)
			c.must("POST", "/collections/c/documents/import?action=upsert&dirty_values=drop", `{"id":"1"}`)
		},
		"nested objects": func() {
			c.must("POST", "/collections", `{"name":"o","enable_nested_fields":true,"fields":[{"name":"x","type":"string"}]}`)
		},
		"automatic fields": func() { c.try("POST", "/collections", `{"name":"auto","fields":[{"name":".*","type":"auto"}]}`) },
		"dropping by alias": func() {
			c.create("gone", small)
			c.must("PUT", "/aliases/al", `{"collection_name":"gone"}`)
			c.must("DELETE", "/collections/al", "")
		},
	} {
		c.ts.Forget()
		send()
		if len(c.ts.Violations()) != 1 {
			t.Errorf("%s: violations %q", name, c.ts.Violations())
		}
	}
}

func TestViolationIsTold(t *testing.T) {
	var mu sync.Mutex
	told := 0
	ts := double.New(double.Options{Violation: func(string, ...any) {
		mu.Lock()
		defer mu.Unlock()
		told++
	}})
	t.Cleanup(ts.Close)
	c := clientOf(t, ts)
	c.create("c", small)
	c.filter("n_a:1") // a field that no document has is an error, not a violation
	c.load("c", `{"id":"1","n_a":[1]}`)
	c.filter("n_a:9223372036854775808")
	mu.Lock()
	defer mu.Unlock()
	if told != 1 {
		t.Errorf("told of %d violations, want 1", told)
	}
}
