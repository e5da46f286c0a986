package dsl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
)

// sent is what the PHP client sends for an empty search.
const sent = `{"sources":[],"contentTypes":["page"],"queryArray":{"bool":{"must":[{"match_all":[]}]}},"indices":["preview"],"size":10,"from":0,
	"searchOptions":{"size":10,"from":0},"sort":null,"scrollOptions":{"size":10},"countOptions":[],"aggs":[],"postFilter":{"params":{"x":1}},
	"suggest":null,"highlight":{"fields":[]},"regex":null}`

func TestWhatTheClientSends(t *testing.T) {
	r, err := dsl.Parse([]byte(sent))
	if err != nil {
		t.Fatal(err)
	}
	b, ok := r.Query.(*search.Bool)
	if !ok || len(b.Must) != 1 || b.Must[0].Info().Path != "queryArray.bool.must[0].match_all" || b.Must[0].Info().Name != "match_all" || b.Must[0].Info().Boost != 1 {
		t.Errorf("query: %+v", r.Query)
	}
	if r.Indices[0] != "preview" || r.ContentTypes[0] != "page" || r.Size != 10 || len(r.Warnings) != 1 || r.PostFilter != nil || len(r.Aggs) != 0 {
		t.Errorf("request: %+v", r)
	}
}

func TestWholeBodyInQuery(t *testing.T) {
	r, err := dsl.Parse([]byte(`{"indices":["x"],"query":{"query":{"term":{"a":1}},"size":3,"sort":["b"],"aggs":{"t":{"terms":{"field":"c"}}},"_source":false,"track_total_hits":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	if q, ok := r.Query.(*search.Term); !ok || q.Path != "query.query.term" || r.Size != 3 || r.Sort[0].Field != "b" || r.Aggs[0].Path != "query.aggs.t.terms" || !r.Source.None {
		t.Errorf("%+v", r)
	}
	if r, err = dsl.Parse([]byte(`{}`)); err != nil || r.Query != nil || r.Size != 10 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSorts(t *testing.T) {
	for in, want := range map[string]string{
		`null`:                             "",
		`[]`:                               "",
		`"title"`:                          "title",
		`["_score","a"]`:                   "_score- a",
		`{"a":"desc","b":{"order":"asc"}}`: "a- b",
		`[{"a":{"order":"DESC","unmapped_type":"long"}}]`:           "a-",
		`[{"a":{"missing":"_first"}},{"b":{"missing":3}}]`:          "a! b=3",
		`{"a":{"nested_path":"p","mode":"avg"}}`:                    "a/p:avg",
		`{"a":{"nested":{"path":"p","filter":{"term":{"p.x":1}}}}}`: "a/p?",
		`{"a":null}`: "a",
	} {
		r, err := dsl.Parse([]byte(`{"sort":` + in + `}`))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		var got []string
		for _, k := range r.Sort {
			s := k.Field
			if k.Desc {
				s += "-"
			}
			if k.MissingFirst {
				s += "!"
			}
			if k.Missing != nil {
				s += "=" + k.Missing.Text
			}
			if k.NestedPath != "" {
				s += "/" + k.NestedPath
			}
			if k.NestedFilter != nil {
				s += "?"
			}
			if k.Mode != "" {
				s += ":" + string(k.Mode)
			}
			got = append(got, s)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// refusals are inputs that must be Invalid, with the path that the problem
// names and a word of its text.
var refusals = []struct{ in, path, word string }{
	{`{"surprise":1}`, "surprise", "surprise"},
	{`{"query":{"query_string":{"query":"a AND"}}}`, "query.query_string.query", "early"},
	{`{"query":{"query_string":{"query":"(a"}}}`, "query.query_string.query", "early"},
	{`{"query":{"query_string":{"query":"a:/x&y/"}}}`, "query.query_string.query", "operator"},
	{`{"query":{"query_string":{"query":"*a","allow_leading_wildcard":false}}}`, "query.query_string.query", "wildcard"},
	{`{"query":{"query_string":{"query":"a","quote_field_suffix":".x"}}}`, "query.query_string.quote_field_suffix", "quote_field_suffix"},
	{`{"query":{"simple_query_string":{"query":"a","flags":"OR"}}}`, "query.simple_query_string.flags", "flags"},
	{`{"query":{"more_like_this":{"like":"x"}}}`, "query.more_like_this", "more_like_this"},
	{`{"query":{"bool":{"must":[{"term":{"a":1}},{"span_term":{"a":"b"}}]}}}`, "query.bool.must[1].span_term", "span_term"},
	{`{"query":{"term":{"a":1,"b":2}}}`, "query.term.b", "b"},
	{`{"query":{"term":{"a":{"value":1,"x":2}}}}`, "query.term.a.x", "x"},
	{`{"query":{"term":{}}}`, "query.term", "field"},
	{`{"query":{"term":null}}`, "query.term", "null"},
	{`{"query":{"term":{"a":1},"match":{"a":1}}}`, "query", "one clause"},
	{`{"query":{"match":{"a":{"query":"x","fuzziness":3}}}}`, "query.match.a.fuzziness", "fuzziness"},
	{`{"query":{"multi_match":{"query":"x","type":"phrase","fuzziness":1}}}`, "query.multi_match.fuzziness", "phrase"},
	{`{"query":{"regexp":{"a":"a&b"}}}`, "query.regexp.a", "operator"},
	{`{"query":{"regexp":{"a":{"value":"<1-5>"}}}}`, "query.regexp.a", "operator"},
	{`{"query":{"regexp":{"a":"(a{1000}){1000}"}}}`, "query.regexp.a", "regular expression"},
	{`{"query":{"regexp":{"a":{"value":"a","flags":"INTERVAL"}}}}`, "query.regexp.a.flags", "flags"},
	{`{"query":{"boosting":{"positive":{"match_all":{}}}}}`, "query.boosting", "negative"},
	{`{"query":{"match_phrase":{"a":{"query":"x","slop":-1}}}}`, "query.match_phrase.a.slop", "integer"},
	{`{"query":{"match":{"a":{"query":"x","operator":"xor"}}}}`, "query.match.a.operator", "operator"},
	{`{"query":{"match":{"a":{"query":"x","minimum_should_match":"x"}}}}`, "query.match.a.minimum_should_match", "minimum"},
	{`{"query":{"multi_match":{"query":"x","type":"odd_fields"}}}`, "query.multi_match.type", "odd_fields"},
	{`{"query":{"range":{"a":{"gte":1,"boost":-1}}}}`, "query.range.a.boost", "boost"},
	{`{"query":{"range":{"a":{"gte":"x","format":"yyyy"}}}}`, "query.range.a", "yyyy"},
	{`{"query":{"range":{"a":{"gte":"1","format":"QQ"}}}}`, "query.range.a.format", "QQ"},
	{`{"query":{"range":{"a":{"gte":"1","time_zone":"Mars"}}}}`, "query.range.a.time_zone", "Mars"},
	{`{"query":{"nested":{"path":"a","query":{"match_all":{}},"inner_hits":{"siz":1}}}}`, "query.nested.inner_hits.siz", "size"},
	{`{"query":{"nested":{"path":"a","query":{"match_all":{}},"inner_hits":{"from":90,"size":11}}}}`, "query.nested.inner_hits", "100"},
	{`{"query":{"nested":{"path":"a","query":{"match_all":{}},"inner_hits":{"explain":true}}}}`, "query.nested.inner_hits.explain", "explain"},
	{`{"query":{"nested":{"path":"a","inner_hits":{},"query":{"nested":{"path":"a.b","inner_hits":{"name":"a"},"query":{"match_all":{}}}}}}}`, "query.nested.inner_hits", "own name"},
	{`{"collapse":{"field":"a","inner_hits":{"collapse":{}}}}`, "collapse.inner_hits.collapse", "collapse"},
	{`{"size":50000,"query":{"nested":{"path":"a","query":{"match_all":{}},"inner_hits":{"size":100}}}}`, "", "inner hits"},
	{`{"collapse":{"inner_hits":{}}}`, "collapse", "field"},
	{`{"collapse":{"field":"a"},"sort":["b"],"search_after":[1]}`, "collapse", "search_after"},
	{`{"query":{"query":{"match_all":{}},"collapse":{"field":"a"}},"sort":["b"],"search_after":[1]}`, "search_after", "collapse"},
	{`{"highlight":{"fields":{"a":{"boundary_scanner":"line"}}}}`, "highlight.fields.a.boundary_scanner", "sentence"},
	{`{"highlight":{"encoder":"xml","fields":{"a":{}}}}`, "highlight.encoder", "html"},
	{`{"highlight":{"fields":{"a":{"highlight_query":{"nope":{}}}}}}`, "highlight.fields.a.highlight_query.nope", "nope"},
	{`{"query":{"terms":{"a":{"index":"x","id":"1"}}}}`, "query.terms.a", "array"},
	{`{"highlight":{"fields":{"title":{"type":"semantic"}}}}`, "highlight.fields.title.type", "semantic"},
	{`{"highlight":{"fields":{"title":{"fragment_size":-1}}}}`, "highlight.fields.title.fragment_size", "integer"},
	{`{"suggest":{"text":"x","s":{"phrase":{"field":"a"}}}}`, "suggest.s.phrase", "phrase"},
	{`{"suggest":{"s":{"prefix":"x","completion":{"field":"a"}}}}`, "suggest.s.completion", "completion"},
	{`{"suggest":{"s":{"text":"x","term":{}}}}`, "suggest.s.term", "field"},
	{`{"suggest":{"s":{"term":{"field":"a"}}}}`, "suggest.s", "text"},
	{`{"suggest":{"s":{"text":"x"}}}`, "suggest.s", "term"},
	{`{"suggest":{"s":{"text":"x","term":{"field":"a","max_edits":3}}}}`, "suggest.s.term.max_edits", "integer"},
	{`{"suggest":{"s":{"text":"x","term":{"field":"a","suggest_mode":"never"}}}}`, "suggest.s.term.suggest_mode", "popular"},
	{`{"suggest":{"s":{"text":"x","term":{"field":"a","string_distance":"ngram"}}}}`, "suggest.s.term.string_distance", "internal"},
	{`{"track_total_hits":{}}`, "track_total_hits", "number"},
	{`{"track_total_hits":-5}`, "track_total_hits", "integer"},
	{`{"min_score":"x"}`, "min_score", "number"},
	{`{"explain":true}`, "explain", "explain"},
	{`{"version":true}`, "version", "version"},
	{`{"rescore":{}}`, "rescore", "rescore"},
	{`{"runtime_mappings":{}}`, "runtime_mappings", "runtime_mappings"},
	{`{"script_fields":{}}`, "script_fields", "script_fields"},
	{`{"sise":1}`, "sise", "size"},
	{`{"sort":{"_geo_distance":{"a":1}}}`, "sort._geo_distance.a", "point"},
	{`{"sort":{"_geo_distance":{"a":"1,2","unit":"parsec"}}}`, "sort._geo_distance.unit", "parsec"},
	{`{"sort":{"_geo_distance":{"a":"1,2","mode":"sum"}}}`, "sort._geo_distance.mode", "sum"},
	{`{"sort":{"_geo_distance":{"a":[]}}}`, "sort._geo_distance.a", "points"},
	{`{"sort":{"_geo_distance":{"order":"asc"}}}`, "sort._geo_distance", "field"},
	{`{"sort":{"_script":{}}}`, "sort._script", "scripts"},
	{`{"sort":{"a":{"nested":{"path":"p","nested":{"path":"q"}}}}}`, "sort.a.nested.nested", "inside"},
	{`{"query":{"geo_distance":{"a":"1,2"}}}`, "query.geo_distance", "distance"},
	{`{"query":{"geo_distance":{"a":"1,2","distance":"1 parsec"}}}`, "query.geo_distance.distance", "parsec"},
	{`{"query":{"geo_distance":{"a":"91,2","distance":"1km"}}}`, "query.geo_distance.a", "earth"},
	{`{"query":{"geo_distance":{"a":{"lat":1,"lng":2},"distance":"1km"}}}`, "query.geo_distance.a", "lon"},
	{`{"query":{"geo_distance":{"a":[1,2,3,4],"distance":"1km"}}}`, "query.geo_distance.a", "[lon, lat]"},
	{`{"query":{"geo_distance":{"a":"1,2","distance":1,"distance_type":"flat"}}}`, "query.geo_distance.distance_type", "plane"},
	{`{"query":{"geo_bounding_box":{"a":{"top_left":"1,2"}}}}`, "query.geo_bounding_box.a", "corners"},
	{`{"query":{"geo_bounding_box":{"a":{"top_left":"1,2","bottom_right":"2,3"}}}}`, "query.geo_bounding_box.a", "below"},
	{`{"query":{"geo_bounding_box":{"a":{"top":1,"left":200,"bottom":0,"right":1}}}}`, "query.geo_bounding_box.a.left", "180"},
	{`{"query":{"function_score":{"script_score":{"script":"1"}}}}`, "query.function_score.script_score", "scripts"},
	{`{"query":{"function_score":{"functions":[{"script_score":{}}]}}}`, "query.function_score.functions[0].script_score", "scripts"},
	{`{"query":{"function_score":{"functions":[{"filter":{"match_all":{}}}]}}}`, "query.function_score.functions[0]", "function"},
	{`{"query":{"function_score":{"functions":[{"weight":-1}]}}}`, "query.function_score.functions[0].weight", "weight"},
	{`{"query":{"function_score":{"weight":2,"functions":[]}}}`, "query.function_score.functions", "both"},
	{`{"query":{"function_score":{"field_value_factor":{"field":"a","modifier":"cube"}}}}`, "query.function_score.field_value_factor.modifier", "square"},
	{`{"query":{"function_score":{"field_value_factor":{"field":"a","faktor":1}}}}`, "query.function_score.field_value_factor.faktor", "factor"},
	{`{"query":{"function_score":{"score_mode":"replace"}}}`, "query.function_score.score_mode", "first"},
	{`{"query":{"function_score":{"boost_mode":"first"}}}`, "query.function_score.boost_mode", "replace"},
	{`{"query":{"function_score":{"gauss":{"a":{"origin":1}}}}}`, "query.function_score.gauss.a", "scale"},
	{`{"query":{"function_score":{"gauss":{"a":{"origin":1,"scale":"x"}}}}}`, "query.function_score.gauss.a.scale", "distance"},
	{`{"query":{"function_score":{"linear":{"a":{"origin":1,"scale":1,"decay":2}}}}}`, "query.function_score.linear.a.decay", "between"},
	{`{"query":{"function_score":{"exp":{"a":{"origin":1,"scale":1}},"weight":1,"linear":{}}}}`, "query.function_score.linear", "one function"},
	{`{"query":{"mach":{"a":"x"}}}`, "query.mach", "did you mean"},
	{`{"query":{"mtach":{"a":"x"}}}`, "query.mtach", "did you mean match?"},
	{`{"aggs":{"h":{"terms":{"size":3,"feild":"a"}}}}`, "aggs.h.terms.feild", "did you mean field?"},
	{`{"aggs":{"h":{"nested":{"pth":"a"}}}}`, "aggs.h.nested.pth", "did you mean path?"},
	{`{"query":{"match":{"a":{"query":"x","operatr":"and"}}}}`, "query.match.a.operatr", "operator"},
	{`{"sort":[{"a":{"order":"up"}}]}`, "sort[0].a.order", "asc"},
	{`{"sort":[{"a":{"mode":"median"}}]}`, "sort[0].a.mode", "median"},
	{`{"aggs":{"h":{"date_histogram":{"field":"a"}}}}`, "aggs.h.date_histogram", "date_histogram"},
	{`{"aggs":{"h":{"date_histogram":{"field":"a","calendar_interval":"2d"}}}}`, "aggs.h.date_histogram.calendar_interval", "2d"},
	{`{"aggs":{"h":{"date_histogram":{"field":"a","fixed_interval":"0s"}}}}`, "aggs.h.date_histogram.fixed_interval", "0s"},
	{`{"aggs":{"h":{"date_histogram":{"field":"a","fixed_interval":"366001d"}}}}`, "aggs.h.date_histogram.fixed_interval", "366001d"},
	{`{"aggs":{"h":{"date_histogram":{"field":"a","fixed_interval":"1d","offset":"-366001d"}}}}`, "aggs.h.date_histogram.offset", "366001d"},
	{`{"aggs":{"h":{"histogram":{"field":"a","interval":0}}}}`, "aggs.h.histogram", "interval"},
	{`{"aggs":{"h":{"histogram":{"field":"a","interval":1,"hard_bounds":{"low":1}}}}}`, "aggs.h.histogram.hard_bounds.low", "hard_bounds"},
	{`{"aggs":{"h":{"range":{"field":"a"}}}}`, "aggs.h.range", "ranges"},
	{`{"aggs":{"h":{"filters":{"filters":{}}}}}`, "aggs.h.filters", "filters"},
	{`{"aggs":{"h":{"percentiles":{"field":"a","percents":[101]}}}}`, "aggs.h.percentiles.percents[0]", "100"},
	{`{"aggs":{"h":{"top_hits":{"size":101}}}}`, "aggs.h.top_hits.size", "100"},
	{`{"aggs":{"h":{"top_hits":{"from":60,"size":60}}}}`, "aggs.h.top_hits", "100"},
	{`{"aggs":{"h":{"top_hits":{},"aggs":{"x":{"max":{"field":"a"}}}}}}`, "aggs.h", "sub-aggregations"},
	{`{"aggs":{"h":{"top_hit":{}}}}`, "aggs.h.top_hit", "top_hits"},
	{`{"aggs":{"t":{"terms":{"field":"a"},"meta":[]}}}`, "aggs.t.meta", "object"},
	{`{"aggs":{"h":{"bucket_sort":{}}}}`, "aggs.h.bucket_sort", "many buckets"},
	{`{"aggs":{"f":{"filter":{},"aggs":{"h":{"bucket_sort":{}}}}}}`, "aggs.f.aggs.h.bucket_sort", "many buckets"},
	{`{"aggs":{"t":{"terms":{"field":"a"},"aggs":{"h":{"bucket_sort":{"gap_policy":"x"}}}}}}`, "aggs.t.aggs.h.bucket_sort.gap_policy", "insert_zeros"},
	{`{"aggs":{"c":{"composite":{}}}}`, "aggs.c.composite", "sources"},
	{`{"aggs":{"c":{"composite":{"sources":[{"a":{"geotile_grid":{}}}]}}}}`, "aggs.c.composite.sources[0].a.geotile_grid", "geotile_grid"},
	{`{"aggs":{"c":{"composite":{"sources":[{"a":{"terms":{"field":"x","missing_order":"first"}}}]}}}}`, "aggs.c.composite.sources[0].a.terms.missing_order", "missing_bucket"},
	{`{"aggs":{"c":{"composite":{"sources":[{"a":{"terms":{"field":"x"}}},{"a":{"terms":{"field":"y"}}}]}}}}`, "aggs.c.composite.sources[1]", "two sources"},
	{`{"aggs":{"c":{"composite":{"sources":[{"a":{"terms":{"field":"x"}}}],"after":{"b":1}}}}}`, "aggs.c.composite.after", "missing"},
	{`{"aggs":{"c":{"composite":{"sources":[{"a":{"terms":{"field":"x"}}}],"after":{"a":1,"b":1}}}}}`, "aggs.c.composite.after.b", "after"},
	{`{"aggs":{"c":{"composite":{"sources":[{"a":{"terms":{"field":"x"}}}],"after":{"a":null}}}}}`, "aggs.c.composite.after.a", "missing_bucket"},
	{`{"aggs":{"h":{"composite":{}}}}`, "aggs.h.composite", "composite"},
	{`{"aggs":{"h":{"terms":{"field":"a"},"max":{"field":"a"}}}}`, "aggs.h.max", "one type"},
	{`{"aggs":{"h":{"aggs":{}}}}`, "aggs.h", "type"},
	{`{"aggs":{"h":{"terms":{"field":"a","include":"(x"}}}}`, "aggs.h.terms.include", ""},
	{`{"aggs":{"h":{"terms":{"field":"a","exclude":{"partition":0,"num_partitions":2}}}}}`, "aggs.h.terms.exclude", "partitions"},
	{`{"aggs":{"h":{"terms":{"field":"a","include":[{}]}}}}`, "aggs.h.terms.include[0]", ""},
	{`{"aggs":{"h":{"terms":{"field":"a","size":0}}}}`, "aggs.h.terms.size", "integer"},
	{`{"aggs":{"h":{"max":{"field":"a"},"aggs":{"x":{"max":{"field":"a"}}}}}}`, "aggs.h", "sub-aggregations"},
	{`{"aggs":{"h":{"terms":{"field":"a"},"aggs":{"g":{"global":{}}}}}}`, "aggs.h.aggs.g.global", "top"},
	{`{"search_after":[1]}`, "search_after", "per sort key"},
	{`{"search_after":[1],"sort":["a"],"from":1}`, "search_after", "from"},
	{`{"search_after":[{}],"sort":["a"]}`, "search_after[0]", "expected"},
	{`{"from":49999,"size":2}`, "size", "50000"},
	{`{"from":50000}`, "from", "50000"},
	{`{"query":{"query":{"match_all":{}},"from":49999}}`, "query.from", "50000"},
	{`{"size":-1}`, "size", "integer"},
	{`{"size":1e300}`, "size", "integer"},
	{`{"query":{"term":{"a":1e999}}}`, "query.term.a", "range"},
	{`{"query":{"match_all":{}},"query":{"match_none":{}}}`, "query", "twice"},
	{`{"query":[1]}`, "query", "object"},
	{`{"query":`, "search", "JSON"},
	{`[1]`, "", "object"},
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		_, err := dsl.Parse([]byte(c.in))
		p := problem.From(err)
		if p.Kind != problem.Invalid || len(p.Fields) != 1 || p.Fields[0].Path != c.path || !strings.Contains(p.Fields[0].Message, c.word) {
			t.Errorf("%s: got %v, want %q at %q", c.in, err, c.word, c.path)
		}
	}
}

func manyAggs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%d":{"max":{"field":"a"}},`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestHostileSizes(t *testing.T) {
	nest := func(open, shut string, n int) string {
		return `{"query":` + strings.Repeat(open, n) + `{"match_all":{}}` + strings.Repeat(shut, n) + `}`
	}
	for what, in := range map[string]string{
		"deep clauses":   nest(`{"bool":{"must":`, `}}`, 100),
		"deep JSON":      `{"query":` + strings.Repeat(`[`, 100_000),
		"many clauses":   `{"query":{"bool":{"should":[` + strings.Repeat(`{"match_all":{}},`, 2000) + `{"match_all":{}}]}}}`,
		"many values":    `{"query":{"terms":{"a":[` + strings.Repeat(`1,`, 70_000) + `1]}}}`,
		"many stars":     `{"query":{"wildcard":{"a":"` + strings.Repeat(`*a`, 100) + `"}}}`,
		"deep aggs":      `{"aggs":` + strings.Repeat(`{"a":{"global":{},"aggs":`, 50) + `{}` + strings.Repeat(`}}`, 50) + `}`,
		"many aggs":      `{"aggs":{` + manyAggs(300) + `}}`,
		"many sources":   `{"aggs":{"c":{"composite":{"sources":[` + strings.Repeat(`{"a":{"terms":{"field":"a"}}},`, 40) + `{"b":{"terms":{"field":"a"}}}]}}}}`,
		"long include":   `{"aggs":{"t":{"terms":{"field":"a","include":"` + strings.Repeat(`a`, 1000) + `"}}}}`,
		"many included":  `{"aggs":{"t":{"terms":{"field":"a","include":[` + strings.Repeat(`1,`, 70_000) + `1]}}}}`,
		"long name":      `{"aggs":{"` + strings.Repeat(`a`, 1000) + `":{"max":{"field":"a"}}}}`,
		"long format":    `{"aggs":{"m":{"max":{"field":"a","format":"` + strings.Repeat(`0`, 1000) + `"}}}}`,
		"long field":     `{"query":{"term":{"` + strings.Repeat(`a`, 1000) + `":1}}}`,
		"many functions": `{"query":{"bool":{"should":[` + strings.Repeat(`{"function_score":{"functions":[`+strings.Repeat(`{"weight":1},`, 100)+`{"weight":1}]}},`, 20) + `{"match_all":{}}]}}}`,
		"many sorts":     `{"sort":["a"` + strings.Repeat(`,"a"`, 100) + `]}`,
	} {
		if _, err := dsl.Parse([]byte(in)); !problem.Is(err, problem.Invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := dsl.Parse(make([]byte, 9<<20)); !problem.Is(err, problem.TooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := dsl.Parse([]byte(nest(`{"bool":{"must":[`, `]}}`, 40))); err != nil {
		t.Errorf("40 levels: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sent)
	for _, c := range refusals {
		f.Add(c.in)
	}
	f.Add(`{"query":{"bool":{"should":[{"match":{"a":{"query":"x","minimum_should_match":"2<75%"}}}],"filter":{"range":{"d":{"gte":"now-1d/d","time_zone":"+02:00"}}}}},"sort":[{"a":{"nested":{"path":"p"}}}]}`)
	f.Add(`{"query":{"function_score":{"query":{"geo_bounding_box":{"p":{"top_left":"1,2","bottom_right":[3,0]}}},"functions":[{"filter":{"term":{"a":1}},"exp":{"p":{"origin":"now-1d","scale":"2d","offset":"1h"}},"weight":2}],"score_mode":"first"}},"sort":[{"_geo_distance":{"p":["1,2",{"lat":1,"lon":2}],"unit":"mi"}}]}`)
	f.Add(`{"aggs":{"c":{"composite":{"sources":[{"a":{"terms":{"field":"x","missing_bucket":true,"missing_order":"last"}}},{"d":{"date_histogram":{"field":"y","calendar_interval":"month","format":"yyyy"}}}],"after":{"a":null,"d":"2024"}},"aggs":{"z":{"bucket_sort":{"sort":[{"_count":{"order":"desc"}}],"gap_policy":"insert_zeros"}},"h":{"top_hits":{"sort":["n"],"highlight":{"fields":{"a":{}}}}}}},"t":{"terms":{"field":"x","include":"a.*","exclude":["b",1],"order":[{"m[avg]":"desc"}]},"aggs":{"m":{"stats":{"field":"n"}}}},"g":{"histogram":{"field":"n","interval":2,"hard_bounds":{"min":1},"extended_bounds":{"max":2}}}}}`)
	f.Add(`{"collapse":{"field":"a","inner_hits":{"name":"x","sort":"b"}},"suggest":{"text":"x","s":{"term":{"field":"a","max_edits":1}}},"highlight":{"order":"score","fields":[{"a":{"highlight_query":{"match_all":{}}}}]},"track_total_hits":9,"min_score":1.5}`)
	f.Fuzz(func(t *testing.T, in string) {
		r, err := dsl.Parse([]byte(in))
		if err != nil {
			if k := problem.From(err).Kind; k != problem.Invalid && k != problem.TooLarge {
				t.Errorf("%v", err)
			}
			return
		}
		if r.From < 0 || r.Size < 0 || r.From+r.Size > search.MaxWindow {
			t.Errorf("window %d+%d", r.From, r.Size)
		}
	})
}
