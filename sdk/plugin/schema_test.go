package plugin

import (
	"encoding/json"
	"testing"
)

type paged struct {
	Page int    `json:"page,omitempty"`
	Size int    `json:"size"`
	Mine string `json:"-"`
}

type named struct {
	Name string `json:"name"`
}

// TestTheSchemaOfAnEmbeddedStruct: encoding/json has its fields beside those of
// the struct, and the schema must say so, or no arguments fit both.
func TestTheSchemaOfAnEmbeddedStruct(t *testing.T) {
	type arguments struct {
		paged
		*named
		Text string `json:"text"`
		Size string `json:"size"`
	}
	want := `{"additionalProperties":false,"properties":{"name":{"type":"string"},"page":{"type":"integer"},"size":{"type":"string"},"text":{"type":"string"}},"required":["text","size"],"type":"object"}`
	if got := string(schemaOf[arguments]()); got != want {
		t.Errorf("%s", got)
	}
	type apart struct {
		Page paged `json:"page"`
	}
	want = `{"additionalProperties":false,"properties":{"page":{"additionalProperties":false,"properties":{"page":{"type":"integer"},"size":{"type":"integer"}},"required":["size"],"type":"object"}},"required":["page"],"type":"object"}`
	if got := string(schemaOf[apart]()); got != want {
		t.Errorf("%s", got)
	}
	var in arguments
	if err := json.Unmarshal([]byte(`{"page":3,"text":"x","size":"y"}`), &in); err != nil || in.Page != 3 || in.Size != "y" {
		t.Errorf("%+v, %v", in, err)
	}
}
