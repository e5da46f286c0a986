package schema_test

import (
	"io/fs"
	"os"
	"testing"

	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// TestSampleTypes compiles the content types that are delivered with the
// program, and checks a document of each.
func TestSampleTypes(t *testing.T) {
	documents := map[string]string{
		"category": `{"label":"Releases","en":{"title":"Releases"},"fr":{"title":"Versions"}}`,
		"news": `{"label":"First release","publication_date":"2024-05-17","categories":["category:1"],
			"en":{"title":"First release","body":"<p>It is there.</p>"},"image":{"_hash":"ab","_name":"a.png","_size":1,"_type":"image/png"}}`,
		"page": `{"label":"Home","template":"with_banner","order":1,"related":[{"target":"news:1"}],
			"en":{"title":"Home","noindex":false,"blocks":"[{\"id\":\"1\",\"type\":\"paragraph\",\"label\":\"x\",\"object\":{\"body\":\"<p>Hello</p>\"},\"children\":[]}]"}}`,
	}
	folder := os.DirFS("../../../config/content-types")
	files, err := fs.Glob(folder, "*.yaml")
	if err != nil || len(files) != len(documents) {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		raw, err := fs.ReadFile(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		short, err := conf.JSON(name, raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c, err := schema.Compile(mustParse(t, string(short)), nil)
		if err != nil || len(c.Warnings) > 0 {
			t.Fatalf("%s: %v %v", name, err, c.Warnings)
		}
		document, ok := documents[c.Type.Name]
		if !ok || name != c.Type.Name+".yaml" {
			t.Fatalf("%s holds the type %q", name, c.Type.Name)
		}
		if res := c.Validate([]byte(document)); !res.OK() || len(res.Warnings) > 0 {
			t.Errorf("%s: %+v", name, res)
		}
		if err := compileSchema(t, c).validate(t, []byte(document)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
