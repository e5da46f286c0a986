package analysis_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
)

func settings(parts map[string]map[string]string) search.Settings {
	read := func(kind string) map[string]json.RawMessage {
		m := map[string]json.RawMessage{}
		for name, raw := range parts[kind] {
			m[name] = json.RawMessage(raw)
		}
		return m
	}
	return search.Settings{Analyzers: read("analyzer"), Filters: read("filter"), Tokenizers: read("tokenizer"), CharFilters: read("char_filter")}
}

// demo are entities as a real project has them.
var demo = map[string]map[string]string{
	"analyzer": {
		"alpha_order": `{"type":"custom","tokenizer":"keyword","filter":["asciifolding","lowercase"],"char_filter":[]}`,
		"french":      `{"type":"custom","tokenizer":"standard","filter":["standard","lowercase","french_elision","french_stop","french_stemmer"],"char_filter":["html_strip"]}`,
		"dutch":       `{"type":"custom","tokenizer":"standard","filter":["lowercase","dutch_stemmer","dutch_stop","empty_elision"]}`,
		"german":      `{"type":"custom","tokenizer":"standard","filter":["lowercase","german_stemmer"]}`,
		"synonyms":    `{"type":"custom","tokenizer":"standard","filter":["lowercase","business"]}`,
		"contracted":  `{"type":"custom","tokenizer":"standard","filter":["lowercase","to_one"]}`,
		"pieces":      `{"type":"custom","tokenizer":"edges","filter":["lowercase"]}`,
		"mapped":      `{"type":"custom","tokenizer":"whitespace","char_filter":["signs","digits"]}`,
		"pairs":       `{"type":"custom","tokenizer":"standard","filter":["lowercase","pairs"]}`,
		"own_stops":   `{"type":"standard","stopwords":["foo","bar"]}`,
	},
	"filter": {
		"french_elision": `{"type":"elision","articles":["l","m","t","qu","n","s","j","d","c"],"articles_case":false}`,
		"french_stop":    `{"type":"stop","stopwords":"_french_","ignore_case":false,"remove_trailing":true}`,
		"french_stemmer": `{"type":"stemmer","name":"light_french"}`,
		"dutch_stemmer":  `{"type":"stemmer","name":"dutch"}`,
		"dutch_stop":     `{"type":"stop","stopwords":"_dutch_"}`,
		"german_stemmer": `{"type":"stemmer","name":"light_german"}`,
		"empty_elision":  `{"type":"elision","articles":[""],"articles_case":false}`,
		"business":       `{"type":"synonym","synonyms":["ipod, i-pod, ipod","ElasticMS,EMS"]}`,
		"to_one":         `{"type":"synonym","synonyms":["sea biscuit => seabiscuit","colour => color, tint"]}`,
		"pairs":          `{"type":"shingle","max_shingle_size":2,"output_unigrams":false}`,
	},
	"tokenizer":   {"edges": `{"type":"edge_ngram","min_gram":2,"max_gram":"3","token_chars":["letter"]}`},
	"char_filter": {"signs": `{"type":"mapping","mappings":["& => and",":) => _smile_"]}`, "digits": `{"type":"pattern_replace","pattern":"(\\d+)-(\\d+)","replacement":"$1_$2"}`},
}

func TestAnalyzers(t *testing.T) {
	set, err := analysis.NewSet(settings(demo))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ analyzer, text, want string }{
		{"", "The QUICK brown-fox's 3.14 e-mail, a_b c:d", "the quick brown fox's 3.14 e mail a_b c:d"},
		{"standard", "L’été à Genève", "l’été à genève"},
		{"standard", "東京 tower", "東 京 tower"},
		{"standard", "Ship it 🎉🚀 to 🇧🇪, with ❤️ © 2026 👩‍🚀.", "ship it 🎉 🚀 to 🇧🇪 with ❤ 2026 👩 🚀"},
		{"keyword", "As It is", "As It is"},
		{"whitespace", "As  It\tis", "As It is"},
		{"simple", "As2It is!", "as it is"},
		{"stop", "The end of IT", "end"},
		{"english", "The foxes' running dogs and cats", "fox run dog cat"},
		{"french", "<p>L&rsquo;administration des&nbsp;<b>for</b>mulaires</p><br>élèves", "administ formulair elev"},
		{"dutch", "De diensten van de burgers", "dienst burger"},
		{"german", "Die Häuser der Städte", "die haus der stadt"},
		{"alpha_order", "Éléphant Bleu", "elephant bleu"},
		{"synonyms", "my iPod works with ems", "my ipod i pod works with elasticms ems"},
		{"contracted", "the sea biscuit has a colour", "the seabiscuit has a color tint"},
		{"pieces", "Quick fox", "qu qui fo fox"},
		{"mapped", "you & me 12-34 :)", "you and me 12_34 _smile_"},
		{"pairs", "one two three", "one two|two three"},
		{"own_stops", "Foo fighters bar", "fighters"},
	}
	for _, c := range cases {
		a, err := set.Get(c.analyzer)
		if err != nil {
			t.Errorf("%s: %v", c.analyzer, err)
			continue
		}
		terms, _ := a.Terms(c.text)
		sep := " "
		if strings.Contains(c.want, "|") {
			sep = "|"
		}
		if got := strings.Join(terms, sep); got != c.want {
			t.Errorf("%s of %q: got %q, want %q", c.analyzer, c.text, got, c.want)
		}
	}
}

func TestOffsetsPointIntoTheOriginal(t *testing.T) {
	set, err := analysis.NewSet(settings(demo))
	if err != nil {
		t.Fatal(err)
	}
	a, err := set.Get("french")
	if err != nil {
		t.Fatal(err)
	}
	text := "<p>Une <b>mai</b>son &eacute;norme, l'école</p>"
	terms, tokens := a.Terms(text)
	var got []string
	for i, tok := range tokens {
		got = append(got, terms[i]+"="+text[tok.Start:tok.End])
	}
	want := "maison=mai</b>son enorm=&eacute;norme ecol=l'école"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPositionsKeepGaps(t *testing.T) {
	set, err := analysis.NewSet(search.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := set.Get("english")
	if err != nil {
		t.Fatal(err)
	}
	_, tokens := a.Terms("the end of the world")
	if len(tokens) != 2 || tokens[0].Pos != 1 || tokens[1].Pos != 4 {
		t.Errorf("got %+v", tokens)
	}
}

func TestEveryLanguageHasItsAnalyzer(t *testing.T) {
	set, err := analysis.NewSet(search.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq("arabic armenian basque brazilian bulgarian catalan cjk czech danish dutch english finnish french " +
		"galician german greek hindi hungarian indonesian irish italian norwegian persian portuguese romanian russian sorani spanish swedish turkish") {
		a, err := set.Get(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if terms, _ := a.Terms("Quoin 1234"); len(terms) != 2 {
			t.Errorf("%s: %q", name, terms)
		}
	}
}

func TestWhatIsUnknownIsRefused(t *testing.T) {
	cases := []map[string]map[string]string{
		{"analyzer": {"x": `{"tokenizer":"nope"}`}},
		{"analyzer": {"x": `{"tokenizer":"standard","filter":["nope"]}`}},
		{"analyzer": {"x": `{"tokenizer":"standard","char_filter":["nope"]}`}},
		{"analyzer": {"x": `{"type":"nope"}`}},
		{"analyzer": {"x": `{"tokenizer":"standard","surprise":1}`}},
		{"analyzer": {"x": `"text"`}},
		{"analyzer": {"x": `{"filter":["f"]}`}, "filter": {"f": `{"type":"stemmer","name":"klingon"}`}},
		{"analyzer": {"x": `{"filter":["f"]}`}, "filter": {"f": `{"type":"stop","stopwords":"_klingon_"}`}},
		{"analyzer": {"x": `{"filter":["f"]}`}, "filter": {"f": `{"type":"shingle","min_shingle_size":3}`}},
		{"analyzer": {"x": `{"filter":["f"]}`}, "filter": {"f": `{"type":"synonym","synonyms_path":"/etc/passwd"}`}},
	}
	for _, c := range cases {
		if _, err := analysis.NewSet(settings(c)); !problem.Is(err, problem.Invalid) {
			t.Errorf("%v: got %v", c, err)
		}
	}
}

var texts = []string{
	"", "a", "can't stop 3,14 1.000,5 a.b.c a..b x'y 'q' _a_ __ a_1 1a", "l’été ‘quoted’ naïve ŒUVRE ß", "e:mail a:1 1:2 a,b 1,a",
	"Ελλάδα Привет", "日本語 テスト", "a\u0301bc", "soft\u00adhyphen", "x\u00b7y", "bad\xff\xfeutf", "a\u200db",
}

func FuzzStandardEqualsTheSegmenter(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var fast, slow analysis.Buffer
		if !analysis.EuropeanWords(&fast, []byte(text), true) {
			return
		}
		analysis.SegmentWords(&slow, []byte(text), true)
		if len(fast.Tokens) != len(slow.Tokens) {
			t.Fatalf("%q: %d tokens, want %d", text, len(fast.Tokens), len(slow.Tokens))
		}
		for i := range fast.Tokens {
			if fast.Tokens[i] != slow.Tokens[i] || string(fast.Term(fast.Tokens[i])) != string(slow.Term(slow.Tokens[i])) {
				t.Fatalf("%q: token %d is %q, want %q", text, i, fast.Term(fast.Tokens[i]), slow.Term(slow.Tokens[i]))
			}
		}
	})
}

func FuzzAnalyzers(f *testing.F) {
	set, err := analysis.NewSet(settings(demo))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range texts {
		f.Add(s)
	}
	f.Add("<p>a<!-- x --><script>y</script>&eacute;&amp;&nope;</p><b")
	f.Fuzz(func(t *testing.T, text string) {
		for name := range demo["analyzer"] {
			a, err := set.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			_, tokens := a.Terms(text)
			for _, tok := range tokens {
				if tok.Start > tok.End || int(tok.End) > len(text) {
					t.Fatalf("%s of %q: token %+v", name, text, tok)
				}
			}
		}
	})
}

func BenchmarkStandard(b *testing.B) {
	set, err := analysis.NewSet(search.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	a, err := set.Get("standard")
	if err != nil {
		b.Fatal(err)
	}
	text := []byte(strings.Repeat("Le réseau d'information publique, l'été 2024: services & diensten. ", 15))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var buf analysis.Buffer
	for b.Loop() {
		buf.Reset()
		a.Append(&buf, text)
	}
}
