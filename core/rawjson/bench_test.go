package rawjson_test

import (
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// document is about 1 KB: what an editor saves for a short news item.
var document = []byte(`{"categories":["category:d9gzcokBTbVbdHDC6n5N","category:Vdg684kBTbVbdHDCD4gb"],` +
	`"publication_date":"2024/05/17","order":12,"weight":1.5,"active":true,` +
	`"fr":{"title":"Le monitoring externe","slug":"le-monitoring-externe","body":"<p>` + strings.Repeat("Une équipe disponible, \\\"vite\\\". ", 8) +
	`<a href=\"ems://object:news:MdiFZIoBTbVbdHDCfpe5\">lien</a></p>","seo":{"noindex":false,"meta_title":null},` +
	`"image":{"sha1":"addfcddee247dc4ec556132f6bfdef5f78165750","filename":"a.png","filesize":4744190,"mimetype":"image/png"}},` +
	`"nl":{"title":"Externe monitoring","slug":"externe-monitoring","body":"<p>` + strings.Repeat("Een team dat er is. ", 8) + `</p>"},"title_fr":"Le monitoring externe"}`)

func BenchmarkCheck(b *testing.B) {
	b.SetBytes(int64(len(document)))
	b.ReportAllocs()
	for b.Loop() {
		if err := rawjson.Check(document, rawjson.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	patch := []byte(`{"order":13,"nl":{"title":"Nieuw"},"extra":true}`)
	dst := make([]byte, 0, 2048)
	b.ReportAllocs()
	for b.Loop() {
		dst = rawjson.Merge(dst[:0], document, patch)
	}
}

func BenchmarkSet(b *testing.B) {
	dst := make([]byte, 0, 2048)
	b.ReportAllocs()
	for b.Loop() {
		dst = rawjson.Set(dst[:0], document, "_sha1", []byte(`"addfcddee247dc4ec556132f6bfdef5f78165750"`))
	}
}

func BenchmarkSHA1(b *testing.B) {
	var h rawjson.Hasher
	b.ReportAllocs()
	for b.Loop() {
		h.SHA1(document)
	}
}

func BenchmarkCompact(b *testing.B) {
	dst := make([]byte, 0, 2048)
	b.ReportAllocs()
	for b.Loop() {
		dst = rawjson.Compact(dst[:0], document)
	}
}
