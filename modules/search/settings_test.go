package search_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	core "github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/modules/search"
)

func TestSettings(t *testing.T) {
	analyzers := map[string][]byte{
		"fr":     []byte(`{"type":"custom","tokenizer":"standard","filter":["lowercase","stops"]}`),
		"broken": []byte(`{"type":"custom","tokenizer":"unheard_of"}`),
	}
	filters := map[string][]byte{"stops": []byte(`{"type":"stop","stopwords":"_french_"}`), "none": []byte(`null`)}
	types := []port.ContentType{{Name: "page", Fields: []port.Field{
		{Path: "title", Kind: "text", Index: true, Analyzer: "fr", Fields: map[string]port.Field{
			"raw": {Path: "title.raw", Kind: "keyword", Index: true}, "alpha": {Path: "title.alpha", Kind: "text", Index: true, Analyzer: "missing"}}},
		{Path: "body", Kind: "text", Index: true, Analyzer: "broken", CopyTo: []string{"_all"}},
		{Path: "blocks", Kind: "nested", Nested: true, Index: true},
		{Path: "blocks.n", Kind: "integer", Index: true},
		{Path: "any", Kind: "dynamic", Index: true},
		{Path: "hidden", Kind: "keyword"},
		{Path: "odd", Kind: "unheard_of", Index: true},
		{Path: "when", Kind: "date", Index: true, Format: "no format"},
	}}}
	s, findings := search.Settings(types, analyzers, filters)
	want := []core.Field{
		{Path: "title", Kind: core.KindText, Analyzer: "fr", Fields: []core.Field{{Path: "alpha", Kind: core.KindText}, {Path: "raw", Kind: core.KindKeyword}}},
		{Path: "body", Kind: core.KindText, CopyTo: []string{"_all"}},
		{Path: "blocks", Kind: core.KindNested},
		{Path: "blocks.n", Kind: core.KindLong},
		{Path: "hidden", Kind: core.KindKeyword, NoIndex: true},
		{Path: "odd", Kind: core.KindStored},
		{Path: "when", Kind: core.KindDate},
	}
	got, err := json.Marshal(s.Types["page"])
	if err != nil {
		t.Fatal(err)
	}
	expected, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(expected) {
		t.Errorf("fields\n%s, want\n%s", got, expected)
	}
	if len(s.Analyzers) != 1 || s.Analyzers["fr"] == nil || len(s.Filters) != 1 {
		t.Errorf("analyzers %v, filters %v", s.Analyzers, s.Filters)
	}
	for _, w := range []string{"analyzer broken", "page.title.alpha", "page.odd", "page.when"} {
		if !strings.Contains(strings.Join(findings, "\n"), w) {
			t.Errorf("no finding about %s: %q", w, findings)
		}
	}
	if len(findings) != 4 {
		t.Errorf("findings: %q", findings)
	}
}

func TestConfig(t *testing.T) {
	if err := search.Defaults().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for key, change := range map[string]func(*search.Config){
		"batch":           func(c *search.Config) { c.Batch = 0 },
		"rebuild_after":   func(c *search.Config) { c.RebuildAfter = time.Second },
		"refresh_timeout": func(c *search.Config) { c.RefreshTimeout = 0 },
		"timeout":         func(c *search.Config) { c.Timeout = -1 },
		"max_request":     func(c *search.Config) { c.MaxRequest = 10 },
	} {
		c := search.Defaults()
		change(c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// FuzzParse: whatever the body, the readers give a value or a problem.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		``, `[]`, `{}`, `{"index":"a","ouuid":"b"}`, `{"index":null,"ouuid":5}`, `{"search":"{\"size\":1}"}`, `{"search":{"size":1}}`,
		`{"source-includes":["a","b"]}`, `{"source-includes":{"0":"a"}}`, `{"index":"\ud83d\ude00"}`, `{"search":"\u0000"}`, `{"a":[[[`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		index, ouuid, includes, err := search.ParseDocument(raw)
		if err == nil && (index == "" || ouuid == "" || len(includes) > 1000) {
			t.Errorf("%q %q %v out of %q", index, ouuid, includes, raw)
		}
		if text, err := search.ParseSearch(raw); err == nil && text == nil {
			t.Errorf("no search object and no error out of %q", raw)
		}
	})
}
