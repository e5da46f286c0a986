package searchtest

import "slices"

// rangedCases are the bodyCases of aggregations.
var rangedCases = slices.Concat(spanCases, orderCases, chooseCases, absentCases, formatCases, intervalCases, sortedCases,
	compositeCases, topHitsCases, treeCases)

// aggRefusals are search objects whose aggregations are refused, and where.
var aggRefusals = [][2]string{
	{`{"aggs":{"t":{"terms":{"field":"tag","order":{"nope":"asc"}}}}}`, "aggs.t.terms.order"},
	{`{"aggs":{"t":{"terms":{"field":"tag","order":{"s":"asc"}},"aggs":{"s":{"stats":{"field":"n"}}}}}}`, "aggs.t.terms.order"},
	{`{"aggs":{"t":{"terms":{"field":"tag","order":{"s.median":"asc"}},"aggs":{"s":{"stats":{"field":"n"}}}}}}`, "aggs.t.terms.order"},
	{`{"aggs":{"t":{"terms":{"field":"tag","order":{"u":"asc"}},"aggs":{"u":{"terms":{"field":"n"}}}}}}`, "aggs.t.terms.order"},
	{`{"aggs":{"t":{"terms":{"field":"tag","order":{"u>m":"asc"}},"aggs":{"u":{"terms":{"field":"n"},"aggs":{"m":{"max":{"field":"n"}}}}}}}}`, "aggs.t.terms.order"},
	{`{"aggs":{"t":{"terms":{"field":"tag","order":{"p.51":"asc"}},"aggs":{"p":{"percentiles":{"field":"n","percents":[50]}}}}}}`, "aggs.t.terms.order"},
	{`{"aggs":{"t":{"terms":{"field":"n","include":"1.*"}}}}`, "aggs.t.terms.include"},
	{`{"aggs":{"t":{"terms":{"field":"n","exclude":"1.*"}}}}`, "aggs.t.terms.exclude"},
	{`{"aggs":{"t":{"terms":{"field":"n","format":"no digits"}}}}`, "aggs.t.terms.format"},
	{`{"aggs":{"m":{"max":{"field":"day","format":"bbbb"}}}}`, "aggs.m.max.format"},
	{`{"aggs":{"m":{"max":{"field":"n","missing":"many"}}}}`, "aggs.m.max.missing"},
	{`{"aggs":{"h":{"histogram":{"field":"n","interval":1,"order":{"nope":"asc"}}}}}`, "aggs.h.histogram.order"},
	{`{"aggs":{"h":{"histogram":{"field":"n","interval":0.0001,"extended_bounds":{"min":0,"max":100}}}}}`, "aggs.h.histogram"},
	{`{"aggs":{"h":{"histogram":{"field":"n","interval":1,"hard_bounds":{"min":0,"max":5},"extended_bounds":{"min":0,"max":9}}}}}`, "aggs.h.histogram.extended_bounds"},
	{`{"aggs":{"h":{"histogram":{"field":"n","interval":1,"extended_bounds":{"min":9,"max":0}}}}}`, "aggs.h.histogram.extended_bounds"},
	{`{"aggs":{"h":{"histogram":{"field":"tag","interval":1}}}}`, "aggs.h.histogram"},
	{`{"aggs":{"h":{"date_histogram":{"field":"when","fixed_interval":"1ms"}}}}`, "aggs.h.date_histogram"},
	{`{"aggs":{"h":{"date_histogram":{"field":"when","calendar_interval":"1d","extended_bounds":{"min":"soon"}}}}}`, "aggs.h.date_histogram.extended_bounds"},
	{`{"aggs":{"t":{"terms":{"field":"tag"},"aggs":{"z":{"bucket_sort":{"sort":[{"nope":"asc"}]}}}}}}`, "aggs.t.aggs.z.bucket_sort.sort"},
	{`{"aggs":{"c":{"composite":{"sources":[{"t":{"terms":{"field":"tag"}}}]},"aggs":{"z":{"bucket_sort":{"sort":["_key"]}}}}}}`, "aggs.c.aggs.z.bucket_sort.sort"},
	{`{"aggs":{"c":{"composite":{"sources":[{"t":{"histogram":{"field":"n","interval":1}}}],"after":{"t":"x"}}}}}`, "aggs.c.composite.after.t"},
	{`{"aggs":{"c":{"composite":{"sources":[{"t":{"terms":{"field":"title"}}}]}}}}`, "aggs.c.composite.sources"},
	{`{"aggs":{"h":{"top_hits":{"sort":["title"]}}}}`, "aggs.h.top_hits.sort[0]"},
	{`{"aggs":{"r":{"range":{"field":"n","ranges":[{"from":"x"}]}}}}`, "aggs.r.range.ranges"},
}

// spanCases are bodyCases of aggregations whose buckets do not come from
// single values.
var spanCases = []bodyCase{
	{`{"size":0,"aggs":{"h":{"histogram":{"field":"n","interval":2}}}}`, "aggregations.h.buckets",
		`[{"key":0,"doc_count":1},{"key":2,"doc_count":1},{"key":4,"doc_count":1},{"key":6,"doc_count":1}]`},
	{`{"size":0,"aggs":{"h":{"histogram":{"field":"n","interval":3,"offset":1,"min_doc_count":1,"keyed":true}}}}`, "aggregations.h.buckets",
		`{"1.0":{"key":1,"doc_count":2},"4.0":{"key":4,"doc_count":1},"7.0":{"key":7,"doc_count":1}}`},
	{`{"size":0,"aggs":{"h":{"histogram":{"field":"n","interval":4,"extended_bounds":{"min":-4,"max":9},"order":{"_key":"desc"}}}}}`, "aggregations.h.buckets",
		`[{"key":8,"doc_count":0},{"key":4,"doc_count":2},{"key":0,"doc_count":2},{"key":-4,"doc_count":0}]`},
	{`{"size":0,"aggs":{"h":{"histogram":{"field":"n","interval":10,"missing":25,"min_doc_count":1}}}}`, "aggregations.h.buckets",
		`[{"key":0,"doc_count":3},{"key":20,"doc_count":2}]`},
	{`{"size":0,"aggs":{"h":{"date_histogram":{"field":"when","calendar_interval":"month"},"aggs":{"t":{"value_count":{"field":"_id"}}}}}}`, "aggregations.h.buckets",
		`[{"key_as_string":"2023-12-01T00:00:00.000Z","key":1701388800000,"doc_count":1,"t":{"value":1}},{"key_as_string":"2024-01-01T00:00:00.000Z","key":1704067200000,"doc_count":0,"t":{"value":0}},
		{"key_as_string":"2024-02-01T00:00:00.000Z","key":1706745600000,"doc_count":1,"t":{"value":1}}]`},
	{`{"size":0,"aggs":{"h":{"date_histogram":{"field":"when","calendar_interval":"1y","format":"yyyy","keyed":true}}}}`, "aggregations.h.buckets",
		`{"2023":{"key_as_string":"2023","key":1672531200000,"doc_count":1},"2024":{"key_as_string":"2024","key":1704067200000,"doc_count":1}}`},
	{`{"size":0,"aggs":{"h":{"date_histogram":{"field":"when","calendar_interval":"day","time_zone":"+02:00","min_doc_count":1}}}}`, "aggregations.h.buckets",
		`[{"key_as_string":"2023-12-31T00:00:00.000+02:00","key":1703973600000,"doc_count":1},{"key_as_string":"2024-02-01T00:00:00.000+02:00","key":1706738400000,"doc_count":1}]`},
	{`{"size":0,"aggs":{"h":{"date_histogram":{"field":"when","fixed_interval":"12h","min_doc_count":1,"offset":"+6h"}}}}`, "aggregations.h.buckets",
		`[{"key_as_string":"2023-12-30T18:00:00.000Z","key":1703959200000,"doc_count":1},{"key_as_string":"2024-02-01T06:00:00.000Z","key":1706767200000,"doc_count":1}]`},
	{`{"size":0,"aggs":{"h":{"date_histogram":{"field":"when","calendar_interval":"quarter","min_doc_count":1,"format":"yyyy-MM-dd"}}}}`, "aggregations.h.buckets",
		`[{"key_as_string":"2023-10-01","key":1696118400000,"doc_count":1},{"key_as_string":"2024-01-01","key":1704067200000,"doc_count":1}]`},
	{`{"size":0,"aggs":{"h":{"date_histogram":{"field":"when","calendar_interval":"week","min_doc_count":1,"format":"yyyy-MM-dd"}}}}`, "aggregations.h.buckets",
		`[{"key_as_string":"2023-12-25","key":1703462400000,"doc_count":1},{"key_as_string":"2024-01-29","key":1706486400000,"doc_count":1}]`},
	{`{"size":0,"aggs":{"r":{"range":{"field":"n","ranges":[{"from":5},{"to":3},{"from":3,"to":5,"key":"mid"}]}}}}`, "aggregations.r.buckets",
		`[{"key":"*-3.0","to":3,"doc_count":1},{"key":"mid","from":3,"to":5,"doc_count":1},{"key":"5.0-*","from":5,"doc_count":2}]`},
	{`{"size":0,"aggs":{"r":{"range":{"field":"n","keyed":true,"ranges":[{"to":3,"key":"a"}]}}}}`, "aggregations.r.buckets", `{"a":{"to":3,"doc_count":1}}`},
	{`{"size":0,"aggs":{"r":{"date_range":{"field":"when","format":"yyyy-MM","ranges":[{"to":"2024-01"},{"from":"2024-01"}]}}}}`, "aggregations.r.buckets",
		`[{"key":"*-2024-01","to":1704067200000,"to_as_string":"2024-01","doc_count":1},{"key":"2024-01-*","from":1704067200000,"from_as_string":"2024-01","doc_count":1}]`},
	{`{"size":0,"aggs":{"r":{"date_range":{"field":"day","ranges":[{"from":"now-2d/d","key":"recent"}]}}}}`, "aggregations.r.buckets",
		`[{"key":"recent","from":1709078400000,"from_as_string":"2024/02/28","doc_count":1}]`},
	{`{"size":0,"aggs":{"f":{"filters":{"filters":{"red":{"term":{"tag":"red"}},"dogs":{"match":{"title":"dogs"}}},"other_bucket_key":"rest"},"aggs":{"m":{"max":{"field":"n"}}}}}}`, "aggregations.f.buckets",
		`{"red":{"doc_count":2,"m":{"value":7}},"dogs":{"doc_count":2,"m":{"value":5}},"rest":{"doc_count":1,"m":{"value":null}}}`},
	{`{"size":0,"aggs":{"f":{"filters":{"filters":[{"term":{"tag":"red"}}],"other_bucket":true}}}}`, "aggregations.f.buckets", `[{"doc_count":2},{"doc_count":3}]`},
	{`{"size":0,"aggs":{"m":{"missing":{"field":"tag"}},"t":{"missing":{"field":"dyn"}}}}`, "aggregations", `{"m":{"doc_count":3},"t":{"doc_count":2}}`},
	{`{"size":0,"aggs":{"p":{"percentiles":{"field":"n","percents":[0,50,100]}}}}`, "aggregations.p.values", `{"0.0":1,"50.0":4,"100.0":7}`},
	{`{"size":0,"aggs":{"p":{"percentiles":{"field":"n","percents":[25],"keyed":false}}}}`, "aggregations.p.values", `[{"key":25,"value":2.5}]`},
	{`{"size":0,"aggs":{"p":{"percentiles":{"field":"nowhere","percents":[25]}}}}`, "aggregations.p.values", `{"25.0":null}`},
	{`{"size":0,"aggs":{"e":{"extended_stats":{"field":"n"}}}}`, "aggregations.e",
		`{"count":4,"min":1,"max":7,"avg":4,"sum":16,"sum_of_squares":84,"variance":5,"variance_population":5,"variance_sampling":6.666666666666667,
		"std_deviation":2.23606797749979,"std_deviation_population":2.23606797749979,"std_deviation_sampling":2.581988897471611,
		"std_deviation_bounds":{"upper":8.47213595499958,"lower":-0.4721359549995796,"upper_population":8.47213595499958,"lower_population":-0.4721359549995796,"upper_sampling":9.163977794943222,"lower_sampling":-1.1639777949432224}}`},
}
