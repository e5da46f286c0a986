package search_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/quoin-cms/quoin/modules/search"
)

// analyzers is a site with analyzers of its own.
func analyzers(t *testing.T) *server {
	t.Helper()
	s := start(t)
	entity := func(kind, class, name, options string) {
		t.Helper()
		s.post("/api/admin/"+kind+"/"+name, `{"class":"EMS\\CoreBundle\\Entity\\`+class+`","arguments":[],"properties":{"name":"`+name+`","label":"`+name+`","options":`+options+`},"replaced":[]}`).is(200)
	}
	entity("filter", "Filter", "few", `{"type":"stop","stopwords":["le","la"]}`)
	entity("filter", "Filter", "grams", `{"type":"edge_ngram","min_gram":1,"max_gram":20}`)
	entity("analyzer", "Analyzer", "plain", `{"type":"custom","tokenizer":"standard","filter":["lowercase","few"],"char_filter":["html_strip"]}`)
	entity("analyzer", "Analyzer", "begins", `{"type":"custom","tokenizer":"standard","filter":["lowercase","grams"]}`)
	s.contentType("page", "ROLE_USER", `title:TextString:{"analyzer":"plain"}`, "category:Choice", "n:Integer")
	s.contentType("memo", "ROLE_USER", `category:TextString:{"analyzer":"plain"}`)
	s.must(s.index.RefreshAll(t.Context()))
	return s
}

// tokens gives what analyze answers: "term@start-end#position …".
func (a *answer) tokens() string {
	a.t.Helper()
	var out struct {
		Tokens []struct {
			Token       string
			Position    int
			StartOffset int `json:"start_offset"`
			EndOffset   int `json:"end_offset"`
		}
	}
	if err := json.Unmarshal(a.is(200).body, &out); err != nil {
		a.t.Fatal(err)
	}
	list := make([]string, len(out.Tokens))
	for i, k := range out.Tokens {
		list[i] = k.Token + "@" + strconv.Itoa(k.StartOffset) + "-" + strconv.Itoa(k.EndOffset) + "#" + strconv.Itoa(k.Position)
	}
	return strings.Join(list, " ")
}

func TestAnalyze(t *testing.T) {
	s := analyzers(t)
	for _, c := range []struct{ body, want string }{
		{`{"text":"Le Coin"}`, "le@0-2#0 coin@3-7#1"},
		{`{"text":"Le Coin","parameters":[]}`, "le@0-2#0 coin@3-7#1"},
		{`{"index":null,"text":"Le Coin","parameters":null}`, "le@0-2#0 coin@3-7#1"},
		{`{"index":"quoin_preview","text":"Le <b>Coin</b>","parameters":{"analyzer":"plain"}}`, "coin@6-10#1"},
		{`{"index":"quoin_*","text":"Le Coin","parameters":{"analyzer":"plain"}}`, "coin@3-7#1"},
		{`{"index":"` + s.indexOf("quoin_preview") + `","text":"running dogs","parameters":{"analyzer":"english"}}`, "run@0-7#0 dog@8-12#1"},
		{`{"text":"Le Coin","parameters":{"field":"title"}}`, "coin@3-7#1"},
		{`{"text":"Le Coin","parameters":{"field":"n"}}`, "Le Coin@0-7#0"},
		{`{"text":"Le Coin","parameters":{"tokenizer":"whitespace"}}`, "Le@0-2#0 Coin@3-7#1"},
		{`{"text":"Le Coin","parameters":{"tokenizer":"standard","filter":["lowercase","few"]}}`, "coin@3-7#1"},
		{`{"text":"La Vie","parameters":{"filter":"uppercase"}}`, "LA@0-2#0 VIE@3-6#1"},
		{`{"text":"a <i>b</i>","parameters":{"tokenizer":"keyword","char_filter":["html_strip"]}}`, "a b@0-6#0"},
		{`{"text":"ab","parameters":{"filter":["grams"]}}`, "a@0-2#0 ab@0-2#0"},
		{`{"text":"é 😀 x","parameters":{"analyzer":"whitespace"}}`, "é@0-1#0 😀@2-4#1 x@5-6#2"},
		{`{"text":""}`, ""},
	} {
		if got := s.post("/api/search/analyze", c.body).tokens(); got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
	if got := string(s.post("/api/search/analyze", `{"text":"a 12"}`).is(200).body); got != `{"tokens":[{"token":"a","start_offset":0,"end_offset":1,"type":"<ALPHANUM>","position":0},{"token":"12","start_offset":2,"end_offset":4,"type":"<NUM>","position":1}]}` {
		t.Errorf("%s", got)
	}
	long := strings.Repeat("abcdefgh ", 1<<20/9)
	if a := s.post("/api/search/analyze", `{"text":"`+long+`"}`).is(200); a.raw("tokens.0.token") != `"abcdefgh"` {
		t.Errorf("a text of 1 MiB: %.100s", a.body)
	}
}

func TestFilterStopWords(t *testing.T) {
	s := analyzers(t)
	many, err := json.Marshal(strings.Fields(strings.Repeat("le coin ", 5000)))
	s.must(err)
	for _, c := range []struct{ body, want string }{
		{`{"index":"quoin_preview","analyzer":"plain","words":["Le","Coin","la","VIE","le chat",""]}`, `{"filtered":["Coin","VIE","le chat"]}`},
		{`{"index":"quoin_preview","analyzer":"french","words":["le","coin"]}`, `{"filtered":["coin"]}`},
		{`{"index":"quoin_preview","analyzer":"plain","words":[]}`, `{"filtered":[]}`},
		{`{"index":"quoin_preview","analyzer":"plain","words":null}`, `{"filtered":[]}`},
		{`{"index":"quoin_preview","analyzer":"plain","words":["le"]}`, `{"filtered":[]}`},
		{`{"index":"quoin_preview","analyzer":"plain"}`, `{"filtered":[]}`},
		{`{"index":"quoin_preview","analyzer":"plain","words":` + string(many) + `}`, `{"filtered":["coin` + strings.Repeat(`","coin`, 4999) + `"]}`},
	} {
		if got := string(s.post("/api/search/filter-stop-words", c.body).is(200).body); got != c.want {
			t.Errorf("%.100s: %.200s, want %.200s", c.body, got, c.want)
		}
	}
}

func TestAnalyzeBadInput(t *testing.T) {
	s := analyzers(t)
	s.user("noapi", "ROLE_ADMIN")
	parameters := func(p string) string { return `{"text":"x","parameters":` + p + `}` }
	long := strings.Repeat("a", 70_000)
	for _, c := range []struct {
		path, body string
		status     int
		tells      string
	}{
		{"analyze", ``, 400, "body"},
		{"analyze", `[]`, 400, "text"},
		{"analyze", `{"text":null}`, 400, "text"},
		{"analyze", `{"text":["a"]}`, 400, "text"},
		{"analyze", `{"text":"` + strings.Repeat("a", 1<<20+1) + `"}`, 400, "1048576"},
		{"analyze", `{"text":"` + strings.Repeat("a", 9<<20) + `"}`, 413, ""},
		{"analyze", `{"text":"` + strings.Repeat("a ", 300_000) + `"}`, 400, "tokens"},
		{"analyze", `{"text":"\ud800"}`, 400, "surrogate"},
		{"analyze", `{"text":"x","index":5}`, 400, "index"},
		{"analyze", `{"text":"x","index":"quoin_nowhere"}`, 404, "quoin_nowhere"},
		{"analyze", parameters(`"standard"`), 400, "parameters"},
		{"analyze", parameters(`{"analyzer":"nonsense"}`), 400, "nonsense"},
		{"analyze", parameters(`{"analyzer":5}`), 400, "parameters.analyzer"},
		{"analyze", parameters(`{"analyzer":"standard","tokenizer":"standard"}`), 400, "exclude"},
		{"analyze", parameters(`{"analyzer":"standard","field":"title"}`), 400, "exclude"},
		{"analyze", parameters(`{"field":"nowhere"}`), 400, "nowhere"},
		{"analyze", parameters(`{"field":"category"}`), 400, "different"},
		{"analyze", parameters(`{"explain":true}`), 400, "parameters.explain"},
		{"analyze", parameters(`{"tokenizer":"nonsense"}`), 400, "nonsense"},
		{"analyze", parameters(`{"tokenizer":{"type":"ngram"}}`), 400, "parameters.tokenizer"},
		{"analyze", parameters(`{"filter":["lowercase","nonsense"]}`), 400, "nonsense"},
		{"analyze", parameters(`{"filter":["lowercase",{"type":"stop"}]}`), 400, "parameters.filter[1]"},
		{"analyze", parameters(`{"filter":["lowercase","lowercase"]}`), 400, "once"},
		{"analyze", parameters(`{"filter":["shingle","ngram"]}`), 400, "only one"},
		{"analyze", parameters(`{"tokenizer":"ngram","filter":["grams"]}`), 400, "only one"},
		{"analyze", parameters(`{"char_filter":["nonsense"]}`), 400, "nonsense"},
		{"analyze", `{"text":"` + long + `","parameters":{"tokenizer":"ngram"}}`, 400, "65536"},
		{"analyze", `{"text":"` + long + `","parameters":{"analyzer":"begins"}}`, 400, "65536"},
		{"filter-stop-words", `{}`, 400, "index"},
		{"filter-stop-words", `[]`, 400, "index"},
		{"filter-stop-words", `{"index":"quoin_preview","words":["a"]}`, 400, "analyzer"},
		{"filter-stop-words", `{"index":"quoin_preview","analyzer":"nonsense","words":["a"]}`, 400, "nonsense"},
		{"filter-stop-words", `{"index":"quoin_preview","analyzer":"nonsense","words":[]}`, 400, "nonsense"},
		{"filter-stop-words", `{"index":"quoin_nowhere","analyzer":"plain","words":["a"]}`, 404, "quoin_nowhere"},
		{"filter-stop-words", `{"index":"quoin_preview","analyzer":"plain","words":{"a":1}}`, 400, "words"},
		{"filter-stop-words", `{"index":"quoin_preview","analyzer":"plain","words":["a",1]}`, 400, "words[1]"},
		{"filter-stop-words", `{"index":"quoin_preview","analyzer":"plain","words":["` + strings.Repeat("a", 5000) + `"]}`, 400, "words[0]"},
		{"filter-stop-words", `{"index":"quoin_preview","analyzer":"plain","words":["a"` + strings.Repeat(`,"a"`, 10_000) + `]}`, 400, "words[10000]"},
	} {
		s.refuses(c.path, c.body, c.status, c.tells)
	}
	for _, path := range []string{"analyze", "filter-stop-words"} {
		s.call("", http.MethodPost, "/api/search/"+path, `{}`).is(401)
		s.call("noapi", http.MethodPost, "/api/search/"+path, `{}`).is(403)
		s.call("admin", http.MethodGet, "/api/search/"+path, "").is(405)
	}
}

// FuzzAnalyze makes tokens of any text by any chain: offsets stay within the
// text, as UTF-16 counts it.
func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{
		`{"text":"Le <b>Coin</b> 😀 é","parameters":{"tokenizer":"standard","filter":["lowercase","asciifolding"],"char_filter":["html_strip"]}}`,
		`{"text":"a/b/c","parameters":{"tokenizer":"path_hierarchy"}}`, `{"text":"ab cd","parameters":{"tokenizer":"ngram"}}`,
		`{"text":"\u00e9\ud83d\ude00","parameters":{"filter":"shingle"}}`, `{"text":"&eacute;<","parameters":{"tokenizer":"keyword","char_filter":"html_strip","filter":["reverse"]}}`,
		`{"text":"x","parameters":[]}`, `{"parameters":{"filter":[["a"]]}}`, `{"text":"x","parameters":{"field":"a","analyzer":"b"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, answer, err := search.AnalyzeBody(raw)
		if err != nil {
			return
		}
		var out struct {
			Tokens []struct {
				Start int `json:"start_offset"`
				End   int `json:"end_offset"`
			}
		}
		if err := json.Unmarshal(answer, &out); err != nil {
			t.Fatalf("%v: %q out of %q", err, answer, raw)
		}
		units := len(utf16.Encode([]rune(text)))
		for _, k := range out.Tokens {
			if k.Start < 0 || k.End < k.Start || k.End > units {
				t.Errorf("%d-%d of %d: %q out of %q", k.Start, k.End, units, answer, raw)
			}
		}
	})
}

// FuzzKeep reads how long scrolls are kept.
func FuzzKeep(f *testing.F) {
	for _, s := range []string{"", "3m", "1h", "0s", "-1m", "3", "m", "3 m", "1d", "99999999999h", "1nanos", "1e3s", "3600000ms", "１m"} {
		f.Add(s)
	}
	cfg := search.Defaults()
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := search.Keep(cfg, text); err == nil && (d <= 0 || d > cfg.ScrollKeepAlive) {
			t.Errorf("%q is %s", text, d)
		}
	})
}
