package searchtest

import (
	"fmt"
	"math"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
)

// markDocs are texts to be cut.
var markDocs = [][2]string{
	{"page:1", `{"body":"The quick fox ran. A dog slept! Did the fox see it? No, the Fox did not see the dog, because the dog lay behind a wall of stones and old wood that nobody had moved for years.","list":["first fox","no match","fox fox"],"code":"A & B <fox>","fr":{"body":"Le renard brun"},"kw":["fox","den"]}`},
}

// markCases are bodyCases of highlighting.
func markCases(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", search.Settings{Types: map[string][]search.Field{"page": {
		{Path: "kw", Kind: search.KindKeyword}, {Path: "body", Kind: search.KindText, Fields: []search.Field{{Path: "en", Kind: search.KindText, Analyzer: "english"}}},
	}}}, markDocs...)
	for i, c := range markedCases {
		b.named(fmt.Sprintf("mark %d", i), func(b *bench) {
			out := b.mustSearch(target("one"), `{"sources":["x"],"query":`+c.query+`,"highlight":`+c.highlight+`}`)
			if len(out.Hits) != 1 {
				b.t.Fatalf("%s: %d hits", c.query, len(out.Hits))
			}
			hits, _ := pick(answer(out), "hits.hits").([]any)
			compareJSON(b.t, c.query+" "+c.highlight, hits[0].(map[string]any)["highlight"], c.want)
		})
	}
}

// markedCases are queries with what they mark.
var markedCases = []struct{ query, highlight, want string }{
	{`{"match":{"body":"fox"}}`, `{"fields":{"body":{}}}`,
		`{"body":["The quick <em>fox</em> ran.","Did the <em>fox</em> see it?","No, the <em>Fox</em> did not see the dog, because the dog lay behind a wall of stones and old wood that nobody"]}`},
	{`{"match":{"body":"fox dog"}}`, `{"fields":{"body":{"number_of_fragments":1}}}`,
		`{"body":["No, the <em>Fox</em> did not see the <em>dog</em>, because the <em>dog</em> lay behind a wall of stones and old wood that nobody"]}`},
	{`{"match":{"body":"fox dog"}}`, `{"fields":{"body":{"order":"score","number_of_fragments":2}}}`,
		`{"body":["No, the <em>Fox</em> did not see the <em>dog</em>, because the <em>dog</em> lay behind a wall of stones and old wood that nobody","The quick <em>fox</em> ran."]}`},
	{`{"match":{"body":"fox dog"}}`, `{"fields":{"body":{"number_of_fragments":0}}}`,
		`{"body":["The quick <em>fox</em> ran. A <em>dog</em> slept! Did the <em>fox</em> see it? No, the <em>Fox</em> did not see the <em>dog</em>, because the <em>dog</em> lay behind a wall of stones and old wood that nobody had moved for years."]}`},
	{`{"match":{"body":"wall"}}`, `{"fields":{"body":{"fragment_size":30}}}`,
		`{"body":["because the dog lay behind a <em>wall</em>"]}`},
	{`{"match":{"body":"wall"}}`, `{"fields":{"body":{"fragment_size":0}}}`,
		`{"body":["No, the Fox did not see the dog, because the dog lay behind a <em>wall</em> of stones and old wood that nobody had moved for years."]}`},
	{`{"match":{"body":"wall"}}`, `{"fields":{"body":{"type":"plain","fragment_size":30}}}`,
		`{"body":["<em>wall</em> of stones and old wood"]}`},
	{`{"match":{"body":"wall"}}`, `{"fields":{"body":{"type":"fvh","fragment_size":20,"boundary_chars":" ","boundary_max_scan":5}}}`,
		`{"body":["behind a <em>wall</em> of stones"]}`},
	{`{"match":{"body":"wall dog"}}`, `{"fields":{"body":{"boundary_scanner":"word","boundary_scanner_locale":"en"}}}`,
		`{"body":["<em>dog</em>","<em>dog</em>","<em>dog</em>","<em>wall</em>"]}`},
	{`{"match":{"list":"fox"}}`, `{"fields":{"list":{}}}`,
		`{"list":["first <em>fox</em>","<em>fox</em> <em>fox</em>"]}`},
	{`{"match":{"list":"fox"}}`, `{"fields":{"list":{"number_of_fragments":1}}}`,
		`{"list":["<em>fox</em> <em>fox</em>"]}`},
	{`{"match":{"code":"fox"}}`, `{"encoder":"html","fields":{"code":{}}}`,
		`{"code":["A &amp; B &lt;<em>fox</em>&gt;"]}`},
	{`{"match":{"code":"fox"}}`, `{"pre_tags":["<b>","<i>"],"post_tags":["</b>"],"fields":{"code":{"encoder":"default"}}}`,
		`{"code":["A & B <<b>fox</b>>"]}`},
	{`{"match":{"code":"fox"}}`, `{"tags_schema":"styled","fields":{"code":{}}}`,
		`{"code":["A & B <<em class=\"hlt1\">fox</em>>"]}`},
	{`{"match_phrase":{"body":"the fox"}}`, `{"fields":{"body":{"number_of_fragments":0}}}`,
		`{"body":["The quick fox ran. A dog slept! Did <em>the</em> <em>fox</em> see it? No, <em>the</em> <em>Fox</em> did not see the dog, because the dog lay behind a wall of stones and old wood that nobody had moved for years."]}`},
	{`{"match_phrase_prefix":{"body":"old wo"}}`, `{"fields":{"body":{"fragment_size":20}}}`,
		`{"body":["wall of stones and <em>old</em>","<em>wood</em>"]}`},
	{`{"match_phrase":{"body":{"query":"fox quick","slop":3}}}`, `{"fields":{"body":{}}}`,
		`{"body":["The <em>quick</em> <em>fox</em> ran."]}`},
	{`{"match":{"fr.body":"renard"}}`, `{"fields":{"*":{}}}`,
		`{"fr.body":["Le <em>renard</em> brun"]}`},
	{`{"match":{"fr.body":"renard"}}`, `{"fields":{"fr.*":{"pre_tags":"[","post_tags":"]"}}}`,
		`{"fr.body":["Le [renard] brun"]}`},
	{`{"match":{"fr.body":"renard"}}`, `{"fields":{"body":{"no_match_size":12}}}`,
		`{"body":["The quick fox"]}`},
	{`{"match":{"fr.body":"renard"}}`, `{"no_match_size":500,"fields":{"list":{},"kw":{}}}`,
		`{"kw":["fox"],"list":["first fox"]}`},
	{`{"match":{"fr.body":"renard"}}`, `{"fields":{"body":{"number_of_fragments":0,"no_match_size":1,"fragment_size":5}}}`,
		`{"body":["The quick fox ran. A dog slept! Did the fox see it? No, the Fox did not see the dog, because the dog lay behind a wall of stones and old wood that nobody had moved for years."]}`},
	{`{"match":{"fr.body":"renard"}}`, `{"highlight_query":{"match":{"list":"first"}},"fields":{"list":{}}}`,
		`{"list":["<em>first</em> fox"]}`},
	{`{"match":{"fr.body":"renard"}}`, `{"fields":{"list":{"highlight_query":{"prefix":{"list":"matc"}}},"fr.body":{}}}`,
		`{"fr.body":["Le <em>renard</em> brun"],"list":["no <em>match</em>"]}`},
	{`{"match":{"fr.body":"renard fox"}}`, `{"require_field_match":false,"fields":{"kw":{},"list":{"require_field_match":true}}}`,
		`{"kw":["<em>fox</em>"]}`},
	{`{"term":{"kw":"fox"}}`, `{"fields":{"kw":{}}}`,
		`{"kw":["<em>fox</em>"]}`},
	{`{"match":{"body.en":"stone"}}`, `{"fields":{"body.en":{"fragment_size":10},"body":{}}}`,
		`{"body.en":["a wall of <em>stones</em>"]}`},
	{`{"bool":{"must":{"match":{"body":"quick"}},"must_not":{"match":{"body":"nothing"}},"filter":{"wildcard":{"body":"st?nes"}}}}`, `{"fields":{"body":{"fragment_size":25}}}`,
		`{"body":["The <em>quick</em> fox ran.","dog lay behind a wall of <em>stones</em>"]}`},
	{`{"constant_score":{"filter":{"fuzzy":{"body":"quack"}}}}`, `{"fields":[{"body":{}},{"list":{}}]}`,
		`{"body":["The <em>quick</em> fox ran."]}`},
	{`{"function_score":{"query":{"regexp":{"body":"qu.*"}},"weight":2}}`, `{"fields":{"body":{}},"phrase_limit":9,"max_analyzed_offset":1000}`,
		`{"body":["The <em>quick</em> fox ran."]}`},
	{`{"simple_query_string":{"query":"slept | wood","fields":["body"]}}`, `{"fields":{"body":{"fragment_size":18}}}`,
		`{"body":["A dog <em>slept</em>!","of stones and old <em>wood</em>"]}`},
	{`{"multi_match":{"query":"fox","fields":["body","list^2"]}}`, `{"fields":{"*":{"number_of_fragments":1,"fragment_size":10}}}`,
		`{"body":["The quick <em>fox</em>"],"list":["<em>fox</em> <em>fox</em>"]}`},
	{`{"match_all":{}}`, `{"fields":{"*":{}}}`,
		`null`},
	{`{"match":{"_all":"renard"}}`, `{"fields":{"fr.body":{"require_field_match":false}}}`,
		`{"fr.body":["Le <em>renard</em> brun"]}`},
}

// placeCases are bodyCases of sorts by distance.
var placeCases = []bodyCase{
	{`{"sources":["x"],"contentTypes":["page"],"sort":[{"_geo_distance":{"place":"50,5","unit":"km"}},"_id"]}`, "hits.hits",
		`[{"_id":"a","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[71.47,"a"]},{"_id":"s","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[71.47,"s"]},{"_id":"d","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[14435.04,"d"]},{"_id":"m","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","m"]},{"_id":"n","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","n"]},{"_id":"x","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","x"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"sort":[{"_geo_distance":{"place":[[5,50],"60,11"],"order":"desc","mode":"max","distance_type":"plane","unit":"km"}},"_id"]}`, "hits.hits",
		`[{"_id":"m","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","m"]},{"_id":"n","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","n"]},{"_id":"x","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","x"]},{"_id":"d","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[13276.03,"d"]},{"_id":"a","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[71.47,"a"]},{"_id":"s","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[71.47,"s"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":3,"sort":[{"_geo_distance":{"sub.place":{"lat":60,"lon":10},"nested":{"path":"sub"},"unit":"mi","mode":"avg"}},"_id"]}`, "hits.hits",
		`[{"_id":"a","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[0,"a"]},{"_id":"s","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[729.98,"s"]},{"_id":"d","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","d"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":3,"sort":[{"_geo_distance":{"sub.place":"60,10","nested":{"path":"sub","filter":{"term":{"sub.kw":"blue"}}},"unit":"km"}},"_id"]}`, "hits.hits",
		`[{"_id":"a","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[0,"a"]},{"_id":"d","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","d"]},{"_id":"m","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","m"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":2,"sort":[{"_geo_distance":{"place":"50,5","unit":"km"}},"_id"],"search_after":[71.47469,"a"]}`, "hits.hits",
		`[{"_id":"d","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[14435.04,"d"]},{"_id":"m","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","m"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":2,"sort":[{"_geo_distance":{"place":"50,5"}},"_id"],"search_after":["Infinity","m"]}`, "hits.hits",
		`[{"_id":"n","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","n"]},{"_id":"x","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":["Infinity","x"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":2,"sort":[{"sub.num":{"order":"desc","nested":{"path":"sub","filter":{"term":{"sub.kw":"blue"}}},"missing":"_last"}},"_id"]}`, "hits.hits",
		`[{"_id":"a","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[5,"a"]},{"_id":"d","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[null,"d"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":2,"sort":[{"sub.dbl":{"order":"asc","nested":{"path":"sub"},"mode":"sum","missing":100}},"_id"]}`, "hits.hits",
		`[{"_id":"s","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[1.5,"s"]},{"_id":"x","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[1.5,"x"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":2,"sort":[{"nowhere":{"order":"asc","unmapped_type":"long","missing":3}},"_id"]}`, "hits.hits",
		`[{"_id":"a","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[3,"a"]},{"_id":"d","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[3,"d"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":2,"sort":[{"sub.dbl":{"mode":"avg","order":"desc","nested_path":"sub"}},{"_id":"desc"}]}`, "hits.hits",
		`[{"_id":"a","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[7.25,"a"]},{"_id":"x","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[1.5,"x"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":2,"sort":[{"day":{"missing":"_first"}},"_id"]}`, "hits.hits",
		`[{"_id":"d","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[null,"d"]},{"_id":"m","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[null,"m"]}]`},
	{`{"sources":["x"],"contentTypes":["page"],"size":2,"sort":[{"flag":"desc"},"_id"]}`, "hits.hits",
		`[{"_id":"a","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[1,"a"]},{"_id":"s","_index":"one","_score":null,"_source":{"_contenttype":"page"},"sort":[1,"s"]}]`},
}

// rounded rounds numbers to two places: an engine keeps points as exactly as it
// can, and distances vary by less than a meter.
func rounded(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = rounded(v[k])
		}
	case float64:
		return math.Round(v*100) / 100
	}
	return v
}
