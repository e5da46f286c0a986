package mapping_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

func plan(tb testing.TB, s search.Settings) (*mapping.Plan, *mapping.Registry) {
	tb.Helper()
	set, err := analysis.NewSet(s)
	if err != nil {
		tb.Fatal(err)
	}
	reg := mapping.NewRegistry()
	p, err := mapping.NewPlan(reg, set, s)
	if err != nil {
		tb.Fatal(err)
	}
	return p, reg
}

var families = [...]string{"text", "keyword", "long", "double", "date", "boolean", "geo"}

// walk gives the values of a document as "object:path:family=value".
func walk(t *testing.T, p *mapping.Plan, raw string) []string {
	t.Helper()
	var r mapping.Record
	if err := p.Walk(&search.Doc{Key: search.Key{Type: "page", OUUID: "1"}, Raw: []byte(raw)}, &r); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	var out []string
	for _, v := range r.Values[2:] {
		value := string(v.Text)
		if v.Field.Family.Numeric() {
			value = fmt.Sprint(v.Num)
		}
		name := v.Field.Path
		if r.Objects[v.Object].Space != v.Field.Space {
			t.Errorf("%s: a value of %s is in an object of %q", raw, name, r.Objects[v.Object].Space.Path)
		}
		out = append(out, fmt.Sprintf("%d:%s:%s=%s", v.Object, name, families[v.Field.Family], value))
	}
	return out
}

func TestWalk(t *testing.T) {
	fields := []search.Field{
		{Path: "title", Kind: search.KindText, Fields: []search.Field{{Path: "raw", Kind: search.KindKeyword, IgnoreAbove: 5}}, CopyTo: []string{"sum", "other", "_all"}},
		{Path: "sum", Kind: search.KindKeyword},
		{Path: "n", Kind: search.KindLong}, {Path: "d", Kind: search.KindDouble}, {Path: "b", Kind: search.KindBoolean},
		{Path: "day", Kind: search.KindDate, Format: "yyyy/MM/dd"},
		{Path: "parts.name", Kind: search.KindKeyword, CopyTo: []string{"parts.all", "sum"}},
		{Path: "parts", Kind: search.KindNested},
		{Path: "parts.all", Kind: search.KindText},
		{Path: "auto", Kind: search.KindCompletion},
		{Path: "geo", Kind: "geo_point"},
		{Path: "off", Kind: search.KindKeyword, NoIndex: true},
	}
	p, _ := plan(t, search.Settings{Types: map[string][]search.Field{"page": fields}})
	for _, c := range []struct{ in, want string }{
		{`{"title":"abc"}`, "0:title:text=abc 0:_all:text=abc 0:title.raw:keyword=abc 0:sum:keyword=abc 0:other:text=abc"},
		{`{"title":["abcdef",null,7]}`, "0:title:text=abcdef 0:_all:text=abcdef 0:sum:keyword=abcdef 0:other:text=abcdef 0:title:text=7 0:_all:text=7 0:title.raw:keyword=7 0:sum:keyword=7 0:other:text=7"},
		{`{"n":"12","d":3,"b":"true"}`, "0:n:long=12 0:d:double=3 0:b:boolean=1"},
		{`{"n":12.9}`, "0:n:long=12"},
		{`{"n":"x","b":"maybe","day":"2024-01-01"}`, "0:n:keyword=x 0:b:keyword=maybe 0:day:keyword=2024-01-01"},
		{`{"n":true}`, "0:n:keyword=true"},
		{`{"day":"2024/01/02"}`, "0:day:date=1.7041536e+12"},
		{`{"parts":[{"name":"x"},{"name":["y","z"],"more":1}]}`, "1:parts.name:keyword=x 0:_all:text=x 1:parts.all:text=x 0:sum:keyword=x " +
			"2:parts.name:keyword=y 0:_all:text=y 2:parts.all:text=y 0:sum:keyword=y 2:parts.name:keyword=z 0:_all:text=z 2:parts.all:text=z 0:sum:keyword=z 2:parts.more:long=1"},
		{`{"auto":{"input":["a b","c"],"weight":3}}`, "0:auto:text=a b 0:auto:text=c"},
		{`{"auto":"a"}`, "0:auto:text=a"},
		{`{"geo":{"lat":-90,"lon":-180},"off":"x"}`, "0:geo:geo=-9.007199254740992e+15"},
		{`{"geo":[[-180,-90],"90,180","a!",{"lat":91,"lon":0},null]}`, "0:geo:geo=-9.007199254740992e+15 0:geo:geo=9.007199254740991e+15"},
		{`{"x":{"y":[{"z":"v"}]}}`, "0:x.y.z:text=v 0:_all:text=v 0:x.y.z.keyword:keyword=v"},
		{`{"w":"2024-01-02","v":"2024","u":1,"t":1.0,"s":true}`, "0:w:date=1.7041536e+12 0:v:text=2024 0:_all:text=2024 0:v.keyword:keyword=2024 0:u:long=1 0:t:double=1 0:s:boolean=1"},
		{`{"_sha1":"ab","_contenttype":"no","_id":"no","_all":"no"}`, "0:_sha1.keyword:keyword=ab 0:_sha1:keyword=ab"},
		{`{"q":1e999}`, "0:q:keyword=1e999"},
		{`{"esc":"a\u00e9\n"}`, "0:esc:text=aé\n 0:_all:text=aé\n 0:esc.keyword:keyword=aé\n"},
		{`{"l":"` + strings.Repeat("é", 257) + `"}`, "0:l:text=" + strings.Repeat("é", 257) + " 0:_all:text=" + strings.Repeat("é", 257)},
	} {
		if got := strings.Join(walk(t, p, c.in), " "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestTextsSurviveTheArena(t *testing.T) {
	p, _ := plan(t, search.Settings{NoAll: true})
	var in, want []string
	for i := range 200 {
		in = append(in, fmt.Sprintf(`"k%d":"\t%s"`, i, strings.Repeat("x", i)))
		want = append(want, fmt.Sprintf("0:k%d:text=\t%s", i, strings.Repeat("x", i)), fmt.Sprintf("0:k%d.keyword:keyword=\t%s", i, strings.Repeat("x", i)))
	}
	if got := walk(t, p, "{"+strings.Join(in, ",")+"}"); !slices.Equal(got, want) {
		t.Error("a text was overwritten by a later one")
	}
}

func TestKeysThatAreDataAreBounded(t *testing.T) {
	p, reg := plan(t, search.Settings{})
	var r mapping.Record
	for i := range 300 {
		var b strings.Builder
		for k := range 100 {
			fmt.Fprintf(&b, `"key%d_%d":"v",`, i, k)
		}
		doc := search.Doc{Key: search.Key{Type: "page"}, Raw: []byte(`{` + b.String() + `"last":1}`)}
		if err := p.Walk(&doc, &r); err != nil {
			t.Fatal(err)
		}
	}
	if !reg.Full {
		t.Error("30,000 keys became fields")
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	for what, f := range map[string]search.Field{
		"kind":     {Path: "a", Kind: "nope"},
		"sub-kind": {Path: "a", Kind: search.KindText, Fields: []search.Field{{Path: "b", Kind: "nope"}}},
		"analyzer": {Path: "a", Kind: search.KindText, Analyzer: "nope"},
		"searcher": {Path: "a", Kind: search.KindText, SearchAnalyzer: "nope"},
		"format":   {Path: "a", Kind: search.KindDate, Format: "QQQ"},
		"path":     {Path: "", Kind: search.KindText},
	} {
		s := search.Settings{Types: map[string][]search.Field{"page": {f}}}
		set, err := analysis.NewSet(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mapping.NewPlan(mapping.NewRegistry(), set, s); !problem.Is(err, problem.Invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
