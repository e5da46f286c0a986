package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/modules/content/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const seoForm = `{"name":"seo","label":"SEO","fields":[
	{"name":"seo","type":"container","fields":[
		{"name":"meta_title","type":"text","label":"Meta title"},
		{"name":"noindex","type":"checkbox"}]}]}`

// everything compiles the sample that has a field of each type.
func everything(t testing.TB) *schema.Compiled {
	t.Helper()
	raw, err := os.ReadFile("testdata/everything.json")
	if err != nil {
		t.Fatal(err)
	}
	ct, err := schema.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	form, err := schema.ParseForm([]byte(seoForm))
	if err != nil {
		t.Fatal(err)
	}
	c, err := schema.Compile(ct, func(name string) (*schema.Field, bool) { return form.Root, name == "seo" })
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings)+len(ct.Warnings) > 0 {
		t.Fatalf("warnings: %v %v", ct.Warnings, c.Warnings)
	}
	return c
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, got, "", "  "); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, got)
	}
	pretty.WriteByte('\n')
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, pretty.Bytes()) {
		t.Errorf("%s differs; run with -update and look at the difference", path)
	}
}

func TestGolden(t *testing.T) {
	c := everything(t)
	golden(t, "everything.schema.json", c.JSONSchema())
	golden(t, "everything.export.json", schema.Export(c.Type))
	mapping, err := json.Marshal(c.Mapping())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "everything.mapping.json", mapping)
	compileSchema(t, c)
}

func TestExportRoundTrip(t *testing.T) {
	c := everything(t)
	again, err := schema.Parse(schema.Export(c.Type))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plainTree(again), plainTree(c.Type); got != want {
		t.Errorf("the export lost something:\n%s", firstDifference(got, want))
	}
}

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, i-200):min(len(s), i+200)] }
	return "got …" + cut(a) + "…\nwant …" + cut(b) + "…"
}

func TestFieldsAndRoles(t *testing.T) {
	c := everything(t)
	byPath := map[string]schema.FieldInfo{}
	for _, f := range c.Fields() {
		byPath[f.Path] = f
	}
	if f := byPath["secret_note"]; !reflect.DeepEqual(f.Roles, []string{"ROLE_AUTHOR", "ROLE_ADMIN"}) || f.Type != "text" {
		t.Errorf("secret_note: %+v", f)
	}
	if f := byPath["people.name"]; !f.Required {
		t.Errorf("people.name: %+v", f)
	}
	if f := byPath["tags"]; !f.Multiple || !f.Required {
		t.Errorf("tags: %+v", f)
	}
	if _, ok := byPath["main"]; ok {
		t.Error("a virtual container is no field of the document")
	}
	if c.For(func(string) bool { return true }) != c {
		t.Error("with all roles nothing changes")
	}
	author := c.For(func(role string) bool { return role == "ROLE_AUTHOR" })
	if bytes.Contains(author.JSONSchema(), []byte("secret_note")) || !bytes.Contains(author.JSONSchema(), []byte(`"title":{`)) {
		t.Errorf("schema for an author: %s", author.JSONSchema())
	}
	nobody := c.For(func(string) bool { return false })
	for _, f := range nobody.Fields() {
		if len(f.Roles) > 0 {
			t.Errorf("nobody sees %s", f.Path)
		}
	}
	for _, e := range nobody.Validate([]byte(`{}`)).Errors {
		if e.Path == "title" {
			t.Error("a field that may not be written cannot be demanded")
		}
	}
}

// TestCountsAreIntegers: JSON Schema wants integers for the number of items and
// different values in an enum, whatever a content type says.
func TestCountsAreIntegers(t *testing.T) {
	for _, test := range []struct{ min, max, want string }{
		{`"1.5"`, `"2.5"`, `"minItems":2,"maxItems":2`},
		{`1`, `1e30`, `"minItems":1`},
		{`1e30`, `null`, `"minItems":2147483647`},
		{`2`, `3`, `"minItems":2,"maxItems":3`},
	} {
		ct, err := schema.Parse(exported(
			exportedField("CollectionFieldType", "c", `{"restrictionOptions":{"min":`+test.min+`,"max":`+test.max+`}}`),
			exportedField("ChoiceFieldType", "s", `{"displayOptions":{"choices":"a\nb\na","labels":"A\nB\nC"}}`)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := schema.Compile(ct, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := string(c.JSONSchema())
		if !strings.Contains(text, `},`+test.want+`}`) || !strings.Contains(text, `"enum":["a","b"]`) {
			t.Errorf("min %s, max %s: %s", test.min, test.max, text)
		}
	}
}
