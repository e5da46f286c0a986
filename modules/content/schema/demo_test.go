package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// demoDir gives the folder of the demo project, or skips.
func demoDir(t *testing.T) string {
	t.Helper()
	root := os.Getenv("QUOIN_TEST_DATA")
	if root == "" {
		t.Skip("SKIPPED: the demo project of elasticms is not tested; set QUOIN_TEST_DATA to the folder that holds elasticms-demo")
	}
	return filepath.Join(root, "elasticms-demo")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func glob(t *testing.T, pattern string, want int) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != want {
		t.Fatalf("%s: %d files, want %d (%v)", pattern, len(files), want, err)
	}
	return files
}

func demoTypes(t *testing.T) map[string]*schema.Compiled {
	t.Helper()
	dir := demoDir(t)
	forms := map[string]*schema.Field{}
	for _, path := range glob(t, dir+"/admin/form/*.json", 5) {
		form, err := schema.ParseForm(read(t, path))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		forms[form.Name] = form.Root
	}
	types := map[string]*schema.Compiled{}
	for _, path := range glob(t, dir+"/admin/content-type/*.json", 15) {
		ct, err := schema.Parse(read(t, path))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		c, err := schema.Compile(ct, func(name string) (*schema.Field, bool) { f, ok := forms[name]; return f, ok })
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, w := range append(ct.Warnings, c.Warnings...) {
			t.Errorf("%s: warning %+v", ct.Name, w)
		}
		types[ct.Name] = c
	}
	return types
}

func TestDemoDocumentsValidate(t *testing.T) {
	types := demoTypes(t)
	for _, path := range glob(t, demoDir(t)+"/document/*/*.json", 186) {
		raw := read(t, path)
		if err := rawjson.CheckObject(raw, rawjson.Limits{}); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		c := types[filepath.Base(filepath.Dir(path))]
		res := c.Validate(raw)
		for _, f := range res.Errors {
			t.Errorf("%s: %+v", strings.TrimPrefix(path, demoDir(t)), f)
		}
		for _, f := range res.Warnings {
			t.Logf("%s: %+v", strings.TrimPrefix(path, demoDir(t)), f)
		}
	}
}

func TestDemoSchemasAcceptDemoDocuments(t *testing.T) {
	types := demoTypes(t)
	compiled := map[string]*validator{}
	for name, c := range types {
		compiled[name] = compileSchema(t, c)
	}
	for _, path := range glob(t, demoDir(t)+"/document/*/*.json", 186) {
		if err := compiled[filepath.Base(filepath.Dir(path))].validate(t, read(t, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestDemoExportRoundTrip(t *testing.T) {
	for name, c := range demoTypes(t) {
		again, err := schema.Parse(schema.Export(c.Type))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(plainTree(again), plainTree(c.Type)) {
			t.Errorf("%s changed by export and parse", name)
		}
	}
}

// plainTree renders a type without what an export does not keep: the order
// keys are renumbered.
func plainTree(ct *schema.ContentType) string {
	var clean func(f *schema.Field)
	clean = func(f *schema.Field) {
		f.OrderKey = 0
		for _, c := range f.Children {
			clean(c)
		}
	}
	clean(ct.Root)
	out, err := json.MarshalIndent(ct, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func TestDemoMapping(t *testing.T) {
	types := demoTypes(t)
	news := types["news"]
	kinds := map[string]string{}
	for _, f := range news.Mapping() {
		kinds[f.Path] = f.Kind
	}
	for path, kind := range map[string]string{
		"nl.title": "text", "fr.slug": "keyword", "fr.image": "nested", "fr.image.sha1": "keyword", "categories": "keyword",
		"publication_date": "date", "live_search": "search_as_you_type", "title_fr": "text", "display_label_fr": "text", "_all": "text",
		"fr.seo": "", "fr.noindex": "boolean",
	} {
		if kinds[path] != kind {
			t.Errorf("%s is %q, want %q", path, kinds[path], kind)
		}
	}
}
