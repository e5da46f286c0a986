package searchtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// shapeSettings map each kind of field once in the documents and once in
// nested objects. Another content type maps some of them otherwise.
func shapeSettings() search.Settings {
	var page []search.Field
	for _, at := range []string{"", "sub."} {
		page = append(page, search.Field{Path: at + "kw", Kind: search.KindKeyword}, search.Field{Path: at + "txt", Kind: search.KindText},
			search.Field{Path: at + "num", Kind: search.KindLong}, search.Field{Path: at + "dbl", Kind: search.KindDouble},
			search.Field{Path: at + "day", Kind: search.KindDate}, search.Field{Path: at + "flag", Kind: search.KindBoolean},
			search.Field{Path: at + "place", Kind: search.KindGeoPoint})
	}
	page = append(page, search.Field{Path: "sub", Kind: search.KindNested})
	return search.Settings{Types: map[string][]search.Field{"page": page,
		"note": {{Path: "kw", Kind: search.KindText}, {Path: "num", Kind: search.KindKeyword}, {Path: "txt", Kind: search.KindKeyword}}}}
}

// shapeDocs hold values alone (s), in arrays (a), of another type than mapped
// (x), null or empty (n), and not at all (m); one document is of a type that
// maps the fields otherwise (o), and one lies at the date line (d).
var shapeDocs = [][2]string{
	{"page:s", `{"kw":"red","txt":"red fox","num":5,"dbl":1.5,"day":"2024-02-01","flag":true,"place":"50,4",
		"sub":{"kw":"red","txt":"red fox","num":5,"dbl":1.5,"day":"2024-02-01","flag":true,"place":{"lat":50,"lon":4}}}`},
	{"page:a", `{"kw":["red","blue"],"txt":["blue dog","red cat"],"num":[5,9],"dbl":[1.5,7.25],"day":["2024-02-01","2024-06-01"],"flag":[true,false],"place":[[4,50],[10,60]],
		"sub":[{"kw":"red","num":9,"txt":"fox","flag":false},{"kw":"blue","num":5,"txt":["blue dog","cat"],"dbl":7.25,"day":"2024-06-01","place":[10,60]}]}`},
	{"page:x", `{"kw":5,"txt":7,"num":"5","dbl":"wide","day":"never","flag":"true","place":"nowhere near",
		"sub":{"kw":5,"txt":true,"num":"x","dbl":"1.5","flag":"perhaps"}}`},
	{"page:n", `{"kw":null,"txt":[],"num":[null],"dbl":null,"day":null,"flag":[],"place":null,"sub":[]}`},
	{"page:m", `{"other":1}`},
	{"page:d", `{"place":{"lat":"0","lon":"180"},"sub":[{},{"kw":"edge"}]}`},
	{"note:o", `{"kw":"red wine","txt":"red fox","num":"5","dbl":1.5,"flag":true}`},
}

// shapes checks each clause over values of all shapes.
func shapes(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", shapeSettings(), shapeDocs...)
	for _, c := range shapeCases {
		b.hits(c.name, "one", hitCase{c.query, c.want})
	}
	for _, c := range []struct{ object, path string }{
		{`{"sort":"place"}`, "sort"},
		{`{"query":{"range":{"place":{"gte":1}}}}`, "query.range"},
		{`{"aggs":{"t":{"terms":{"field":"place"}}}}`, "aggs.t.terms"},
		{`{"aggs":{"t":{"max":{"field":"place"}}}}`, "aggs.t.max"},
		{`{"query":{"function_score":{"gauss":{"place":{"origin":5,"scale":1}}}}}`, "query.function_score.gauss"},
	} {
		b.named("refused "+c.path, func(b *bench) {
			_, err := b.search(target("one"), c.object)
			if p := problem.From(err); !errors.Is(err, errRefused) && (p.Kind != problem.Invalid || len(p.Fields) != 1 || p.Fields[0].Path != c.path) {
				b.t.Errorf("%s: %v", c.object, err)
			}
		})
	}
	for i, c := range placeCases {
		b.named(fmt.Sprintf("body %d", i), func(b *bench) {
			compareJSON(b.t, c.object, rounded(pick(answer(b.mustSearch(target("one"), c.object)), c.path)), c.want)
		})
	}
}

// shapeCases are named queries with their hits, by type and ouuid.
var shapeCases = []struct{ name, query, want string }{
	{"term keyword, in single and array", `{"term":{"kw":"red"}}`, "no pa ps"},
	{"term keyword, second of an array", `{"term":{"kw":"blue"}}`, "pa"},
	{"term keyword, of another type", `{"term":{"kw":"5"}}`, "px"},
	{"term keyword, nested", `{"nested":{"path":"sub","query":{"term":{"sub.kw":"red"}}}}`, "pa ps"},
	{"term keyword, nested field from outside", `{"term":{"sub.kw":"red"}}`, ""},
	{"terms keyword, any of three", `{"terms":{"kw":["red","blue","5"]}}`, "no pa ps px"},
	{"terms keyword, none", `{"terms":{"kw":[]}}`, ""},
	{"exists keyword", `{"exists":{"field":"kw"}}`, "no pa ps px"},
	{"not exists keyword", `{"bool":{"must_not":[{"exists":{"field":"kw"}}]}}`, "pd pm pn"},
	{"exists keyword, nested", `{"nested":{"path":"sub","query":{"exists":{"field":"sub.kw"}}}}`, "pa pd ps px"},
	{"match keyword", `{"match":{"kw":"red"}}`, "no pa ps"},
	{"match keyword, as a string", `{"match":{"kw":"blue"}}`, "pa"},
	{"range keyword, closed", `{"range":{"kw":{"gte":"red","lte":"red"}}}`, "no pa ps"},
	{"range keyword, open below", `{"range":{"kw":{"lt":"blue"}}}`, "px"},
	{"range keyword, open above", `{"range":{"kw":{"gt":"red"}}}`, "no"},
	{"range keyword, nested", `{"nested":{"path":"sub","query":{"range":{"sub.kw":{"gte":"red"}}}}}`, "pa ps"},
	{"term text, in single and array", `{"term":{"txt":"red"}}`, "pa ps"},
	{"term text, second of an array", `{"term":{"txt":"dog"}}`, "pa"},
	{"term text, of another type", `{"term":{"txt":"7"}}`, "px"},
	{"term text, nested", `{"nested":{"path":"sub","query":{"term":{"sub.txt":"red"}}}}`, "ps"},
	{"term text, nested field from outside", `{"term":{"sub.txt":"red"}}`, ""},
	{"terms text, any of three", `{"terms":{"txt":["red","dog","7"]}}`, "pa ps px"},
	{"terms text, none", `{"terms":{"txt":[]}}`, ""},
	{"exists text", `{"exists":{"field":"txt"}}`, "no pa ps px"},
	{"not exists text", `{"bool":{"must_not":[{"exists":{"field":"txt"}}]}}`, "pd pm pn"},
	{"exists text, nested", `{"nested":{"path":"sub","query":{"exists":{"field":"sub.txt"}}}}`, "pa ps px"},
	{"match text", `{"match":{"txt":"red"}}`, "pa ps"},
	{"match text, as a string", `{"match":{"txt":"dog"}}`, "pa"},
	{"range text, closed", `{"range":{"txt":{"gte":"red","lte":"red"}}}`, "pa ps"},
	{"range text, open below", `{"range":{"txt":{"lt":"dog"}}}`, "pa px"},
	{"range text, open above", `{"range":{"txt":{"gt":"red"}}}`, "no"},
	{"range text, nested", `{"nested":{"path":"sub","query":{"range":{"sub.txt":{"gte":"red"}}}}}`, "ps px"},
	{"term long, in single and array", `{"term":{"num":5}}`, "no pa ps px"},
	{"term long, second of an array", `{"term":{"num":9}}`, "pa"},
	{"term long, of another type", `{"term":{"num":4}}`, ""},
	{"term long, nested", `{"nested":{"path":"sub","query":{"term":{"sub.num":5}}}}`, "pa ps"},
	{"term long, nested field from outside", `{"term":{"sub.num":5}}`, ""},
	{"terms long, any of three", `{"terms":{"num":[5,9,4]}}`, "no pa ps px"},
	{"terms long, none", `{"terms":{"num":[]}}`, ""},
	{"exists long", `{"exists":{"field":"num"}}`, "no pa ps px"},
	{"not exists long", `{"bool":{"must_not":[{"exists":{"field":"num"}}]}}`, "pd pm pn"},
	{"exists long, nested", `{"nested":{"path":"sub","query":{"exists":{"field":"sub.num"}}}}`, "pa ps px"},
	{"match long", `{"match":{"num":5}}`, "no pa ps px"},
	{"match long, as a string", `{"match":{"num":"9"}}`, "pa"},
	{"range long, closed", `{"range":{"num":{"gte":5,"lte":5}}}`, "no pa ps px"},
	{"range long, open below", `{"range":{"num":{"lt":9}}}`, "no pa ps px"},
	{"range long, open above", `{"range":{"num":{"gt":5}}}`, "pa"},
	{"range long, nested", `{"nested":{"path":"sub","query":{"range":{"sub.num":{"gte":5}}}}}`, "pa ps px"},
	{"term double, in single and array", `{"term":{"dbl":1.5}}`, "no pa ps"},
	{"term double, second of an array", `{"term":{"dbl":7.25}}`, "pa"},
	{"term double, of another type", `{"term":{"dbl":2}}`, ""},
	{"term double, nested", `{"nested":{"path":"sub","query":{"term":{"sub.dbl":1.5}}}}`, "ps px"},
	{"term double, nested field from outside", `{"term":{"sub.dbl":1.5}}`, ""},
	{"terms double, any of three", `{"terms":{"dbl":[1.5,7.25,2]}}`, "no pa ps"},
	{"terms double, none", `{"terms":{"dbl":[]}}`, ""},
	{"exists double", `{"exists":{"field":"dbl"}}`, "no pa ps px"},
	{"not exists double", `{"bool":{"must_not":[{"exists":{"field":"dbl"}}]}}`, "pd pm pn"},
	{"exists double, nested", `{"nested":{"path":"sub","query":{"exists":{"field":"sub.dbl"}}}}`, "pa ps px"},
	{"match double", `{"match":{"dbl":1.5}}`, "no pa ps"},
	{"match double, as a string", `{"match":{"dbl":"7.25"}}`, "pa"},
	{"range double, closed", `{"range":{"dbl":{"gte":1.5,"lte":1.5}}}`, "no pa ps"},
	{"range double, open below", `{"range":{"dbl":{"lt":7.25}}}`, "no pa ps"},
	{"range double, open above", `{"range":{"dbl":{"gt":1.5}}}`, "pa px"},
	{"range double, nested", `{"nested":{"path":"sub","query":{"range":{"sub.dbl":{"gte":1.5}}}}}`, "pa ps px"},
	{"term date, in single and array", `{"term":{"day":"2024-02-01"}}`, "pa ps"},
	{"term date, second of an array", `{"term":{"day":"2024-06-01"}}`, "pa"},
	{"term date, of another type", `{"term":{"day":"2024-01-01"}}`, ""},
	{"term date, nested", `{"nested":{"path":"sub","query":{"term":{"sub.day":"2024-02-01"}}}}`, "ps"},
	{"term date, nested field from outside", `{"term":{"sub.day":"2024-02-01"}}`, ""},
	{"terms date, any of three", `{"terms":{"day":["2024-02-01","2024-06-01","2024-01-01"]}}`, "pa ps"},
	{"terms date, none", `{"terms":{"day":[]}}`, ""},
	{"exists date", `{"exists":{"field":"day"}}`, "pa ps px"},
	{"not exists date", `{"bool":{"must_not":[{"exists":{"field":"day"}}]}}`, "no pd pm pn"},
	{"exists date, nested", `{"nested":{"path":"sub","query":{"exists":{"field":"sub.day"}}}}`, "pa ps"},
	{"match date", `{"match":{"day":"2024-02-01"}}`, "pa ps"},
	{"match date, as a string", `{"match":{"day":"2024-06-01"}}`, "pa"},
	{"range date, closed", `{"range":{"day":{"gte":"2024-02-01","lte":"2024-02-01"}}}`, "pa ps"},
	{"range date, open below", `{"range":{"day":{"lt":"2024-06-01"}}}`, "pa ps"},
	{"range date, open above", `{"range":{"day":{"gt":"2024-02-01"}}}`, "pa px"},
	{"range date, nested", `{"nested":{"path":"sub","query":{"range":{"sub.day":{"gte":"2024-02-01"}}}}}`, "pa ps"},
	{"term boolean, in single and array", `{"term":{"flag":true}}`, "no pa ps px"},
	{"term boolean, second of an array", `{"term":{"flag":false}}`, "pa"},
	{"term boolean, of another type", `{"term":{"flag":"true"}}`, "no pa ps px"},
	{"term boolean, nested", `{"nested":{"path":"sub","query":{"term":{"sub.flag":true}}}}`, "ps"},
	{"term boolean, nested field from outside", `{"term":{"sub.flag":true}}`, ""},
	{"terms boolean, any of three", `{"terms":{"flag":[true,false,"true"]}}`, "no pa ps px"},
	{"terms boolean, none", `{"terms":{"flag":[]}}`, ""},
	{"exists boolean", `{"exists":{"field":"flag"}}`, "no pa ps px"},
	{"not exists boolean", `{"bool":{"must_not":[{"exists":{"field":"flag"}}]}}`, "pd pm pn"},
	{"exists boolean, nested", `{"nested":{"path":"sub","query":{"exists":{"field":"sub.flag"}}}}`, "pa ps px"},
	{"match boolean", `{"match":{"flag":true}}`, "no pa ps px"},
	{"match boolean, as a string", `{"match":{"flag":"false"}}`, "pa"},
	{"prefix keyword", `{"prefix":{"kw":"re"}}`, "no pa ps"},
	{"prefix keyword, nested", `{"nested":{"path":"sub","query":{"prefix":{"sub.kw":"bl"}}}}`, "pa"},
	{"wildcard keyword", `{"wildcard":{"kw":"*u*"}}`, "pa"},
	{"wildcard keyword, one letter", `{"wildcard":{"kw":"r?d"}}`, "no pa ps"},
	{"regexp keyword", `{"regexp":{"kw":"(r|b)[el].*"}}`, "no pa ps"},
	{"fuzzy keyword", `{"fuzzy":{"kw":"rad"}}`, "no pa ps"},
	{"fuzzy keyword, nested", `{"nested":{"path":"sub","query":{"fuzzy":{"sub.kw":"bleu"}}}}`, "pa"},
	{"term keyword, any case", `{"term":{"kw":{"value":"RED","case_insensitive":true}}}`, "no pa ps"},
	{"prefix text", `{"prefix":{"txt":"re"}}`, "no pa ps"},
	{"prefix text, nested", `{"nested":{"path":"sub","query":{"prefix":{"sub.txt":"bl"}}}}`, "pa"},
	{"wildcard text", `{"wildcard":{"txt":"*u*"}}`, "pa"},
	{"wildcard text, one letter", `{"wildcard":{"txt":"r?d"}}`, "pa ps"},
	{"regexp text", `{"regexp":{"txt":"(r|b)[el].*"}}`, "no pa ps"},
	{"fuzzy text", `{"fuzzy":{"txt":"rad"}}`, "pa ps"},
	{"fuzzy text, nested", `{"nested":{"path":"sub","query":{"fuzzy":{"sub.txt":"bleu"}}}}`, "pa"},
	{"term text, any case", `{"term":{"txt":{"value":"RED","case_insensitive":true}}}`, "pa ps"},
	{"match_phrase over an array", `{"match_phrase":{"txt":"dog red"}}`, ""},
	{"match_phrase inside one value", `{"match_phrase":{"txt":"blue dog"}}`, "pa"},
	{"match_phrase, nested", `{"nested":{"path":"sub","query":{"match_phrase":{"sub.txt":"red fox"}}}}`, "ps"},
	{"match_phrase with a wide slop over an array", `{"match_phrase":{"txt":{"query":"dog red","slop":200}}}`, "pa"},
	{"match_phrase_prefix", `{"match_phrase_prefix":{"txt":"red fo"}}`, "ps"},
	{"match_bool_prefix", `{"match_bool_prefix":{"txt":"dog re"}}`, "pa ps"},
	{"match, all words of different values", `{"match":{"txt":{"query":"dog cat","operator":"and"}}}`, "pa"},
	{"match, all words of different objects", `{"nested":{"path":"sub","query":{"match":{"sub.txt":{"query":"dog fox","operator":"and"}}}}}`, ""},
	{"multi_match over families", `{"multi_match":{"query":"5","fields":["kw","num","txt","dbl","flag"]}}`, "no pa ps px"},
	{"multi_match with a pattern", `{"multi_match":{"query":"red","fields":["*"]}}`, "no pa ps"},
	{"multi_match cross_fields", `{"multi_match":{"query":"red dog","type":"cross_fields","operator":"and","fields":["txt","kw"]}}`, "pa"},
	{"multi_match, nested", `{"nested":{"path":"sub","query":{"multi_match":{"query":"red","fields":["sub.*"]}}}}`, "pa ps"},
	{"query_string over families", `{"query_string":{"query":"num:5 AND flag:true"}}`, "no pa ps px"},
	{"query_string, nested", `{"nested":{"path":"sub","query":{"query_string":{"query":"sub.kw:red AND sub.num:[8 TO *]"}}}}`, "pa"},
	{"simple_query_string", `{"simple_query_string":{"query":"dog | fox","fields":["txt"]}}`, "pa ps"},
	{"two conditions on one object", `{"nested":{"path":"sub","query":{"bool":{"must":[{"term":{"sub.kw":"blue"}},{"term":{"sub.num":9}}]}}}}`, ""},
	{"two conditions on any objects", `{"bool":{"must":[{"nested":{"path":"sub","query":{"term":{"sub.kw":"blue"}}}},{"nested":{"path":"sub","query":{"term":{"sub.num":9}}}}]}}`, "pa"},
	{"object without a field", `{"nested":{"path":"sub","query":{"bool":{"must_not":[{"exists":{"field":"sub.txt"}}]}}}}`, "pd"},
	{"no nested object", `{"bool":{"must_not":[{"nested":{"path":"sub","query":{"match_all":{}}}}]}}`, "no pm pn"},
	{"geo_distance, object", `{"geo_distance":{"distance":"1km","place":{"lat":50,"lon":4}}}`, "pa ps"},
	{"geo_distance, text", `{"geo_distance":{"distance":"1km","place":"60,10"}}`, "pa"},
	{"geo_distance, array", `{"geo_distance":{"distance":"1km","place":[10,60]}}`, "pa"},
	{"geo_distance, geohash", `{"geo_distance":{"distance":"50km","place":"u0fu"}}`, "pa ps"},
	{"geo_distance, miles", `{"geo_distance":{"distance":50,"unit":"mi","place":"50.5,4"}}`, "pa ps"},
	{"geo_distance, too near", `{"geo_distance":{"distance":"50km","place":"50.5,4"}}`, ""},
	{"geo_distance, far", `{"geo_distance":{"distance":"2000km","place":"50.5,4","distance_type":"plane"}}`, "pa ps"},
	{"geo_distance over the date line", `{"geo_distance":{"distance":"30km","place":"0,-179.9"}}`, "pd"},
	{"geo_distance, nested", `{"nested":{"path":"sub","query":{"geo_distance":{"distance":"1km","sub.place":"50,4"}}}}`, "ps"},
	{"geo_distance, not a point", `{"geo_distance":{"distance":"1km","kw":"50,4"}}`, ""},
	{"geo_distance, not", `{"bool":{"must_not":[{"geo_distance":{"distance":"1km","place":{"lat":50,"lon":4}}}]}}`, "no pd pm pn px"},
	{"geo_bounding_box", `{"geo_bounding_box":{"place":{"top_left":"51,3","bottom_right":"49,5"}}}`, "pa ps"},
	{"geo_bounding_box, other corners", `{"geo_bounding_box":{"place":{"top_right":[11,61],"bottom_left":{"lat":49,"lon":3}}}}`, "pa ps"},
	{"geo_bounding_box, sides", `{"geo_bounding_box":{"place":{"top":61,"left":9,"bottom":59,"right":11},"type":"indexed"}}`, "pa"},
	{"geo_bounding_box over the date line", `{"geo_bounding_box":{"place":{"top":1,"left":179,"bottom":-1,"right":-179}}}`, "pd"},
	{"geo_bounding_box, the other way round", `{"geo_bounding_box":{"place":{"top":1,"left":-179,"bottom":-1,"right":179}}}`, ""},
	{"geo_bounding_box, nested", `{"nested":{"path":"sub","query":{"geo_bounding_box":{"sub.place":{"top":51,"left":3,"bottom":49,"right":5}}}}}`, "ps"},
	{"exists geo_point", `{"exists":{"field":"place"}}`, "pa pd ps"},
	{"not exists geo_point", `{"bool":{"must_not":[{"exists":{"field":"place"}}]}}`, "no pm pn px"},
	{"term geo_point", `{"term":{"place":"50,4"}}`, ""},
	{"function_score keeps the hits", `{"function_score":{"query":{"term":{"kw":"red"}},"field_value_factor":{"field":"num","missing":1}}}`, "no pa ps"},
	{"function_score, min_score of a field", `{"function_score":{"field_value_factor":{"field":"num","missing":0},"boost_mode":"replace","min_score":5}}`, "pa ps px"},
	{"function_score, min_score of a filter", `{"function_score":{"functions":[{"filter":{"term":{"flag":true}},"weight":3}],"min_score":2}}`, "no pa ps px"},
	{"function_score, decay of a place", `{"function_score":{"query":{"exists":{"field":"place"}},"gauss":{"place":{"origin":"50,4","scale":"100km"}},"min_score":0.9}}`, "pa ps"},
	{"function_score, nested", `{"nested":{"path":"sub","score_mode":"max","query":{"function_score":{"field_value_factor":{"field":"sub.num","missing":0},"boost_mode":"replace","min_score":6}}}}`, "pa"},
	{"boosting", `{"boosting":{"positive":{"term":{"kw":"red"}},"negative":{"term":{"flag":true}},"negative_boost":0.1}}`, "no pa ps"},
	{"constant_score of a nested clause", `{"constant_score":{"filter":{"nested":{"path":"sub","query":{"term":{"sub.num":5}}}}}}`, "pa ps"},
	{"dis_max of a nested clause and another", `{"dis_max":{"queries":[{"nested":{"path":"sub","query":{"term":{"sub.kw":"blue"}}}},{"term":{"num":"5"}}]}}`, "no pa ps px"},
	{"minimum_should_match 2", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"2"}}`, "no pa ps px"},
	{"minimum_should_match -1", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"-1"}}`, "no pa ps"},
	{"minimum_should_match 75%", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"75%"}}`, "no pa ps"},
	{"minimum_should_match -25%", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"-25%"}}`, "no pa ps"},
	{"minimum_should_match 2<75%", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"2<75%"}}`, "no pa ps"},
	{"minimum_should_match 2<75% 9<-3", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"2<75% 9<-3"}}`, "no pa ps"},
	{"minimum_should_match 1<-1 3<50%", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"1<-1 3<50%"}}`, "no pa ps px"},
	{"minimum_should_match 3<90%", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"3<90%"}}`, "no pa ps"},
	{"minimum_should_match 0", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"0"}}`, "no pa ps px"},
	{"minimum_should_match 5", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"5"}}`, ""},
	{"minimum_should_match 100%", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"100%"}}`, "pa ps"},
	{"minimum_should_match -100%", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"-100%"}}`, "no pa ps px"},
	{"minimum_should_match 2 < 50%", `{"bool":{"should":[{"term":{"kw":"red"}},{"term":{"txt":"red"}},{"term":{"num":5}},{"term":{"flag":true}}],"minimum_should_match":"2 < 50%"}}`, "no pa ps px"},
	{"minimum_should_match beside must", `{"bool":{"must":[{"term":{"txt":"red"}}],"should":[{"term":{"num":9}},{"term":{"kw":"blue"}}],"minimum_should_match":2}}`, "pa"},
	{"minimum_should_match of words", `{"match":{"txt":{"query":"red blue cat dog","minimum_should_match":"75%"}}}`, "pa"},
	{"minimum_should_match of few words", `{"match":{"txt":{"query":"red blue","minimum_should_match":"2<75%"}}}`, "pa"},
}
