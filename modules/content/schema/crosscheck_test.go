package schema_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

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
