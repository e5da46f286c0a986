package embedded_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/embedded"
	"github.com/quoin-cms/quoin/core/search/searchtest"
)

// explained is the engine that explains whatever it is asked and compares that
// with what it answers.
type explained struct {
	*embedded.Engine
	t *testing.T
}

// Search explains a request, then answers it.
func (e explained) Search(ctx context.Context, t search.Target, r *search.Request) (*search.Response, error) {
	copied := *r
	plan, failed := e.Explain(ctx, t, &copied)
	out, err := e.Engine.Search(ctx, t, r)
	if _, jsonErr := json.Marshal(search.Describe(r)); jsonErr != nil {
		e.t.Errorf("the tree cannot be written: %v", jsonErr)
	}
	switch {
	case failed != nil:
		if err == nil {
			e.t.Errorf("a search that is answered is not explained: %v", failed)
		}
	case err == nil && len(plan.Refused) > 0:
		e.t.Errorf("a search is answered and its explanation refuses %v", plan.Refused)
	case err == nil:
		i := slices.IndexFunc(plan.Steps, func(s search.Step) bool { return s.Path == "sort" || s.Path == "size" })
		if i < 0 || plan.Steps[i].Matches == nil || *plan.Steps[i].Matches != out.Total {
			e.t.Errorf("%d hits, explained as %+v", out.Total, plan.Steps)
		}
	case problem.Is(err, problem.Invalid) && r.From+r.Size <= search.MaxWindow && len(plan.Refused) == 0 && r.After == nil:
		e.t.Errorf("a search is refused (%v) and its explanation refuses nothing", err)
	}
	return out, err
}

// TestExplainAgrees explains every search of the suite.
func TestExplainAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: explaining every search of the suite takes a minute")
	}
	searchtest.Run(t, func(t *testing.T, load search.Loader) search.Engine { return explained{embedded.New(load), t} })
}

// TestExplain looks at what is said about one search.
func TestExplain(t *testing.T) {
	e := embedded.New(nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(e.Create(t.Context(), "i", search.Settings{Types: map[string][]search.Field{"page": {
		{Path: "title", Kind: search.KindText}, {Path: "n", Kind: search.KindLong}, {Path: "parts", Kind: search.KindNested}, {Path: "parts.name", Kind: search.KindKeyword},
	}}}))
	var ops []search.Op
	for i, raw := range []string{
		`{"_contenttype":"page","title":"Stone wedge","n":1,"parts":[{"name":"head"},{"name":"heel"}]}`,
		`{"_contenttype":"page","title":"Wedge and press","n":2,"parts":[{"name":"foot"}]}`,
	} {
		key := search.Key{Type: "page", OUUID: string(rune('a' + i))}
		ops = append(ops, search.Op{Key: key, Doc: &search.Doc{Key: key, Ref: int64(i + 1), Raw: []byte(raw)}})
	}
	must(e.Apply(t.Context(), "i", ops))
	r, err := dsl.Parse([]byte(`{"query":{"bool":{"must":[{"match":{"title":"The WEDGES wedge"}}],"filter":[{"range":{"n":{"gte":1}}}],
		"should":[{"nested":{"path":"parts","query":{"prefix":{"parts.name":"he"}}}},{"multi_match":{"query":"press","fields":["t*"]}}],
		"must_not":[{"term":{"nothing":"x"}}]}},"aggs":{"n":{"terms":{"field":"n"}}},"sort":["n"]}`))
	must(err)
	plan, err := e.Explain(t.Context(), search.Target{Indices: []string{"i"}}, r)
	must(err)
	text, err := json.Marshal(plan)
	must(err)
	for _, want := range []string{
		`{"path":"query.bool.must[0].match","role":"must","clause":"match","does":"looks the words up that the analyzer makes of the text","fields":["title (text)"],"terms":["the","wedge","wedges"],"matches":2}`,
		`{"path":"query.bool.filter[0].range","role":"filter","clause":"range","does":"compares the numbers of the column","fields":["n (long)"],"matches":2}`,
		`"does":"reads the part of the dictionary that begins with he and takes the terms that fit","fields":["parts.name (keyword)"],"terms":["head","heel"],"matches":2}`,
		`"role":"should","clause":"multi_match","does":"matches in each of the fields; type best_fields"`,
		`"role":"must_not","clause":"term","does":"finds no field nothing: matches nothing","matches":0`,
		`"clause":"terms","does":"n: computed from the columns of the matches","fields":["n (long)"]`,
		`{"path":"sort","does":"reads the columns of n for each match and keeps the best 10","matches":2}`,
		`"role":"title","clause":"multi_match (match)"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s\nis not in\n%s", want, text)
		}
	}
	text, err = json.Marshal(search.Describe(r))
	must(err)
	for _, want := range []string{
		`{"role":"filter","clause":"range","path":"query.bool.filter[0].range","options":[{"name":"field","value":"n"},{"name":"gte","value":1}]}`,
		`"options":[{"name":"field","value":"parts.name"},{"name":"value","value":"he"}]`,
		`{"role":"aggs","clause":"terms","path":"aggs.n.terms","options":[{"name":"name","value":"n"},{"name":"field","value":"n"}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s\nis not in\n%s", want, text)
		}
	}
}
