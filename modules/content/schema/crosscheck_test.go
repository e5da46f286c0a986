package schema_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// validator is a JSON Schema implementation that is not ours.
type validator struct{ s *jsonschema.Schema }

func compileSchema(t *testing.T, c *schema.Compiled) *validator {
	t.Helper()
	raw := c.JSONSchema()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.Type.Name, err, raw)
	}
	k := jsonschema.NewCompiler()
	k.AssertFormat()
	if err := k.AddResource("urn:x", doc); err != nil {
		t.Fatal(err)
	}
	s, err := k.Compile("urn:x")
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.Type.Name, err, raw)
	}
	return &validator{s}
}

func (v *validator) validate(t *testing.T, raw []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v.s.Validate(doc)
}

// pool has values of all types; which are right depends on the field. Values
// that Validate accepts by leniency (null, "", [], {}) are not among them.
var pool = []string{
	`1`, `7.5`, `7.0`, `1e2`, `-3`, `true`, `false`, `"x"`, `"wide"`, `"a"`, `"page:1"`, `"user:1"`, `"ann@example.org"`,
	`"2024-02-29"`, `"2023-02-29"`, `"2024/02/28"`, `"17.05.2024"`, `"09:30"`, `"2024-05-17T09:30:00+02:00"`,
	`["a"]`, `["a","b"]`, `["x",1]`, `[1]`, `["page:1","news:2"]`, `["17.05.2024"]`, `[true]`, `{"a":1}`, `[{"a":1}]`,
	`{"sha1":"abc"}`, `{"_hash":"abc","_size":1}`, `{"filename":"x"}`, `{"sha1":1}`, `[{"sha1":"abc"}]`, `[{"sha1":"abc"},{"filename":"x"}]`,
	`{"street":"s"}`, `{"street":1}`, `{"number":1}`, `{"street":"s","number":1.5}`,
	`[{"name":"A"}]`, `[{"name":1}]`, `[{"name":"A","photo":{"sha1":"b"}}]`, `[{"name":"A"},{"name":"A"},{"name":"A"},{"name":"A"}]`,
	`{"body":"b"}`, `{"body":1}`, `{"slug":"s"}`, `{"body":"b","show":"yes"}`,
	`{"starts":"2024-05-17T09:30:00Z"}`, `{"starts":"tomorrow"}`,
	`[{"type":"paragraph","object":{"text":"t"}}]`, `[{"type":"paragraph","object":{"text":1}}]`, `[{"type":1}]`, `[{"id":5,"type":"card"}]`,
	`[{"type":"card","children":[{"type":"card","object":{"target":7}}]}]`,
}

// TestValidateAgreesWithJSONSchema compares Validate with another
// implementation of JSON Schema on random documents: what the schema accepts,
// Validate accepts, but for strings that should hold a menu and do not, which a
// schema cannot tell; what Validate accepts without a warning, so does the
// schema.
func TestValidateAgreesWithJSONSchema(t *testing.T) {
	c := everything(t)
	v := compileSchema(t, c)
	var names []string
	for _, f := range c.Fields() {
		if !strings.Contains(f.Path, ".") {
			names = append(names, f.Path)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	accepted, refused := 0, 0
	for range 20000 {
		raw := []byte(complete)
		for range 1 + r.IntN(2) {
			raw = rawjson.Set(nil, raw, names[r.IntN(len(names))], []byte(pool[r.IntN(len(pool))]))
		}
		theirs := v.validate(t, raw)
		ours := c.Validate(raw)
		switch {
		case theirs == nil && strings.HasSuffix(codes(ours.Errors), ":json"):
		case theirs == nil && !ours.OK():
			t.Fatalf("the schema accepts, Validate does not: %s\n%+v", raw, ours.Errors)
		case theirs != nil && ours.OK() && len(ours.Warnings) == 0:
			t.Fatalf("Validate accepts, the schema does not: %s\n%v", raw, theirs)
		case theirs == nil:
			accepted++
		default:
			refused++
		}
	}
	if accepted < 1000 || refused < 1000 {
		t.Errorf("%d accepted, %d refused: the documents are too uniform to prove anything", accepted, refused)
	}
}
