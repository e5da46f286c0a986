package typesense_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/typesense"
)

// filters makes an index in which every kind of field has a value.
func filters(t *testing.T) *typesense.Engine {
	o, _ := server(t)
	e := open(t, o)
	if err := e.Create(t.Context(), "one", search.Settings{NoAll: true, Types: map[string][]search.Field{"page": {
		{Path: "tag", Kind: search.KindKeyword}, {Path: "n", Kind: search.KindLong}, {Path: "x", Kind: search.KindDouble}, {Path: "on", Kind: search.KindBoolean},
		{Path: "day", Kind: search.KindDate}, {Path: "t", Kind: search.KindText},
		{Path: "p", Kind: search.KindNested}, {Path: "p.k", Kind: search.KindKeyword}, {Path: "p.q", Kind: search.KindNested}, {Path: "p.q.k", Kind: search.KindKeyword},
	}}}); err != nil {
		t.Fatal(err)
	}
	var ops []search.Op
	for _, d := range [][2]string{
		{"a", `{"tag":["red","blue"],"n":3,"x":0.5,"on":true,"day":"2024-02-01","t":"quick brown fox","p":[{"k":"u","q":[{"k":"w"}]},{"k":"v"}]}`},
		{"b", `{"tag":"rot","n":-1,"t":"slow fox","p":{"k":"u"}}`},
	} {
		key := search.Key{Type: "page", OUUID: d[0]}
		ops = append(ops, search.Op{Key: key, Doc: &search.Doc{Key: key, Ref: 1, Raw: []byte(d[1])}})
	}
	if err := e.Apply(t.Context(), "one", ops); err != nil {
		t.Fatal(err)
	}
	return e
}

// planned gives the searches that a query takes, without the names of
// collections.
func planned(t *testing.T, e *typesense.Engine, query string) []string {
	t.Helper()
	plan, err := e.Explain(t.Context(), search.Target{Indices: []string{"one"}}, parse(t, `{"size":0,"query":`+query+`}`))
	if err != nil || len(plan.Refused) > 0 {
		t.Fatalf("%s: %+v, %v", query, plan, err)
	}
	var out []string
	for _, message := range plan.Steps {
		for _, s := range message.Steps {
			out = append(out, collection.ReplaceAllString(s.Does, "IX"))
		}
	}
	return out
}

var collection = regexp.MustCompile(`qt[0-9a-z]{10}_[0-9]+`)

// TestFilters compares the filter of each clause, and of its negation, with the
// one that was found to mean the same on a server.
func TestFilters(t *testing.T) {
	e := filters(t)
	for _, c := range []struct{ query, plus, minus string }{
		{`{"match_all":{}}`, "", "id:[]"},
		{`{"match_none":{}}`, "id:[]", ""},
		{`{"term":{"tag":"red"}}`, "k_tag:=vred", "k_tag:!=vred"},
		{`{"term":{"tag":"Re d"}}`, "k_tag:=v2ae0wd", "k_tag:!=v2ae0wd"},
		{`{"terms":{"tag":["red","blue"]}}`, "k_tag:=[vblue,vred]", "k_tag:!=[vblue,vred]"},
		{`{"terms":{"tag":[]}}`, "id:[]", ""},
		{`{"term":{"n":3}}`, "l_n:=4613937818241073152", "l_n:!=4613937818241073152"},
		{`{"terms":{"n":[0,-1]}}`, "l_n:=[-4607182418800017408,0]", "l_n:!=[-4607182418800017408,0]"},
		{`{"range":{"n":{"gte":0}}}`, "l_n:[0..9223372036854775807]", "l_n:!=[0..9223372036854775807]"},
		{`{"range":{"n":{"gt":0,"lt":3}}}`, "l_n:[1..4613937818241073151]", "l_n:!=[1..4613937818241073151]"},
		{`{"range":{"n":{"gt":3,"lt":3}}}`, "id:[]", ""},
		{`{"range":{"n":{"gte":1e300}}}`, "l_n:[9094988921128908188..9223372036854775807]", ""},
		{`{"term":{"on":true}}`, "b_on:=4607182418800017408", "b_on:!=4607182418800017408"},
		{`{"exists":{"field":"p"}}`, "_p:=vp", "_p:!=vp"},
		{`{"prefix":{"tag":"re"}}`, "k_tag:=vre*", "k_tag:!=vre*"},
		{`{"prefix":{"t":"fo"}}`, "t_t:fo*", "t_t:!fo*"},
		{`{"match":{"t":"quick fox"}}`, "t_t:[fox,quick]", "t_t:![fox,quick]"},
		{`{"match":{"t":{"query":"quick fox","operator":"and"}}}`, "t_t:quick && t_t:fox", "t_t:!quick || t_t:!fox"},
		{`{"match":{"t":""}}`, "id:[]", ""},
		{`{"match_bool_prefix":{"t":"quick fo"}}`, "t_t:quick || t_t:fo*", "t_t:!quick && t_t:!fo*"},
		{`{"match":{"t":{"query":"quick fox brown","minimum_should_match":2}}}`,
			"(t_t:quick && t_t:fox) || (t_t:quick && t_t:brown) || (t_t:fox && t_t:brown)",
			"(t_t:!quick || t_t:!fox) && (t_t:!quick || t_t:!brown) && (t_t:!fox || t_t:!brown)"},
		{`{"term":{"nowhere":"x"}}`, "id:[]", ""},
		{`{"ids":{"values":["a","b"]}}`, "k___id:=[va,vb]", "k___id:!=[va,vb]"},
		{`{"bool":{"should":[{"term":{"tag":"red"}},{"term":{"n":3}}]}}`, "k_tag:=vred || l_n:=4613937818241073152", "k_tag:!=vred && l_n:!=4613937818241073152"},
		{`{"bool":{"must":[{"term":{"tag":"red"}},{"bool":{"should":[{"term":{"n":3}},{"term":{"t":"fox"}}]}}]}}`,
			"k_tag:=vred && (l_n:=4613937818241073152 || t_t:fox)", "k_tag:!=vred || (l_n:!=4613937818241073152 && t_t:!fox)"},
		{`{"bool":{"should":[{"term":{"tag":"red"}},{"term":{"tag":"blue"}}]}}`, "k_tag:=[vblue,vred]", "k_tag:!=[vblue,vred]"},
		{`{"nested":{"path":"p","query":{"term":{"p.k":"u"}}}}`, "$IX~n(_path:=vp && k_p_dk:=vu)", "!$IX~n(_path:=vp && k_p_dk:=vu)"},
		{`{"nested":{"path":"p","query":{"bool":{"must_not":{"term":{"p.k":"u"}}}}}}`, "$IX~n(_path:=vp && k_p_dk:!=vu)", "!$IX~n(_path:=vp && k_p_dk:!=vu)"},
	} {
		for i, query := range []string{c.query, `{"bool":{"must_not":` + c.query + `}}`} {
			want := []string{c.plus, c.minus}[i]
			if want == "" && i == 1 && c.plus != "id:[]" {
				continue
			}
			steps := planned(t, e, query)
			got := ""
			if _, filter, found := strings.Cut(steps[len(steps)-1], " where "); found {
				got = filter
			}
			if got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
	}
}

// TestPlans checks in how many steps a query is answered, and that no step is
// one that a server does not survive; the double says so.
func TestPlans(t *testing.T) {
	e := filters(t)
	for _, c := range []struct {
		what, query string
		want        []string
	}{
		{"two nested clauses: one join", `{"bool":{"must":[{"nested":{"path":"p","query":{"term":{"p.k":"u"}}}},{"nested":{"path":"p","query":{"term":{"p.k":"v"}}}}]}}`, []string{
			"lists the values of _root in IX~n where _path:=vp && k_p_dk:=vv",
			"counts in IX where $IX~n(_path:=vp && k_p_dk:=vu) && id:=[`paged1ma`]"}},
		{"a prefix is not in a join", `{"nested":{"path":"p","query":{"prefix":{"p.k":"u"}}}}`, []string{
			"lists the values of _root in IX~n where _path:=vp && k_p_dk:=vu*",
			"counts in IX where id:=[`" + "A" + "`,`" + "B" + "`]"}},
		{"two levels", `{"nested":{"path":"p","query":{"nested":{"path":"p.q","query":{"term":{"p.q.k":"w"}}}}}}`, []string{
			"lists the values of _up in IX~n where _path:=vp1aq && k_p_dq_dk:=vw",
			"counts in IX where $IX~n(_path:=vp && id:=[`Ax1`])"}},
		{"the terms of a wildcard", `{"wildcard":{"tag":"r*t"}}`, []string{
			"lists the values of k_tag in IX where k_tag:=vr*", "counts in IX where k_tag:=vrot"}},
	} {
		got := planned(t, e, c.query)
		for i := range c.want {
			c.want[i] = strings.NewReplacer("`A", "`"+idOf("a"), "`B", "`"+idOf("b"), "`paged1ma", "`"+idOf("a")).Replace(c.want[i])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.what, got, c.want)
		}
	}
	// 60 conditions that cannot become a list, in each form.
	for _, form := range []string{`{"bool":{"must_not":[%s]}}`, `{"bool":{"should":[%s]}}`, `{"bool":{"must":[{"bool":{"should":[%s]}},{"exists":{"field":"n"}}]}}`} {
		var list []string
		for i := range 60 {
			list = append(list, fmt.Sprintf(`{"bool":{"must":[{"range":{"n":{"gte":%d,"lt":%d}}},{"exists":{"field":"tag"}}]}}`, i, i+2))
		}
		planned(t, e, fmt.Sprintf(form, strings.Join(list, ",")))
	}
	// A list that would be too long for a join.
	var ids []string
	for i := range 3_000 {
		ids = append(ids, fmt.Sprintf(`"value%d"`, i))
	}
	steps := planned(t, e, `{"nested":{"path":"p","query":{"terms":{"p.k":["u",`+strings.Join(ids, ",")+`]}}}}`)
	if len(steps) != 2 || strings.Contains(steps[1], "$") {
		t.Errorf("a long list is in a join: %.200q", steps)
	}
}

// idOf is the id of the row of a document of type page.
func idOf(ouuid string) string {
	return strings.TrimPrefix(typesense.EncodeKeyword("page:"+ouuid), "v")
}
