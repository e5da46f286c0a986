package typesense_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/embedded"
	"github.com/quoin-cms/quoin/core/search/typesense"
	"github.com/quoin-cms/quoin/core/testkit"
)

// feature is something that a search object may ask for.
type feature struct{ name, object string }

// clause and aggregation make features of a name and a body.
func clause(name, body string) feature {
	return feature{name, `{"query":{"` + name + `":` + body + `}}`}
}

func aggregation(name, body string) feature {
	return feature{name, `{"size":0,"aggs":{"a":{"` + name + `":` + body + `}}}`}
}

var clauses = []feature{
	clause("match_all", `{}`), clause("match_none", `{}`), clause("bool", `{"must":{"term":{"kw":"a"}},"should":[{"term":{"n":1}}],"minimum_should_match":1}`),
	clause("term", `{"kw":"a"}`), {"term (case_insensitive)", `{"query":{"term":{"kw":{"value":"A","case_insensitive":true}}}}`}, clause("terms", `{"kw":["a"]}`),
	clause("range", `{"day":{"gte":"now-1d/d"}}`), {"range (strings)", `{"query":{"range":{"kw":{"gte":"a"}}}}`}, clause("exists", `{"field":"kw"}`), clause("ids", `{"values":["1"]}`),
	clause("prefix", `{"kw":"a"}`), clause("wildcard", `{"kw":"?"}`), clause("regexp", `{"kw":"[ab]"}`), clause("fuzzy", `{"kw":"a"}`),
	clause("match", `{"text":"fox"}`), {"match (fuzziness)", `{"query":{"match":{"text":{"query":"fix","fuzziness":1}}}}`},
	clause("match_phrase", `{"text":{"query":"quick fox","slop":1}}`), clause("match_phrase_prefix", `{"text":"quick f"}`), clause("match_bool_prefix", `{"text":"quick f"}`),
	clause("multi_match", `{"query":"fox","fields":["t*"],"type":"cross_fields"}`), clause("query_string", `{"query":"text:(quick AND f*)"}`), clause("simple_query_string", `{"query":"quick + fox"}`),
	clause("nested", `{"path":"sub","query":{"term":{"sub.n":1}},"inner_hits":{}}`), clause("constant_score", `{"filter":{"term":{"kw":"a"}}}`),
	clause("dis_max", `{"queries":[{"term":{"kw":"a"}}]}`), clause("boosting", `{"positive":{"match_all":{}},"negative":{"term":{"kw":"a"}},"negative_boost":0.5}`),
	clause("function_score", `{"query":{"match_all":{}},"functions":[{"weight":2},{"field_value_factor":{"field":"n","missing":1}},{"random_score":{"seed":1}},{"gauss":{"n":{"origin":1,"scale":1}}}]}`),
	clause("geo_distance", `{"distance":"1km","place":"1,1"}`), clause("geo_bounding_box", `{"place":{"top":2,"left":0,"bottom":0,"right":2}}`),
	clause("more_like_this", `{"like":"fox"}`), clause("script", `{"script":"1"}`), clause("percolate", `{"field":"q"}`), clause("has_child", `{"type":"x","query":{"match_all":{}}}`),
	clause("span_term", `{"text":"fox"}`), clause("intervals", `{"text":{"match":{"query":"fox"}}}`),
}

var aggregations = []feature{
	aggregation("terms", `{"field":"kw","order":{"_key":"asc"},"include":"a.*","missing":"none"}`), aggregation("filter", `{"term":{"kw":"a"}}`),
	aggregation("filters", `{"filters":{"a":{"term":{"kw":"a"}}}}`), aggregation("nested", `{"path":"sub"}`),
	{"reverse_nested", `{"size":0,"aggs":{"a":{"nested":{"path":"sub"},"aggs":{"r":{"reverse_nested":{}}}}}}`},
	aggregation("range", `{"field":"n","ranges":[{"to":1}]}`), aggregation("date_range", `{"field":"day","ranges":[{"to":"now"}]}`),
	aggregation("histogram", `{"field":"n","interval":1}`), aggregation("date_histogram", `{"field":"day","calendar_interval":"month"}`),
	aggregation("min", `{"field":"n"}`), aggregation("max", `{"field":"n"}`), aggregation("sum", `{"field":"n"}`), aggregation("avg", `{"field":"n"}`),
	{"sum, avg (repeated value)", `{"size":0,"aggs":{"a":{"avg":{"field":"n"}}}}`},
	aggregation("stats", `{"field":"n"}`), aggregation("extended_stats", `{"field":"n"}`), aggregation("value_count", `{"field":"n"}`), aggregation("cardinality", `{"field":"kw"}`),
	aggregation("percentiles", `{"field":"n"}`), aggregation("missing", `{"field":"kw"}`), aggregation("global", `{}`), aggregation("top_hits", `{"size":1}`),
	aggregation("composite", `{"sources":[{"k":{"terms":{"field":"kw"}}}]}`),
	{"bucket_sort", `{"size":0,"aggs":{"a":{"terms":{"field":"kw"},"aggs":{"s":{"bucket_sort":{"size":1}}}}}}`},
	{"sub-aggregations", `{"size":0,"aggs":{"a":{"terms":{"field":"kw"},"aggs":{"m":{"max":{"field":"n"}}}}}}`},
	aggregation("significant_terms", `{"field":"kw"}`), aggregation("scripted_metric", `{}`), aggregation("geohash_grid", `{"field":"place"}`),
	{"derivative", `{"size":0,"aggs":{"a":{"histogram":{"field":"n","interval":1},"aggs":{"d":{"derivative":{"buckets_path":"_count"}}}}}}`},
}

var options = []feature{
	{"from, size", `{"from":1,"size":1}`}, {"sort", `{"sort":[{"kw":"asc"},{"n":{"order":"desc","missing":"_first"}}]}`}, {"sort by _score", `{"query":{"match":{"text":"fox"}},"sort":["_score","kw"]}`},
	{"sort by _geo_distance", `{"sort":[{"_geo_distance":{"place":"1,1"}}]}`}, {"search_after", `{"sort":["kw"],"search_after":["a"]}`}, {"post_filter", `{"post_filter":{"term":{"kw":"a"}}}`},
	{"highlight", `{"query":{"match":{"text":"fox"}},"highlight":{"fields":{"text":{}}}}`}, {"collapse", `{"collapse":{"field":"kw"}}`}, {"min_score", `{"query":{"match":{"text":"fox"}},"min_score":0.1}`},
	{"suggest", `{"suggest":{"s":{"text":"fix","term":{"field":"text"}}}}`}, {"_source", `{"_source":["n"]}`}, {"track_total_hits", `{"track_total_hits":10}`}, {"track_scores", `{"track_scores":true,"sort":["kw"]}`},
	{"scroll", ""}, {"explain", `{"explain":true}`}, {"rescore", `{"rescore":{"window_size":1,"query":{"rescore_query":{"match_all":{}}}}}`}, {"script_fields", `{"script_fields":{}}`},
}

func referenceSettings() search.Settings {
	return search.Settings{Types: map[string][]search.Field{"page": {
		{Path: "kw", Kind: search.KindKeyword}, {Path: "n", Kind: search.KindLong}, {Path: "day", Kind: search.KindDate}, {Path: "text", Kind: search.KindText},
		{Path: "place", Kind: search.KindGeoPoint}, {Path: "sub", Kind: search.KindNested}, {Path: "sub.n", Kind: search.KindLong},
	}}}
}

// TestReference writes which part of a search object works on which engine, by
// trying it.
func TestReference(t *testing.T) {
	o, _ := server(t)
	raw := []byte(`{"_contenttype":"page","kw":"a","n":1,"day":"2024-01-01","text":"quick fox","place":"1,1","sub":{"n":1}}`)
	load := func(_ context.Context, _ string, refs []int64) ([][]byte, error) {
		return slices.Repeat([][]byte{raw}, len(refs)), nil
	}
	engines := []search.Engine{embedded.New(load), open(t, o)}
	target := search.Target{Indices: []string{"one"}}
	for _, e := range engines {
		err := e.Create(t.Context(), "one", referenceSettings())
		if err != nil {
			t.Fatal(err)
		}
		key := search.Key{Type: "page", OUUID: "1"}
		if err := e.Apply(t.Context(), "one", []search.Op{{Key: key, Doc: &search.Doc{Key: key, Ref: 1, Raw: raw}}}); err != nil {
			t.Fatal(err)
		}
	}
	b := bytes.NewBufferString("# What can be asked of which search engine\n\nMade by trying each on both engines. \"no\" is answered with status 400 and the path of what is refused. A text beside \"yes\" is the limit; what is beyond it is refused in the same way.\n")
	limits := typesense.Limits()
	for _, part := range []struct {
		title string
		list  []feature
	}{{"Clauses", clauses}, {"Aggregations", aggregations}, {"The rest of the search object", options}} {
		fmt.Fprintf(b, "\n## %s\n\n| | embedded | typesense |\n|---|---|---|\n", part.title)
		for _, f := range part.list {
			yes := make([]string, len(engines))
			for i, e := range engines {
				yes[i] = works(t, e, target, f)
			}
			name := f.name
			if part.title == "Aggregations" && limits["aggs."+name] != "" {
				name = "aggs." + name
			}
			if limit := limits[name]; limit != "" && yes[1] == "yes" {
				yes[1] += ": " + limit
			}
			delete(limits, name)
			fmt.Fprintf(b, "| %s | %s | %s |\n", f.name, yes[0], yes[1])
		}
	}
	if len(limits) > 0 {
		t.Errorf("limits of what is not in the table: %q", slices.Sorted(maps.Keys(limits)))
	}
	testkit.Golden(t, "../../../config/reference/search.md", b.Bytes())
}

func works(t *testing.T, e search.Engine, target search.Target, f feature) string {
	object := f.object
	if object == "" { // a scroll
		if _, err := e.Scroll(t.Context(), target, &search.Request{Size: 1}); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		return "yes"
	}
	if !json.Valid([]byte(object)) {
		t.Fatalf("%s: %s", f.name, object)
	}
	r, err := dsl.Parse([]byte(object))
	if err == nil {
		_, err = e.Search(t.Context(), target, r)
	}
	switch {
	case err == nil:
		return "yes"
	case problem.Is(err, problem.Invalid):
		return "no"
	}
	t.Errorf("%s: %v", f.name, err)
	return "error"
}
