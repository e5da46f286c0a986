package schema_test

import (
	"strings"
	"testing"
)

// benchDocument is about 1 KB and valid.
var benchDocument = []byte(`{"title":"Le monitoring externe","active":true,"tags":["a","b"],"people":[{"name":"Ann"},{"name":"Bob"}],` +
	`"related":["category:d9gzcokBTbVbdHDC6n5N","category:Vdg684kBTbVbdHDCD4gb"],"day":"2024-05-17","count":12,"weight":1.5,` +
	`"fr":{"body":"<p>` + strings.Repeat("Une équipe disponible, \\\"vite\\\". ", 8) + `</p>","slug":"le-monitoring-externe","show":false},` +
	`"nl":{"body":"<p>` + strings.Repeat("Een team dat er is. ", 8) + `</p>","slug":"externe-monitoring"},"noindex":false,` +
	`"image":{"sha1":"addfcddee247dc4ec556132f6bfdef5f78165750","filename":"a.png","filesize":4744190,"mimetype":"image/png"},` +
	`"layout":"wide","parent":"page:02c9040f-1368-485c-92a6-a7c71b77224b"}`)

func BenchmarkValidate(b *testing.B) {
	c := everything(b)
	if res := c.Validate(benchDocument); !res.OK() || len(res.Warnings) > 0 {
		b.Fatalf("%+v", res)
	}
	b.SetBytes(int64(len(benchDocument)))
	b.ReportAllocs()
	for b.Loop() {
		c.Validate(benchDocument)
	}
}

func BenchmarkValidateMenu(b *testing.B) {
	c := everything(b)
	node := `{\"id\":\"73fe2e8e-5d0b-4ff0-8b96-be5c52c48cbd\",\"label\":\"x\",\"type\":\"paragraph\",\"object\":{\"text\":\"<p>a few words</p>\"},\"children\":[]}`
	doc := []byte(strings.TrimSuffix(complete, "}") + `,"blocks":"[` + strings.Repeat(node+",", 5) + node + `]"}`)
	if res := c.Validate(doc); !res.OK() || len(res.Warnings) > 0 {
		b.Fatalf("%+v", res)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Validate(doc)
	}
}

func BenchmarkJSONSchema(b *testing.B) {
	c := everything(b)
	b.ReportAllocs()
	for b.Loop() {
		c.JSONSchema()
	}
}
