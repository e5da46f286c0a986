package marking_test

import (
	"slices"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/marking"
)

// The search suite has the cases of highlighting; here are those that no engine
// shows.
func TestMarks(t *testing.T) {
	set, err := analysis.NewSet(search.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	standard, err := set.Get("")
	if err != nil {
		t.Fatal(err)
	}
	field := &mapping.Field{Path: "body", Family: mapping.Text, Analyzer: standard, Search: standard}
	for _, c := range []struct {
		query, own string
		want       []string
	}{
		{`{"match":{"body":"fox"}}`, "", []string{"a <em>fox</em>"}},
		{`{"match":{"body":"fox"}}`, `{"prefix":{"body":"a"}}`, []string{"<em>a</em> fox"}},
		{`{"wildcard":{"body":"f?x"}}`, "", []string{"a <em>fox</em>"}},
		{`{"fuzzy":{"body":"fux"}}`, "", []string{"a <em>fox</em>"}},
		{`{"match":{"title":"fox"}}`, "", nil},
	} {
		parse := func(text string) search.Query {
			r, err := dsl.Parse([]byte(`{"query":` + text + `}`))
			if err != nil {
				t.Fatal(err)
			}
			return r.Query
		}
		how := &search.HighlightField{Name: "body", Pre: "<em>", Post: "</em>", Size: 100, Fragments: 5}
		if c.own != "" {
			how.Query = parse(c.own)
		}
		f, shown := marking.MarkersOf(how, parse(c.query)).For(field, how)
		var got []string
		if shown {
			got = f.Fragments([]string{"a fox", "", "nothing"})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.query, c.own, got, c.want)
		}
	}
	// A tree that was not parsed may hold what cannot be compiled.
	large := &search.HighlightField{Name: "body", Query: &search.Regexp{Field: "body", Pattern: "(fox{900}){900}"}}
	if _, shown := marking.MarkersOf(large, nil).For(field, large); shown {
		t.Error("an expression that is too large marks something")
	}
}
