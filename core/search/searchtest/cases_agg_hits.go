package searchtest

// topHitsCases are bodyCases of top_hits.
var topHitsCases = []bodyCase{
	{`{"size":0,"query":{"match":{"title":"fox"}},"aggs":{"f":{"filter":{"ids":{"values":["d"]}},"aggs":{"h":{"top_hits":{"_source":false,"sort":["_id"],"highlight":{"fields":{"tit*":{"pre_tags":["<b>"],"post_tags":["</b>"]}}}}}}}}}`, "aggregations.f.h.hits.hits",
		`[{"_index":"one","_id":"d","_score":null,"_source":{"_contenttype":"note"},"highlight":{"title":["<b>fox</b> <b>fox</b> <b>fox</b>"]},"sort":["d"]}]`},
	{`{"size":0,"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"f":{"filter":{"term":{"parts.name":"y"}},"aggs":{"h":{"top_hits":{"_source":{"excludes":["parts.name"]},"sort":[{"parts.weight":{"order":"asc","missing":0}}]}}}}}}}}`, "aggregations.n.f.h.hits.hits",
		`[{"_index":"one","_id":"a","_nested":{"field":"parts","offset":1},"_score":null,"_source":{"weight":4},"sort":[4]}]`},
	{`{"size":0,"aggs":{"f":{"filter":{"ids":{"values":["c"]}},"aggs":{"t":{"top_hits":{"_source":["n"]}}}}}}`, "aggregations.f",
		`{"doc_count":1,"t":{"hits":{"total":{"relation":"eq","value":1},"max_score":1,"hits":[{"_id":"c","_index":"one","_score":1,"_source":{"_contenttype":"page","n":5}}]}}}`},
	{`{"size":0,"aggs":{"t":{"top_hits":{"size":1,"from":1,"sort":[{"n":{"order":"desc"}}],"_source":{"includes":["n"]}}}}}`, "aggregations",
		`{"t":{"hits":{"hits":[{"_id":"c","_index":"one","_score":null,"_source":{"_contenttype":"page","n":5},"sort":[5]}],"max_score":null,"total":{"relation":"eq","value":5}}}}`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"tag"},"aggs":{"h":{"top_hits":{"size":1,"sort":[{"n":"desc"}],"_source":false}}}}}}`, "aggregations",
		`{"t":{"buckets":[{"doc_count":2,"h":{"hits":{"hits":[{"_id":"b","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[7]}],"max_score":null,"total":{"relation":"eq","value":2}}},"key":"red"},{"doc_count":1,"h":{"hits":{"hits":[{"_id":"a","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[3]}],"max_score":null,"total":{"relation":"eq","value":1}}},"key":"blue"}],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}}`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"_contenttype"},"aggs":{"h":{"top_hits":{"size":0}}}}}}`, "aggregations",
		`{"t":{"buckets":[{"doc_count":3,"h":{"hits":{"hits":[],"max_score":1,"total":{"relation":"eq","value":3}}},"key":"page"},{"doc_count":2,"h":{"hits":{"hits":[],"max_score":1,"total":{"relation":"eq","value":2}}},"key":"note"}],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}}`},
	{`{"size":0,"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"h":{"top_hits":{"size":2,"sort":[{"parts.weight":"desc"}]}}}}}}`, "aggregations",
		`{"n":{"doc_count":3,"h":{"hits":{"hits":[{"_id":"a","_index":"one","_nested":{"field":"parts","offset":1},"_score":null,"_source":{"name":"y","weight":4},"sort":[4]},{"_id":"b","_index":"one","_nested":{"field":"parts","offset":0},"_score":null,"_source":{"name":"z","weight":2},"sort":[2]}],"max_score":null,"total":{"relation":"eq","value":3}}}}}`},
	{`{"size":0,"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"h":{"top_hits":{"size":1,"sort":["parts.name"],"_source":["parts.weight"]}}}}}}`, "aggregations",
		`{"n":{"doc_count":3,"h":{"hits":{"hits":[{"_id":"a","_index":"one","_nested":{"field":"parts","offset":0},"_score":null,"_source":{"weight":1.5},"sort":["x"]}],"max_score":null,"total":{"relation":"eq","value":3}}}}}`},
	{`{"size":0,"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"t":{"terms":{"field":"parts.name","size":1},"aggs":{"r":{"reverse_nested":{},"aggs":{"h":{"top_hits":{"_source":["tag"]}}}}}}}}}}`, "aggregations",
		`{"n":{"doc_count":3,"t":{"buckets":[{"doc_count":1,"key":"x","r":{"doc_count":1,"h":{"hits":{"hits":[{"_id":"a","_index":"one","_score":1,"_source":{"_contenttype":"page","tag":["red","blue"]}}],"max_score":1,"total":{"relation":"eq","value":1}}}}}],"doc_count_error_upper_bound":0,"sum_other_doc_count":2}}}`},
	{`{"size":0,"aggs":{"f":{"filter":{"match_none":{}},"aggs":{"h":{"top_hits":{}}}}}}`, "aggregations",
		`{"f":{"doc_count":0,"h":{"hits":{"hits":[],"max_score":null,"total":{"relation":"eq","value":0}}}}}`},
	{`{"size":0,"aggs":{"f":{"filter":{"ids":{"values":["b"]}},"aggs":{"h":{"top_hits":{"_source":["n"],"sort":[{"_score":"desc"},{"n":"asc"}]}}}}}}`, "aggregations",
		`{"f":{"doc_count":1,"h":{"hits":{"hits":[{"_id":"b","_index":"one","_score":1,"_source":{"_contenttype":"page","n":[1,7]},"sort":[1,1]}],"max_score":1,"total":{"relation":"eq","value":1}}}}}`},
}

// treeCases are bodyCases of aggregations inside aggregations.
var treeCases = []bodyCase{
	{`{"size":0,"aggs":{"f":{"filter":{"exists":{"field":"tag"}},"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"t":{"terms":{"field":"parts.name"},"aggs":{"r":{"reverse_nested":{},"aggs":{"h":{"histogram":{"field":"n","interval":5,"min_doc_count":1}}}}}}}}}}}}`, "aggregations",
		`{"f":{"doc_count":2,"n":{"doc_count":3,"t":{"buckets":[{"doc_count":1,"key":"x","r":{"doc_count":1,"h":{"buckets":[{"doc_count":1,"key":0}]}}},{"doc_count":1,"key":"y","r":{"doc_count":1,"h":{"buckets":[{"doc_count":1,"key":0}]}}},{"doc_count":1,"key":"z","r":{"doc_count":1,"h":{"buckets":[{"doc_count":1,"key":0},{"doc_count":1,"key":5}]}}}],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}}}}`},
	{`{"size":0,"aggs":{"g":{"global":{},"aggs":{"d":{"date_histogram":{"field":"day","calendar_interval":"month","min_doc_count":1},"aggs":{"t":{"terms":{"field":"tag"},"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"w":{"avg":{"field":"parts.weight"}}}}}}}}}}}}`, "aggregations",
		`{"g":{"d":{"buckets":[{"doc_count":1,"key":1704067200000,"key_as_string":"2024/01/01","t":{"buckets":[{"doc_count":1,"key":"red","n":{"doc_count":1,"w":{"value":2}}}],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}},{"doc_count":1,"key":1706745600000,"key_as_string":"2024/02/01","t":{"buckets":[{"doc_count":1,"key":"blue","n":{"doc_count":2,"w":{"value":2.75}}},{"doc_count":1,"key":"red","n":{"doc_count":2,"w":{"value":2.75}}}],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}}]},"doc_count":5}}`},
	{`{"size":0,"aggs":{"m":{"missing":{"field":"n"},"aggs":{"m":{"missing":{"field":"value"},"aggs":{"t":{"terms":{"field":"_id"}}}}}}}}`, "aggregations",
		`{"m":{"doc_count":2,"m":{"doc_count":0,"t":{"buckets":[],"doc_count_error_upper_bound":0,"sum_other_doc_count":0}}}}`},
}
