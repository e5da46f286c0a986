package embedded_test

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/embedded"
)

// TestBaseVersion notices that documents are indexed in another way than when a
// version of the base was made: files of that version must not be read then.
func TestBaseVersion(t *testing.T) {
	const version, want = 1, uint32(0x39a76557)
	var fields []search.Field
	for _, name := range []string{"standard", "simple", "whitespace", "keyword", "stop", "english", "french", "dutch", "german", "mine"} {
		fields = append(fields, search.Field{Path: name, Kind: search.KindText, Analyzer: name})
	}
	fields = append(fields, search.Field{Path: "parts", Kind: search.KindNested}, search.Field{Path: "k", Kind: search.KindKeyword, IgnoreAbove: 10},
		search.Field{Path: "d", Kind: search.KindDate, Format: "dd/MM/yyyy"}, search.Field{Path: "l", Kind: search.KindLong})
	settings := search.Settings{
		Types: map[string][]search.Field{"page": fields},
		Analyzers: map[string]json.RawMessage{
			"mine": json.RawMessage(`{"type":"custom","tokenizer":"standard","char_filter":["html_strip"],"filter":["lowercase","asciifolding"]}`),
		},
	}
	const text = "L'été, the Größe of running dogs' files: e-mail a@b.org 3.14 <b>één</b> &eacute; 東京タワー naïve_under_score x’s"
	var b strings.Builder
	b.WriteString(`{`)
	for _, f := range fields[:10] {
		b.WriteString(`"` + f.Path + `":["` + text + `","second value"],`)
	}
	b.WriteString(`"parts":[{"name":"a b","n":[1,2.5]},{"on":true}],"k":["short","much longer than ten"],"d":"24/12/2025","l":"7.9","free":"text 2024-05-06","when":"2024-05-06T07:08:09+02:00"}`)
	e := embedded.Open(nil, embedded.Options{Dir: t.TempDir()})
	must(t, e.Create(t.Context(), "one", settings))
	must(t, e.Apply(t.Context(), "one", []search.Op{upsert("1", 1, []byte(b.String())), upsert("2", 2, []byte(`{"standard":"other","l":3}`))}))
	e.SaveAll()
	data, err := os.ReadFile(e.FileOf("one"))
	must(t, err)
	got := crc32.ChecksumIEEE(data[64:binary.LittleEndian.Uint64(data[24:])]) // without the directory
	if v := binary.LittleEndian.Uint32(data[12:]); v != version || got != want {
		t.Errorf("a base of version %d has the sum %#x, not %#x: raise baseVersion, because files that are there have other contents, and change this test", v, got, want)
	}
}
