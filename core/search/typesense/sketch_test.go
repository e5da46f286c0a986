package typesense_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/typesense"
)

func sketched() []typesense.Sketched {
	return []typesense.Sketched{{Index: "one", Aliases: []string{"all"}, Settings: referenceSettings(), Docs: []search.Doc{*doc("page:1", `{"_contenttype":"page","found":"only here"}`).Doc}}}
}

// TestSketchOfEverything makes a plan without a server of all that a search
// object may ask for.
func TestSketchOfEverything(t *testing.T) {
	for _, f := range slices.Concat(clauses, aggregations, options) {
		r, err := dsl.Parse([]byte(f.object))
		if err != nil || f.object == "" {
			continue // no engine has it
		}
		plan, err := typesense.Sketch(t.Context(), sketched(), []string{"page"}, r)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		text, err := json.Marshal(plan)
		if err != nil || plan.Note == "" || len(plan.Refused) == 0 && len(plan.Steps) < 2 || strings.Contains(string(text), `"matches"`) {
			t.Errorf("%s: %s %v", f.name, text, err)
		}
	}
}

func TestSketch(t *testing.T) {
	for _, c := range []struct{ object, want string }{
		{`{"query":{"term":{"kw":"a"}},"sort":{"n":"desc"}}`, `reads 10 of one where k___contenttype:=vpage && k_kw:=va sorted by sn_n_max(`},
		{`{"query":{"term":{"kw":"a"}},"sort":{"kw":"desc"}}`, `sorted by sk_kw_max(missing_values:last):desc,_n:asc`},
		{`{"query":{"term":{"found":"here"}}}`, `t_found:`},
		{`{"query":{"term":{"nowhere":"a"}}}`, `where id:[]`},
		{`{"query":{"wildcard":{"kw":"a*b"}}}`, `lists the values of k_kw in one`},
		{`{"query":{"nested":{"path":"sub","query":{"term":{"sub.n":1}}}}}`, `$one~n(`},
		{`{"size":0,"aggs":{"k":{"terms":{"field":"kw"},"aggs":{"m":{"max":{"field":"n"}}}}}}`, `message 2 to the server`},
		{`{"query":{"term":{"_index":"all"}},"size":1}`, `reads 1 of one`},
		{`{"sort":"text"}`, `"refused":[{"path":"sort",`},
	} {
		plan, err := typesense.Sketch(t.Context(), sketched(), []string{"page"}, parse(t, c.object))
		if err != nil {
			t.Errorf("%s: %v", c.object, err)
			continue
		}
		text := new(strings.Builder)
		enc := json.NewEncoder(text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(plan); err != nil || !strings.Contains(text.String(), c.want) {
			t.Errorf("%s: %s is not in %s %v", c.object, c.want, text, err)
		}
	}
}
