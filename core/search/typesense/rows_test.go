package typesense_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/typesense"
)

// TestRows says what becomes of a document: each value in the column of its
// family, extremes for sorts, paths, doubles, and nested objects in rows of
// their own.
func TestRows(t *testing.T) {
	s := nestedSettings()
	s.Types["page"] = append(s.Types["page"], search.Field{Path: "body", Kind: search.KindText, Analyzer: "english"})
	raw := `{"tag":["b","a","b"],"n":[2,1,2],"flag":true,"body":"The running dogs","title":"Été","items":[{"a":1,"sub":{"b":"x"}},{"a":2}]}`
	main, nested, err := typesense.MakeRows(s, doc("page:1", raw).Doc)
	must(t, err)
	row := []byte(main)
	for key, want := range map[string]string{
		"id": `"page1m1d"`, "_key": `"page:1"`, "_ref": fmt.Sprint(len(raw)),
		"k_tag": `["va","vb"]`, "sk_tag": `"va"`, "sk_tag_max": `"vb"`,
		"l_n": fmt.Sprintf("[%d,%d]", typesense.EncodeNumber(1), typesense.EncodeNumber(2)), "sn_n_max": fmt.Sprint(typesense.EncodeNumber(2)),
		"_dup": `["vn"]`, "b_flag": fmt.Sprintf("[%d]", typesense.EncodeNumber(1)),
		"t_title": `["` + typesense.EncodeToken("été") + `"]`, "k_title_dkeyword": `["` + typesense.EncodeKeyword("Été") + `"]`,
	} {
		got, _ := rawjson.Get(row, key)
		if string(got) != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if !strings.Contains(main, `"t_body_a`) || strings.Contains(main, `"t_body":`) || !strings.Contains(main, `["run dog"]`) {
		t.Errorf("a text with an analyzer of its own: %s", main)
	}
	if len(nested) != 3 {
		t.Fatalf("%d nested rows: %q", len(nested), nested)
	}
	for i, want := range []string{
		`"_root":"page1m1d","_up":"page1m1d","_path":"vitems"`,
		`"_root":"page1m1d","_up":"page1m1dx1","_path":"vitems1asub"`,
		`"_root":"page1m1d","_up":"page1m1d","_path":"vitems"`,
	} {
		if !strings.Contains(nested[i], want) {
			t.Errorf("nested row %d is %s, want %s in it", i, nested[i], want)
		}
	}
}

func BenchmarkRows(b *testing.B) {
	raw := `{"tag":["b","a"],"n":2,"title":"A title of some words","body":"` + strings.Repeat("words of a longer text ", 40) + `","items":[{"a":1},{"a":2}]}`
	make, err := typesense.RowMaker(nestedSettings())
	if err != nil {
		b.Fatal(err)
	}
	d := doc("page:1", raw).Doc
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if err := make(d); err != nil {
			b.Fatal(err)
		}
	}
}
