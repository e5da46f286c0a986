package searchtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
)

// now is what "now" means in all requests of the suite.
var now = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

func caseSettings() search.Settings {
	return search.Settings{
		Types: map[string][]search.Field{
			"page": {
				{Path: "title", Kind: search.KindText, Analyzer: "english", Fields: []search.Field{{Path: "sort", Kind: search.KindKeyword}, {Path: "alpha", Kind: search.KindText, Analyzer: "alpha", Fielddata: true}}},
				{Path: "tag", Kind: search.KindKeyword, CopyTo: []string{"everything"}},
				{Path: "day", Kind: search.KindDate, Format: "yyyy/MM/dd"},
				{Path: "on", Kind: search.KindBoolean},
				{Path: "n", Kind: search.KindLong},
				{Path: "value", Kind: search.KindLong},
				{Path: "secret", Kind: search.KindKeyword, NoIndex: true},
				{Path: "live", Kind: search.KindSearchAsType},
				{Path: "parts", Kind: search.KindNested},
				{Path: "parts.name", Kind: search.KindKeyword},
				{Path: "parts.weight", Kind: search.KindDouble},
			},
			"note": {
				{Path: "value", Kind: search.KindKeyword},
				{Path: "title", Kind: search.KindText},
				{Path: "shout", Kind: search.KindText, Analyzer: "loud"},
			},
		},
		Analyzers: map[string]json.RawMessage{"loud": json.RawMessage(`{"type":"custom","tokenizer":"whitespace","filter":["uppercase"],"char_filter":[]}`),
			"alpha": json.RawMessage(`{"type":"custom","tokenizer":"keyword","filter":["asciifolding","lowercase"]}`)},
	}
}

var caseDocs = [][2]string{
	{"page:a", `{"title":"The running foxes","tag":["red","blue"],"day":"2024/02/29","on":true,"n":3,"value":12,"secret":"s","parts":[{"name":"x","weight":1.5},{"name":"y","weight":4}],"dyn":"Hello World","_sha1":"abc"}`},
	{"page:b", `{"title":"A quick fox","tag":"red","day":"2024/01/31","on":false,"n":[1,7],"value":"13","parts":{"name":"z","weight":2},"dyn":"hello","when":"2024-02-01T10:00:00+01:00"}`},
	{"page:c", `{"title":"Lazy dogs","n":5,"live":"new york city","when":"2023-12-31","dyn":"other"}`},
	{"note:a", `{"title":"Running dogs","value":"12","shout":"Loud words","ratio":0.5}`},
	{"note:d", `{"title":"fox fox fox","value":12.0,"ratio":2,"dyn":null,"tag":[]}`},
}

func cases(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", caseSettings(), caseDocs...)
	b.apply("one", [2]string{"page:gone", `{"title":"fox","tag":"red"}`}, [2]string{"page:a", `{"title":"replaced"}`})
	b.apply("one", [2]string{"page:gone", ""}, caseDocs[0], [2]string{"page:never", ""})
	for i, c := range slices.Concat(hitCases, phraseCases, nearCases, stringCases) {
		b.hits(fmt.Sprintf("%s %d", clauseOf(c.query), i), "one", c)
	}
	for i, c := range slices.Concat(bodyCases, rangedCases, highlightCases, suggestCases, scoreCases) {
		b.named(fmt.Sprintf("body %d", i), func(b *bench) { b.body("one", c) })
	}
}

// clauseOf gives the name of the clause of a query, to name its case.
func clauseOf(query string) string {
	var m map[string]any
	if json.Unmarshal([]byte(query), &m) != nil || len(m) == 0 {
		return "nothing"
	}
	name, _ := only(m)
	return name
}

// named runs a case of its own name.
func (b *bench) named(name string, run func(b *bench)) {
	b.t.Run(name, func(t *testing.T) {
		one := &bench{t: t, e: b.e, Abilities: b.Abilities}
		run(one)
	})
}

// hits runs a case that compares the hits of a query, and its count.
func (b *bench) hits(name, index string, c hitCase) {
	b.named(name, func(b *bench) {
		out := b.mustSearch(target(index), `{"size":100,"sort":["_contenttype","_id"],"query":`+c.query+`}`)
		var got []string
		for _, h := range out.Hits {
			got = append(got, h.Key.Type[:1]+h.Key.OUUID)
		}
		if strings.Join(got, " ") != c.want || int(out.Total) != len(got) {
			b.t.Errorf("%s: got %q of %d, want %q", c.query, got, out.Total, c.want)
		}
		r, err := dsl.Parse([]byte(`{"query":` + c.query + `}`))
		if err != nil {
			b.t.Fatal(err)
		}
		r.Now = now
		if n, err := b.e.Count(b.t.Context(), target(index), r); err != nil || n != out.Total {
			b.t.Errorf("%s: counted %d, %v", c.query, n, err)
		}
	})
}

// body runs a case that compares a part of the answer.
func (b *bench) body(index string, c bodyCase) {
	if b.OwnOrder && strings.Contains(c.object, `"_doc"`) {
		b.t.Logf("not compared, because the engine has an order of its own: %s", c.object)
		return
	}
	got := pick(answer(b.mustSearch(target(index), c.object)), c.path)
	if !b.OwnScores {
		compareJSON(b.t, c.object, got, c.want)
		return
	}
	var want any
	if err := json.Unmarshal([]byte(c.want), &want); err != nil {
		b.t.Fatalf("%s: %v", c.want, err)
	}
	text, err := json.Marshal(unscored(want))
	if err != nil {
		b.t.Fatal(err)
	}
	compareJSON(b.t, c.object, unscored(got), string(text))
}

// unscored leaves the scores out of an answer.
func unscored(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = unscored(v[i])
		}
	case map[string]any:
		delete(v, "_score")
		delete(v, "max_score")
		for k := range v {
			v[k] = unscored(v[k])
		}
	}
	return v
}

// pick walks a dotted path through objects.
func pick(v any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

func compareJSON(t *testing.T, what string, got any, want string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if !reflect.DeepEqual(got, w) {
		text, _ := json.Marshal(got)
		t.Errorf("%s:\n got %s\nwant %s", what, text, want)
	}
}

// hitCase is a query and its hits.
type hitCase struct{ query, want string }

// hitCases give the hits of queries, by type and ouuid. Notes come first.
var hitCases = []hitCase{
	{`null`, "na nd pa pb pc"},
	{`{"match_all":[]}`, "na nd pa pb pc"},
	{`{"match_none":{}}`, ""},
	{`{"bool":[]}`, "na nd pa pb pc"},
	{`{"term":{"tag":"red"}}`, "pa pb"},
	{`{"term":{"tag":{"value":"RED","case_insensitive":true}}}`, "pa pb"},
	{`{"term":{"title":"fox"}}`, "nd pa pb"},
	{`{"term":{"title":"Fox"}}`, ""},
	{`{"term":{"value":12}}`, "na pa"},
	{`{"term":{"value":"12"}}`, "na pa"},
	{`{"term":{"value":12.0}}`, "nd pa"},
	{`{"terms":{"value":[13,"12"]}}`, "na pa pb"},
	{`{"term":{"on":true}}`, "pa"},
	{`{"term":{"on":"false"}}`, "pb"},
	{`{"term":{"n":7}}`, "pb"},
	{`{"term":{"secret":"s"}}`, ""},
	{`{"exists":{"field":"secret"}}`, ""},
	{`{"term":{"day":"2024/02/29"}}`, "pa"},
	{`{"term":{"when":"2024-02"}}`, "pb"},
	{`{"term":{"dyn.keyword":"Hello World"}}`, "pa"},
	{`{"term":{"_sha1":"abc"}}`, "pa"},
	{`{"term":{"everything":"blue"}}`, "pa"},
	{`{"term":{"_contenttype":"note"}}`, "na nd"},
	{`{"terms":{"_id":["a","d","x"]}}`, "na nd pa"},
	{`{"ids":{"values":["a"]}}`, "na pa"},
	{`{"term":{"_index":"one"}}`, "na nd pa pb pc"},
	{`{"term":{"_index":"two"}}`, ""},
	{`{"prefix":{"_index":"o"}}`, "na nd pa pb pc"},
	{`{"match":{"title":"run fox"}}`, "nd pa pb"},
	{`{"match":{"title":"Running"}}`, "na pa"},
	{`{"match":{"title":{"query":"runs foxes","operator":"AND"}}}`, "pa"},
	{`{"match":{"title":{"query":"dogs lazy running","minimum_should_match":2}}}`, "na pc"},
	{`{"match":{"title":{"query":"dogs lazy running","minimum_should_match":"67%"}}}`, "na pc"},
	{`{"match":{"title":{"query":"dogs lazy running","minimum_should_match":"-1"}}}`, "na pc"},
	{`{"match":{"title":{"query":"the","zero_terms_query":"all"}}}`, "na nd pa pb pc"},
	{`{"match":{"shout":"LOUD"}}`, "na"},
	{`{"match":{"shout":{"query":"loud","analyzer":"standard"}}}`, ""},
	{`{"match":{"tag":"red blue"}}`, ""},
	{`{"match":{"n":"5"}}`, "pc"},
	{`{"match":{"live._2gram":"new york"}}`, "pc"},
	{`{"match":{"_all":"hello red"}}`, "pa pb"},
	{`{"match":{"_all":{"query":"hello x","operator":"and"}}}`, "pa"},
	{`{"multi_match":{"query":"fox hello","fields":["title^2","dy*"]}}`, "nd pa pb"},
	{`{"multi_match":{"query":"12","fields":["*"]}}`, "na pa"},
	{`{"multi_match":{"query":"loud"}}`, "na"},
	{`{"multi_match":{"query":"hello world","type":"most_fields","operator":"and","fields":["dyn"]}}`, "pa"},
	{`{"range":{"n":{"gt":3,"lte":"5"}}}`, "pc"},
	{`{"range":{"n":{"from":3,"to":7,"include_upper":false}}}`, "pa pc"},
	{`{"range":{"n":{"gte":null,"lt":2}}}`, "pb"},
	{`{"range":{"day":{"gte":"2024/02/01"}}}`, "pa"},
	{`{"range":{"day":{"gte":"29.02.2024","format":"dd.MM.yyyy"}}}`, "pa"},
	{`{"range":{"day":{"lt":"now-29d/d"}}}`, "pb"},
	{`{"range":{"when":{"gte":"now-1M/M","lte":"now-1M/M"}}}`, "pb"},
	{`{"range":{"when":{"lte":"2024-02-01T10:30:00","time_zone":"+02:00"}}}`, "pc"},
	{`{"range":{"when":{"lte":"2024-02-01T11:30:00","time_zone":"+02:00"}}}`, "pb pc"},
	{`{"range":{"when":{"gt":"2023","lt":"2025"}}}`, "pb"},
	{`{"range":{"tag":{"gte":"c"}}}`, "pa pb"},
	{`{"range":{"ratio":{"gte":0.5,"lt":2}}}`, "na"},
	{`{"exists":{"field":"tag"}}`, "pa pb"},
	{`{"exists":{"field":"dyn"}}`, "pa pb pc"},
	{`{"exists":{"field":"parts"}}`, ""},
	{`{"prefix":{"tag":"re"}}`, "pa pb"},
	{`{"prefix":{"title":{"value":"fo","boost":2}}}`, "nd pa pb"},
	{`{"wildcard":{"tag":"*l?e"}}`, "pa"},
	{`{"wildcard":{"tag":{"value":"R*D","case_insensitive":true}}}`, "pa pb"},
	{`{"wildcard":{"dyn.keyword":{"wildcard":"Hello\\ *"}}}`, "pa"},
	{`{"constant_score":{"filter":{"term":{"tag":"blue"}},"boost":3}}`, "pa"},
	{`{"dis_max":{"queries":[{"term":{"tag":"blue"}},{"term":{"n":5}}]}}`, "pa pc"},
	{`{"nested":{"path":"parts","query":{"term":{"parts.name":"y"}}}}`, "pa"},
	{`{"nested":{"path":"nope","query":{"match_all":{}},"ignore_unmapped":true}}`, ""},
	{`{"term":{"parts.name":"y"}}`, ""},
	{`{"bool":{"must":{"term":{"tag":"red"}},"must_not":[{"term":{"on":true}}]}}`, "pb"},
	{`{"bool":{"should":[{"term":{"tag":"blue"}},{"term":{"n":5}}]}}`, "pa pc"},
	{`{"bool":{"should":[{"term":{"tag":"blue"}}],"filter":[{"exists":{"field":"n"}}]}}`, "pa pb pc"},
	{`{"bool":{"should":[{"term":{"tag":"blue"}}],"filter":[{"exists":{"field":"n"}}],"minimum_should_match":1}}`, "pa"},
	{`{"bool":{"should":[{"term":{"tag":"red"}},{"term":{"n":7}},{"term":{"on":true}}],"minimum_should_match":"-1"}}`, "pa pb"},
	{`{"bool":{"should":[{"term":{"tag":"red"}}],"minimum_should_match":2}}`, ""},
	{`{"bool":{"must_not":{"exists":{"field":"tag"}}}}`, "na nd pc"},
	{`{"term":{"nowhere":1}}`, ""},
	{`{"query":{"term":{"tag":"blue"}}}`, "pa"},
}

// bodyCase is a search object and a part of the answer.
type bodyCase struct{ object, path, want string }

// bodyCases give a part of the answer to whole search objects.
var bodyCases = []bodyCase{
	{`{"size":0,"aggs":{"t":{"terms":{"field":"_contenttype"}}}}`, "aggregations.t",
		`{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"page","doc_count":3},{"key":"note","doc_count":2}]}`},
	{`{"size":0,"aggs":{"m":{"max":{"field":"nowhere"},"meta":{"label":"\"x\"","of":[1,{"a":null}],"n":1.50}},"f":{"meta":{},"filter":{"term":{"tag":"none"}},"aggs":{"v":{"meta":{"b":true},"value_count":{"field":"n"}}}}}}`, "aggregations",
		`{"m":{"meta":{"label":"\"x\"","of":[1,{"a":null}],"n":1.50},"value":null},"f":{"meta":{},"doc_count":0,"v":{"meta":{"b":true},"value":0}}}`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"_index"},"aggregations":{"m":{"max":{"field":"n"}}}}}}`, "aggregations.t.buckets",
		`[{"key":"one","doc_count":5,"m":{"value":7}}]`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"tag","size":1}}}}`, "aggregations.t",
		`{"doc_count_error_upper_bound":0,"sum_other_doc_count":1,"buckets":[{"key":"red","doc_count":2}]}`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"tag","order":{"_term":"asc"},"missing":"none"}}}}`, "aggregations.t.buckets",
		`[{"key":"blue","doc_count":1},{"key":"none","doc_count":3},{"key":"red","doc_count":2}]`},
	{`{"size":0,"query":{"term":{"tag":"blue"}},"aggs":{"t":{"terms":{"field":"tag","min_doc_count":0,"order":{"_key":"desc"}}},"g":{"global":[],"aggs":{"c":{"cardinality":{"field":"tag"}}}}}}`,
		"aggregations", `{"t":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"red","doc_count":1},{"key":"blue","doc_count":1}]},"g":{"doc_count":5,"c":{"value":2}}}`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"on"}}}}`, "aggregations.t.buckets",
		`[{"key":0,"key_as_string":"false","doc_count":1},{"key":1,"key_as_string":"true","doc_count":1}]`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"day"}}}}`, "aggregations.t.buckets",
		`[{"key":1706659200000,"key_as_string":"2024/01/31","doc_count":1},{"key":1709164800000,"key_as_string":"2024/02/29","doc_count":1}]`},
	{`{"size":0,"aggs":{"m":{"max":{"field":"day"}}}}`, "aggregations.m", `{"value":1709164800000,"value_as_string":"2024/02/29"}`},
	{`{"size":0,"aggs":{"m":{"max":{"field":"nowhere"}}}}`, "aggregations.m", `{"value":null}`},
	{`{"size":0,"aggs":{"s":{"stats":{"field":"n"}},"v":{"value_count":{"field":"n"}},"a":{"avg":{"field":"n","missing":0}}}}`, "aggregations",
		`{"s":{"count":4,"min":1,"max":7,"avg":4,"sum":16},"v":{"value":4},"a":{"value":2.6666666666666665}}`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"tag","order":[{"m":"desc"},{"_key":"asc"}]},"aggs":{"m":{"min":{"field":"n"}}}}}}`, "aggregations.t.buckets",
		`[{"key":"blue","doc_count":1,"m":{"value":3}},{"key":"red","doc_count":2,"m":{"value":1}}]`},
	{`{"size":0,"aggs":{"f":{"filter":{"term":{"tag":"red"}},"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"t":{"terms":{"field":"parts.name"},"aggs":{"back":{"reverse_nested":[],"aggs":{"k":{"terms":{"field":"tag"}}}}}}}}}}}}`,
		"aggregations.f.n", `{"doc_count":3,"t":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[
			{"key":"x","doc_count":1,"back":{"doc_count":1,"k":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"blue","doc_count":1},{"key":"red","doc_count":1}]}}},
			{"key":"y","doc_count":1,"back":{"doc_count":1,"k":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"blue","doc_count":1},{"key":"red","doc_count":1}]}}},
			{"key":"z","doc_count":1,"back":{"doc_count":1,"k":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"red","doc_count":1}]}}}]}}`},
	{`{"size":0,"query":{"term":{"tag":"red"}},"post_filter":{"term":{"on":true}},"aggs":{"t":{"terms":{"field":"on"}}}}`, "hits.total", `{"value":1,"relation":"eq"}`},
	{`{"size":1,"from":1,"sort":{"n":"desc"},"sources":["n"]}`, "hits.hits",
		`[{"_index":"one","_id":"c","_score":null,"_source":{"n":5,"_contenttype":"page"},"sort":[5]}]`},
	{`{"sort":[{"parts.weight":{"order":"asc","nested_path":"parts","missing":"_first"}},"_id"],"sources":["x"],"size":2}`, "hits.hits",
		`[{"_index":"one","_id":"a","_score":null,"_source":{"_contenttype":"note"},"sort":[null,"a"]},{"_index":"one","_id":"c","_score":null,"_source":{"_contenttype":"page"},"sort":[null,"c"]}]`},
	{`{"query":{"ids":{"values":["b","c"]}},"sort":{"parts.weight":{"order":"desc","nested":{"path":"parts","filter":{"range":{"parts.weight":{"gt":1}}}}}},"sources":["x"]}`, "hits.hits",
		`[{"_index":"one","_id":"b","_score":null,"_source":{"_contenttype":"page"},"sort":[2]},{"_index":"one","_id":"c","_score":null,"_source":{"_contenttype":"page"},"sort":[null]}]`},
	{`{"query":{"exists":{"field":"title.alpha"}},"sort":{"title.alpha":{"order":"desc"}},"sources":["x"],"size":1,"aggs":{"t":{"terms":{"field":"title.alpha","size":1,"order":{"_key":"asc"}}}}}`, "hits.hits",
		`[{"_index":"one","_id":"a","_score":null,"_source":{"_contenttype":"page"},"sort":["the running foxes"]}]`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"title.alpha","size":1,"order":{"_key":"asc"}}}}}`, "aggregations.t",
		`{"doc_count_error_upper_bound":0,"sum_other_doc_count":2,"buckets":[{"key":"a quick fox","doc_count":1}]}`},
	{`{"contentTypes":["note"],"query":{"term":{"title":"fox"}},"sources":["x"],"aggs":{"t":{"terms":{"field":"_contenttype"}},"g":{"global":{}}}}`, "aggregations",
		`{"t":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"note","doc_count":1}]},"g":{"doc_count":5}}`},
	{`{"size":0,"queryArray":{"term":{"tag":"red"}},"query":{"match_none":{}}}`, "hits", `{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[]}`},
}

// refused checks that what cannot be honoured is Invalid and says where.
func refused(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", caseSettings(), caseDocs...)
	for _, c := range append([][2]string{
		{`{"aggs":{"t":{"terms":{"field":"title"}}}}`, "aggs.t.terms"},
		{`{"aggs":{"t":{"max":{"field":"tag"}}}}`, "aggs.t.max"},
		{`{"sort":"title"}`, "sort"},
		{`{"sort":[{"tag":{"mode":"sum"}}]}`, "sort[0].tag"},
		{`{"query":{"range":{"day":{"gte":"yesterday"}}}}`, "query.range"},
		{`{"query":{"match":{"title":{"query":"x","analyzer":"nope"}}}}`, "query.match"},
		{`{"aggs":{"t":{"terms":{"field":"tag","order":{"nope":"asc"}}}}}`, "aggs.t.terms.order"},
		{`{"query":{"function_score":{"field_value_factor":{"field":"n"}}}}`, "query.function_score.field_value_factor"},
		{`{"query":{"function_score":{"field_value_factor":{"field":"n","missing":-1}}}}`, "query.function_score.field_value_factor"},
		{`{"query":{"function_score":{"field_value_factor":{"field":"n","missing":0,"modifier":"ln"}}}}`, "query.function_score.field_value_factor"},
		{`{"query":{"function_score":{"field_value_factor":{"field":"tag"}}}}`, "query.function_score.field_value_factor"},
		{`{"query":{"function_score":{"functions":[{"gauss":{"n":{"scale":1,"origin":"x"}}}]}}}`, "query.function_score.functions[0].gauss"},
		{`{"query":{"function_score":{"linear":{"day":{"origin":"2024/01/01","scale":"5km"}}}}}`, "query.function_score.linear"},
		{`{"collapse":{"field":"title"}}`, "collapse"},
		{`{"collapse":{"field":"tag"}}`, "collapse"},
		{`{"suggest":{"s":{"text":"x","term":{"field":"title","analyzer":"nope"}}}}`, "suggest.s.term"},
	}, aggRefusals...) {
		_, err := b.search(target("one"), c[0])
		p := problem.From(err)
		if p.Kind != problem.Invalid || len(p.Fields) != 1 || p.Fields[0].Path != c[1] {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}
