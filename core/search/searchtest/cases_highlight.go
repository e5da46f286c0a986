package searchtest

// highlightCases are bodyCases of what is marked in hits.
var highlightCases = []bodyCase{
	{marks(`{"match":{"title":"fox"}}`, `"title":[]`), "hits.hits", hitA(`"title":["The running <em>foxes</em>"]`)},
	{marks(`{"match":{"dyn":"hello"}}`, `"title":{},"dyn":{"pre_tags":["["],"post_tags":["]"]}`), "hits.hits", hitA(`"dyn":["[Hello] World"]`)},
	{marks(`{"query_string":{"query":"title:runn* AND tag:red","analyze_wildcard":false}}`, `"t*":{"number_of_fragments":0}`), "hits.hits", hitA(`"tag":["<em>red</em>"]`)},
	{marks(`{"match":{"title":"running foxes"}}`, `"title":{"fragment_size":5,"number_of_fragments":1}`), "hits.hits", hitA(`"title":["<em>running</em>"]`)},
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
