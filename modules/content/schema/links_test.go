package schema_test

import (
	"reflect"
	"testing"

	"github.com/quoin-cms/quoin/modules/content/schema"
)

func TestLinks(t *testing.T) {
	c := everything(t)
	const (
		h1 = "addfcddee247dc4ec556132f6bfdef5f78165750"
		h2 = "1111cddee247dc4ec556132f6bfdef5f78165750"
		h3 = "2222cddee247dc4ec556132f6bfdef5f78165750"
		h4 = "3333cddee247dc4ec556132f6bfdef5f78165750"
	)
	raw := `{"parent":"page:1","related":["news:2","page:1","bad"],"kind":"page:no-link-field",
		"fr":{"body":"<a href=\"ems:\/\/object:news:AbC-_9\">x</a> <img src=\"ems://asset:` + h1 + `?name=a.png&type=image\/png\"> ems://object:lonely"},
		"image":{"sha1":"` + h2 + `","_image_resized_hash":"` + h3 + `"},
		"gallery":[{"_hash":"` + h2 + `"}],
		"blocks":"[{\"type\":\"card\",\"object\":{\"target\":\"page:7\",\"label\":\"page:8\"},\"children\":[{\"type\":\"paragraph\",\"object\":{\"text\":\"ems://object:page:9\"}}]}]",
		"menu":[{"type":"x","object":{"file":{"sha1":"` + h4 + `"}}}],
		"stray":{"deep":["ems://object:page:10"]},"sha1":"not a hash"}`
	want := schema.Links{
		Documents: []schema.Link{{"page", "1"}, {"news", "2"}, {"news", "AbC-_9"}, {"", "lonely"}, {"page", "7"}, {"page", "9"}, {"page", "10"}},
		Files:     []string{h1, h2, h3, h4},
	}
	if got := c.Links([]byte(raw)); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := c.Links([]byte(`[]`)); len(got.Documents)+len(got.Files) > 0 {
		t.Errorf("nothing links nowhere: %+v", got)
	}
}
