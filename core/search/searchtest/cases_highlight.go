package searchtest

import (
	"testing"

	"github.com/quoin-cms/quoin/core/search"
)

// highlightTypes checks that each hit is marked as its own content type
// analyzes the field, whichever type comes first.
func highlightTypes(t *testing.T, factory subject) {
	b := newBench(t, factory)
	stemmed := []search.Field{{Path: "title", Kind: search.KindText, Analyzer: "english"}, {Path: "parts", Kind: search.KindNested}, {Path: "parts.text", Kind: search.KindText}}
	plain := []search.Field{{Path: "title", Kind: search.KindText}, {Path: "parts", Kind: search.KindNested}, {Path: "parts.text", Kind: search.KindText, Analyzer: "english"}}
	text := `{"title":"fox foxes","parts":[{"text":"foxes"},{"text":"a fox"}]}`
	b.index("one", search.Settings{Types: map[string][]search.Field{"a": stemmed, "b": plain, "c": stemmed}},
		[2]string{"b:1", text}, [2]string{"a:2", text}, [2]string{"c:3", text}, [2]string{"b:4", text})
	out := b.mustSearch(target("one"), `{"sort":"_id","query":{"bool":{"must":[{"match":{"title":"fox"}},{"nested":{"path":"parts","query":{"match":{"parts.text":"fox"}}}}]}},
		"highlight":{"fields":{"title":{},"parts.text":{}}}}`)
	whole, half := `{"title":["<em>fox</em> <em>foxes</em>"],"parts.text":["a <em>fox</em>"]}`, `{"title":["<em>fox</em> foxes"],"parts.text":["<em>foxes</em>","a <em>fox</em>"]}`
	hits, _ := pick(answer(out), "hits.hits").([]any)
	if len(hits) != 4 {
		t.Fatalf("%d hits", len(hits))
	}
	for i, want := range []string{half, whole, whole, half} {
		compareJSON(t, "hit "+out.Hits[i].Key.OUUID, hits[i].(map[string]any)["highlight"], want)
	}
}

// highlightCases are bodyCases of what is marked in hits.
var highlightCases = []bodyCase{
	{marks(`{"match":{"title":"fox"}}`, `"title":[]`), "hits.hits", hitA(`"title":["The running <em>foxes</em>"]`)},
	{marks(`{"match":{"dyn":"hello"}}`, `"title":{},"dyn":{"pre_tags":["["],"post_tags":["]"]}`), "hits.hits", hitA(`"dyn":["[Hello] World"]`)},
	{marks(`{"query_string":{"query":"title:runn* AND tag:red","analyze_wildcard":false}}`, `"t*":{"number_of_fragments":0}`), "hits.hits", hitA(`"tag":["<em>red</em>"]`)},
	{marks(`{"match":{"title":"running foxes"}}`, `"title":{"fragment_size":5,"number_of_fragments":1}`), "hits.hits", hitA(`"title":["The <em>running</em>"]`)},
	{marks(`{"match":{"dyn":"red"}}`, `"tag":{"require_field_match":false}`), "hits.hits", hitA(`"tag":["<em>red</em>"]`)},
	{marks(`{"match_phrase":{"title":"running foxes"}}`, `"tag":{}`), "hits.hits", hitA("")},
}

// marks is a search for the document a of type page only.
func marks(query, fields string) string {
	return `{"sources":["x"],"contentTypes":["page"],"sort":["n"],"query":{"bool":{"should":[` + query + `],"filter":{"ids":{"values":["a"]}}}},"highlight":{"fields":{` + fields + `}}}`
}

func hitA(highlight string) string {
	if highlight != "" {
		highlight = `"highlight":{` + highlight + `},`
	}
	return `[{"_index":"one","_id":"a","_score":null,"_source":{"_contenttype":"page"},` + highlight + `"sort":[3]}]`
}
