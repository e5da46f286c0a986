package double_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestSort(t *testing.T) {
	c := start(t, false)
	c.create("c", `{"name":"s","type":"string","sort":true,"optional":true},{"name":"n","type":"int64","optional":true},
		{"name":"f","type":"float","optional":true},{"name":"plain","type":"string","optional":true}`)
	c.load("c",
		`{"id":"a","s":"Beta","n":2}`,
		`{"id":"b","s":"álpha","n":1}`,
		`{"id":"c","s":"!gamma","n":9007199254740993}`,
		`{"id":"d","s":"","n":9007199254740992}`,
		`{"id":"e","f":0.5}`,
		`{"id":"f","s":"10","n":2}`,
		`{"id":"g","s":"9"}`,
	)
	for _, x := range []struct{ by, want string }{
		{"", "g f e d c b a"},
		{"s:asc", "f g b a c e d"},
		{"s:desc", "e d c a b g f"},
		{"s(missing_values:first):asc", "e d f g b a c"},
		{"s(missing_values: last):desc", "c a b g f e d"},
		{"n:asc", "b f a d c g e"},
		{"n:DESC", "c d f a b g e"},
		{"n(missing_values:first):desc,s:asc", "g e c d f a b"},
		{"_eval(n:=2):desc,n:asc", "f a b d c g e"},
		{"_eval([(n:=2 && s:=beta):5,(n:>1):3]):desc", "a f d c g e b"},
		{"n", "400 Parameter `sort_by` is malformed."},
		{"plain:asc", "404 Could not find a field named `plain` in the schema for sorting."},
		{"id:asc", "404 Could not find a field named `id` in the schema for sorting."},
		{"_eval($x(n:=1)):desc", "400 Collection `` not found."},
	} {
		if got, _ := c.search(map[string]any{"sort_by": x.by}); got != x.want {
			t.Errorf("%s\n  got  %s\n  want %s", x.by, got, x.want)
		}
	}
}

func TestText(t *testing.T) {
	c := start(t, false)
	c.create("c", `{"name":"t","type":"string[]"},{"name":"u","type":"string","optional":true}`)
	c.load("c",
		`{"id":"1","t":["red shoe"],"u":"green hat"}`,
		`{"id":"2","t":["red","shoe"]}`,
		`{"id":"3","t":["shoe red"]}`,
		`{"id":"4","t":["blue shop"]}`,
		`{"id":"5","t":["rde hat"]}`,
	)
	for _, x := range []struct {
		q      string
		params map[string]any
		want   string
	}{
		{`"red shoe"`, nil, "1"},
		{"red shoe", nil, "3 1 2"}, // one window scores above two elements
		{"red -shoe", map[string]any{"num_typos": 0}, ""},
		{"red", map[string]any{"num_typos": 0}, "3 2 1"},
		{"red", map[string]any{"num_typos": 2, "min_len_1typo": 1, "typo_tokens_threshold": 100}, "3 2 1 5"},
		{"sho", map[string]any{"prefix": "true"}, "4 3 2 1"},
		{"sho", map[string]any{"num_typos": 0}, ""},
		{"red hat", map[string]any{"query_by": "t,u", "num_typos": 0}, "1"},
		{"", nil, "5 4 3 2 1"},
		{`"hat"`, map[string]any{"filter_by": "t:red"}, ""},
	} {
		p := map[string]any{"q": x.q, "query_by": "t", "prefix": "false", "drop_tokens_threshold": 0}
		for k, v := range x.params {
			p[k] = v
		}
		if got, _ := c.search(p); got != x.want {
			t.Errorf("%s %v\n  got  %s\n  want %s", x.q, x.params, got, x.want)
		}
	}
	if got, _ := c.search(map[string]any{"q": "red"}); got != "400 No search fields specified for the query." {
		t.Error(got)
	}
}

// facet gives `value count` of a facet and its stats.
func (c client) facet(params map[string]any) (string, map[string]any) {
	c.t.Helper()
	params["per_page"] = 0
	text, answer := c.search(params)
	if answer["facet_counts"] == nil {
		return text, nil
	}
	f := answer["facet_counts"].([]any)[0].(map[string]any)
	var out []string
	for _, v := range f["counts"].([]any) {
		v := v.(map[string]any)
		out = append(out, fmt.Sprintf("%.10v %v", v["value"], v["count"]))
	}
	return strings.Join(out, ", "), f["stats"].(map[string]any)
}

func TestFacets(t *testing.T) {
	c := start(t, false)
	c.create("c", `{"name":"k","type":"string[]","facet":true},{"name":"n","type":"int64","facet":true},{"name":"b","type":"bool","facet":true}`)
	long := strings.Repeat("x", 300)
	for i := range 20 {
		c.load("c", fmt.Sprintf(`{"id":"%d","k":["v%d","v%d","!!!","",%q],"n":%d,"b":%v}`, i, i%7, i%7, fmt.Sprint(long, i%2), i, i < 5))
	}
	if got, _ := c.facet(map[string]any{"facet_by": "k", "max_facet_values": 3, "facet_strategy": "exhaustive"}); got != "xxxxxxxxxx 20, v5 3, v4 3" {
		t.Error("values are cut at 255 bytes, counted once and ordered:", got)
	}
	if got, _ := c.facet(map[string]any{"facet_by": "b", "facet_strategy": "exhaustive"}); got != "false 15, true 5" {
		t.Error(got)
	}
	if _, stats := c.facet(map[string]any{"facet_by": "n"}); stats["total_values"] != 10.0 || stats["sum"] == 190.0 {
		t.Error("the stats of the default strategy are of ten values:", stats)
	}
	if _, stats := c.facet(map[string]any{"facet_by": "n", "facet_strategy": "exhaustive"}); stats["total_values"] != 20.0 || stats["sum"] != 190.0 || stats["avg"] != 9.5 {
		t.Error("exhaustive stats:", stats)
	}
	if got, _ := c.facet(map[string]any{"facet_by": "k", "group_by": "b", "filter_by": "k:=v0"}); !strings.HasSuffix(got, "v0 2") && !strings.HasPrefix(got, "v0 2") {
		t.Error("groups are counted under group_by:", got)
	}
	if got, _ := c.search(map[string]any{"group_by": "x"}); got != "400 Group by field `x` should be a facet field." {
		t.Error(got)
	}
}

func TestJoinsAndCascade(t *testing.T) {
	c := start(t, false)
	pair(c)
	c.must("PUT", "/aliases/rows", `{"collection_name":"r"}`)
	for filter, want := range map[string]string{
		"$r(k_b:=vx)":             "1",
		"$rows(k_b:=vx)":          "1",
		"!$r(k_b:=vx)":            "2",
		"k_a:=vc || $r(k_b:=vx)":  "1 2",
		"$r((k_b:=vx || id:=zz))": "1",
		"$r(k_b:=vx) && $rows(id:=zz)": "400 More than one joins found for collection `rows` in the `filter_by`. Instead of providing separate join conditions like " +
			"`$customer_product_prices(customer_id:=customer_a) && $customer_product_prices(custom_price:<100)`, the join condition should be provided as a single " +
			"filter expression like `$customer_product_prices(customer_id:=customer_a && custom_price:<100)`",
		"$nope(a:=b)": "400 Referenced collection `nope` not found.",
	} {
		if got := c.filter(filter); got != want {
			t.Errorf("%s: %s", filter, got)
		}
	}
	if ids, _ := c.search(map[string]any{"collection": "r", "filter_by": "$c(k_a:=va)"}); ids != "1/x" {
		t.Error("from the rows to the document:", ids)
	}
	c.load("c", `{"id":"1","k_a":["vz"]}`) // an upsert keeps the rows
	if got := c.filter("$r(k_b:=vx)"); got != "1" {
		t.Error("after an upsert:", got)
	}
	c.must("DELETE", "/collections/c/documents/1", "")
	if got := c.must("GET", "/collections/r/documents/export", ""); got != "" {
		t.Error("rows after the document is gone:", got)
	}
	c.load("r", `{"id":"2/x","_root":"2"}`)
	c.must("DELETE", "/collections/c", "")
	if ids, _ := c.search(map[string]any{"collection": "r", "filter_by": "$c(k_a:=va)"}); ids != "400 Referenced collection `c` not found." {
		t.Error("join to a dropped collection:", ids)
	}
}

func TestDocuments(t *testing.T) {
	c := start(t, false)
	c.create("c", small)
	for _, x := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"POST", "?action=create", `{"id":"a b/c","n_x":[1]}`, 201, `{"id":"a b/c","n_x":[1]}`},
		{"GET", "/a%20b%2Fc", "", 200, `{"id":"a b/c","n_x":[1]}`},
		{"POST", "?action=create", `{"id":"a b/c"}`, 409, `{"message":"A document with id a b/c already exists."}`},
		{"POST", "", `{"s":9007199254740993,"other":{"a":null}}`, 201, `{"id":"1","other":{"a":null},"s":9007199254740993}`},
		{"PATCH", "/1", `{"s":null,"other":{"b":[1]},"k_y":["v"]}`, 200, `{"id":"1","k_y":["v"],"other":{"a":null,"b":[1]}}`},
		{"POST", "?action=update", `{"id":"zzz"}`, 404, `{"message":"Could not find a document with id: zzz"}`},
		{"POST", "?action=emplace", `{"id":"zzz"}`, 201, `{"id":"zzz"}`},
		{"POST", "?action=bad", `{"id":"q"}`, 400, "{\"message\":\"Parameter `action` must be a create|update|upsert.\"}"},
		{"DELETE", "/zzz", "", 200, `{"id":"zzz"}`},
		{"DELETE", "/zzz", "", 404, `{"message":"Could not find a document with id: zzz"}`},
		{"DELETE", "/zzz?ignore_not_found=true", "", 200, `{"id":"zzz"}`},
		{"DELETE", "", "", 400, "{\"message\":\"Parameter `filter_by` must be provided.\"}"},
		{"DELETE", "?filter_by=", "", 200, `{"num_deleted":0}`},
		{"DELETE", "?filter_by=id:[1,missing]&return_id=true", "", 200, `{"ids":["1"],"num_deleted":1}`},
		{"DELETE", "?truncate=true", "", 200, `{"num_deleted":1}`},
		{"GET", "/export", "", 200, ``},
	} {
		code, got := c.try(x.method, "/collections/c/documents"+x.path, x.body)
		if code != x.code || got != x.want {
			t.Errorf("%s %s %s\n  got  %d %s\n  want %d %s", x.method, x.path, x.body, code, got, x.code, x.want)
		}
	}
}

// TestPlace shows where documents stand without sort_by.
func TestPlace(t *testing.T) {
	c := start(t, false)
	c.create("c", small)
	c.load("c", `{"id":"1"}`, `{"id":"2"}`, `{"id":"3"}`)
	c.load("c", `{"id":"1","s":5}`)
	if got, _ := c.search(nil); got != "3 2 1" {
		t.Error("an upsert keeps its place:", got)
	}
	c.must("DELETE", "/collections/c/documents/1", "")
	c.load("c", `{"id":"1"}`)
	if got, _ := c.search(nil); got != "1 3 2" {
		t.Error("a new document comes first:", got)
	}
	c.load("c", `{"id":"4","k_x":["`+strings.Repeat("x", 200)+`","`+strings.Repeat("я", 80)+`"]}`)
	if got := c.filter("k_x:=" + strings.Repeat("x", 100)); got != "4" {
		t.Error("tokens are cut at 100 bytes:", got)
	}
	if got := c.filter("k_x:=" + strings.Repeat("я", 50)); got != "4" {
		t.Error("tokens are cut at 100 bytes:", got)
	}
}

func TestAliases(t *testing.T) {
	c := start(t, false)
	c.create("one", small)
	c.create("two", small)
	c.load("two", `{"id":"2"}`)
	c.must("PUT", "/aliases/al", `{"collection_name":"one"}`)
	c.must("PUT", "/aliases/al2", `{"collection_name":"al"}`)
	if got, _ := c.search(map[string]any{"collection": "al2"}); got != "404 Collection not found" {
		t.Error("an alias of an alias:", got)
	}
	c.load("al", `{"id":"1"}`)
	if got, answer := c.search(map[string]any{"collection": "al"}); got != "1" || answer["request_params"].(map[string]any)["collection_name"] != "one" {
		t.Error(got, answer)
	}
	c.must("PUT", "/aliases/al", `{"collection_name":"two"}`)
	if got, _ := c.search(map[string]any{"collection": "al"}); got != "2" {
		t.Error("after the switch:", got)
	}
	c.create("al", small)
	if got, _ := c.search(map[string]any{"collection": "al"}); got != "" {
		t.Error("a collection hides the alias of its name:", got)
	}
	var list []struct{ Name string }
	if err := json.Unmarshal([]byte(c.must("GET", "/collections?limit=2&exclude_fields=fields", "")), &list); err != nil || fmt.Sprint(list) != "[{al} {two}]" {
		t.Error(list, err)
	}
	if got := fmt.Sprint(c.ts.Collections()); got != "[one two al]" {
		t.Error(got)
	}
}

func TestPaging(t *testing.T) {
	c := start(t, false)
	c.create("c", small)
	for i := range 30 {
		c.load("c", fmt.Sprintf(`{"id":"%02d","s":%d}`, i, i))
	}
	for _, x := range []struct {
		params map[string]any
		want   string
	}{
		{map[string]any{"per_page": 3}, "00 01 02"},
		{map[string]any{"per_page": 3, "page": 2}, "03 04 05"},
		{map[string]any{"per_page": 3, "page": 0}, "00 01 02"},
		{map[string]any{"per_page": 2, "offset": 27}, "27 28"},
		{map[string]any{"per_page": 2, "offset": 29}, "29"},
		{map[string]any{"per_page": 2, "offset": 31}, ""},
		{map[string]any{"per_page": 5, "limit_hits": 2}, "00 01"},
		{map[string]any{"per_page": -1}, "400 Parameter `per_page` must be an unsigned integer."},
		{map[string]any{"per_page": 251}, "422 Only upto 250 hits can be fetched per page."},
		{map[string]any{"per_page": math.MaxInt64, "offset": math.MaxInt64}, "422 Only upto 250 hits can be fetched per page."},
		{map[string]any{"per_page": 250, "page": math.MaxInt64}, ""},
		{map[string]any{"per_page": 250, "offset": math.MaxInt64}, ""},
	} {
		x.params["sort_by"] = "s:asc"
		if got, _ := c.search(x.params); got != x.want {
			t.Errorf("%v: %s", x.params, got)
		}
	}
}
