package typesense_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search/typesense"
)

// send checks a request as it would leave.
func send(t *testing.T, method, path, query, body string) error {
	t.Helper()
	var req *http.Request
	var err error
	if body == "" {
		req, err = http.NewRequest(method, "http://search.test"+path+"?"+query, nil)
	} else {
		req, err = http.NewRequest(method, "http://search.test"+path+"?"+query, strings.NewReader(body))
	}
	if err != nil {
		t.Fatal(err)
	}
	return typesense.Check(req)
}

func conditions(n int) string {
	return strings.TrimSuffix(strings.Repeat("k_a:=va && ", n), " && ")
}

// TestGuardFilters has a case for every filter that hangs or ends a server, or
// silently gives something else, beside the nearest one that is fine.
func TestGuardFilters(t *testing.T) {
	for _, c := range []struct {
		what, filter string
		search, del  bool // it may be searched with, and exported or deleted by
	}{
		{"nothing special", "k_a:=va && (n_b:[1..2] || id:=[a,b])", true, true},
		{"a prefix", "k_a:=va*", true, false},
		{"a negated prefix", "k_a:!=va*", true, false},
		{"a prefix of a token", "t_a:tok*", true, false},
		{"a prefix inside a join", "$qi_1~n(k_a:=va*)", false, false},
		{"a join", "$qi_1~n(_path:=va && k_a:=vb)", true, true},
		{"a negated join", "!$qi_1~n(_path:=va && k_a:=vb)", true, true},
		{"groups in a join", "k_a:=va && $qi_1~n((k_a:=vb || k_a:=vc) && n_q:!=3)", true, true},
		{"a join of 8 kB", "$qi_1~n(id:[" + strings.Repeat("a,", 4000) + "a])", true, true},
		{"a longer join", "$qi_1~n(id:[" + strings.Repeat("a,", 4200) + "a])", false, false},
		{"a join inside a join", "$qi_1~n($qi_1(k_a:=va))", false, false},
		{"a join that is not closed", "$qi_1~n(k_a:=va", false, false},
		{"a long list outside of joins", "id:=[" + strings.Repeat("a,", 60_000) + "a]", true, true},
		{"conditions on objects inside objects", "x_items.x_sub.{k_c:=vc1 && n_d:=6}", false, false},
		{"conditions on one object", "x_items.{k_c:=vc1}", false, false},
		{"the same characters in quotes", "g_a:=`.{$`", true, true},
		{"the largest integer", "n_a:=9223372036854775807", true, true},
		{"a larger one", "n_a:=9223372036854775808", false, false},
		{"a range with a larger one", "d_a:[0..99999999999999999999]", false, false},
		{"a list with a larger one", "l_a:=[1,2,99999999999999999999]", false, false},
		{"a smaller one", "b_a:>-9223372036854775809", false, false},
		{"a larger one in the order of rows", "_n:>9223372036854775808", false, false},
		{"a larger one in a join", "$qi_1~n(n_a:=99999999999999999999)", false, false},
		{"a larger one in a group", "(k_a:=va || (n_a:!=[1..99999999999999999999]))", false, false},
		{"digits of a keyword", "k_a:=va 100000000000000000000000000 && _root:=99999999999999999999x1", true, true},
		{"an open range", "n_a:[5..]", false, false},
		{"a NUL byte", "k_a:=v\x00", false, false},
		{"a backtick that is not closed", "id:=[`a,b]", false, false},
		{"50 conditions", conditions(50), true, true},
		{"51 conditions", conditions(51), false, false},
		{"51 conditions in a join", "$qi_1~n(" + conditions(51) + ")", false, false},
		{"51 values of a list", "k_a:=[" + strings.Repeat("va,", 51) + "vb]", true, true},
	} {
		body := fmt.Sprintf(`{"searches":[{"collection":"qi_1","q":"*","per_page":0,"filter_by":%s}]}`, quote(c.filter))
		if err := send(t, "POST", "/multi_search", "", body); (err == nil) != c.search {
			t.Errorf("%s: a search gives %v", c.what, err)
		}
		query := "filter_by=" + url.QueryEscape(c.filter)
		if len(query) > 4000 {
			continue
		}
		for _, r := range [][2]string{{"GET", "/collections/qi_1/documents/export"}, {"DELETE", "/collections/qi_1/documents"}} {
			if err := send(t, r[0], r[1], query, ""); (err == nil) != c.del {
				t.Errorf("%s: %s %s gives %v", c.what, r[0], r[1], err)
			}
		}
	}
}

func quote(s string) string {
	return `"` + strings.NewReplacer("\\", `\\`, `"`, `\"`, "\x00", `\u0000`).Replace(s) + `"`
}

func TestGuardRequests(t *testing.T) {
	search := func(members string) string {
		return `{"searches":[{"collection":"qi_1","q":"*","per_page":10` + members + `}]}`
	}
	long := strings.Repeat("x", 201)
	for _, c := range []struct {
		what, method, path, query, body string
		ok                              bool
	}{
		{"a collection", "POST", "/collections", "", `{"name":"a","fields":[{"name":"k_.*","type":"string[]"},{"name":"_root","type":"string","reference":"b.id"}]}`, true},
		{"a reference to itself", "POST", "/collections", "", `{"name":"a","fields":[{"name":"_up","type":"string","reference":"a.id"}]}`, false},
		{"a field with a long name", "POST", "/collections", "", `{"name":"a","fields":[{"name":"` + long + `","type":"string"}]}`, false},
		{"rows", "POST", "/collections/a/documents/import", "action=upsert", `{"id":"a","k_a":["v"]}` + "\n" + `{"id":"b","_src":"{\"` + long + `\":1}"}`, true},
		{"a row with a long key", "POST", "/collections/a/documents/import", "", `{"id":"a","` + long + `":["v"]}`, false},
		{"an empty line", "POST", "/collections/a/documents/import", "", `{"id":"a"}` + "\n\n" + `{"id":"b"}`, false},
		{"a row without an id", "POST", "/collections/a/documents/import", "", `{"k_a":["v"]}`, false},
		{"an id that is no string", "POST", "/collections/a/documents/import", "", `{"id":5}`, false},
		{"an empty id", "POST", "/collections/a/documents/import", "", `{"id":""}`, false},
		{"an id with a backtick", "POST", "/collections/a/documents/import", "", "{\"id\":\"a`b\"}", false},
		{"an id that begins with a space", "POST", "/collections/a/documents/import", "", `{"id":" a"}`, false},
		{"an id with a NUL byte", "POST", "/collections/a/documents/import", "", `{"id":"a\u0000"}`, false},
		{"a search", "POST", "/multi_search", "", search(`,"sort_by":"sk_a(missing_values:last):asc,_n:asc","facet_by":"k_a"`), true},
		{"a sort by conditions", "POST", "/multi_search", "", search(`,"sort_by":"_eval([(k_a:=va && n_b:=1):7,(k_a:=va):6]):desc,_n:asc"`), true},
		{"a weight beyond 64 bits", "POST", "/multi_search", "", search(`,"sort_by":"_eval([(k_a:=va):99999999999999999999]):desc"`), false},
		{"a number in the sort beyond 64 bits", "POST", "/multi_search", "", search(`,"sort_by":"_eval([(n_a:=99999999999999999999):1]):desc"`), false},
		{"an origin beyond 64 bits", "POST", "/multi_search", "", search(`,"sort_by":"sn_a(origin: 99999999999999999999):asc"`), false},
		{"a join in the sort", "POST", "/multi_search", "", search(`,"sort_by":"_eval([($qi_1(k_a:=va)):1]):desc"`), false},
		{"ranges of a facet", "POST", "/multi_search", "", search(`,"facet_by":"n_a(a:[99999999999999999999,])"`), false},
		{"pinned hits", "POST", "/multi_search", "", search(`,"pinned_hits":"99999999999999999999"`), false},
		{"too large a page", "POST", "/multi_search", "", `{"searches":[{"collection":"a","q":"*","per_page":251}]}`, false},
		{"no searches", "POST", "/multi_search", "", `{"searches":[]}`, false},
		{"no q", "POST", "/multi_search", "", `{"searches":[{"collection":"a","per_page":1}]}`, false},
		{"51 searches", "POST", "/multi_search", "", `{"searches":[` + strings.TrimSuffix(strings.Repeat(`{"collection":"a","q":"*"},`, 51), ",") + `]}`, false},
		{"a deletion of everything", "DELETE", "/collections/a/documents", "", "", false},
		{"a long query", "GET", "/collections/a/documents/export", "include_fields=" + strings.Repeat("a", 4000), "", false},
		{"an export", "GET", "/collections/a/documents/export", "include_fields=id", "", true},
		{"a schema", "GET", "/collections/a", "", "", true},
		{"health", "GET", "/health", "", "", true},
		{"a drop", "DELETE", "/collections/a", "", "", true},
		{"a change of a schema", "PATCH", "/collections/a", "", `{"fields":[]}`, false},
		{"an update by query", "PATCH", "/collections/a/documents", "filter_by=n_a:=1", `{}`, false},
		{"a search by URL", "GET", "/collections/a/documents/search", "q=*&filter_by=n_a:=99999999999999999999", "", false},
	} {
		if err := send(t, c.method, c.path, c.query, c.body); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

func FuzzGuardFilter(f *testing.F) {
	for _, s := range []string{"", "k_a:=va", "$qi_1~n(k_a:=va*)", "!$a(b:=c)", "`", "((((", "n_a:[1..", "$(", "$a(`)`)", "_eval([(a:1):2])"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		body := `{"searches":[{"collection":"qi_1","q":"*","sort_by":` + quote(filter) + `,"filter_by":` + quote(filter) + `}]}`
		req, err := http.NewRequest("POST", "http://search.test/multi_search", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if typesense.Check(req) == nil && strings.Contains(filter, "\x00") {
			t.Error("a NUL byte passes")
		}
	})
}
