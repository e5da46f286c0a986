package schema_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

func FuzzParse(f *testing.F) {
	if raw, err := os.ReadFile("testdata/everything.json"); err == nil {
		f.Add(raw)
	}
	f.Add(exported(exportedField("DateFieldType", "d", `{"mappingOptions":{"format":"[yyyy]'x'||epoch_millis"}}`)))
	f.Add(exported(exportedField("ComputedFieldType", "c", `{"mappingOptions":{"mappingOptions":"{\"properties\":{\"a\":{\"fields\":{\"b\":{}}}}}"}}`)))
	f.Add(exported(exportedField("MultiplexedTabContainerFieldType", "m", `{"displayOptions":{"values":"fr\nnl","labels":"F"}}`, exportedField("text", "t", `[]`))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		ct, err := schema.Parse(raw)
		if err != nil {
			return
		}
		again, err := schema.Parse(schema.Export(ct))
		if err != nil || again.Name != ct.Name {
			t.Fatalf("what was read cannot be exported and read again: %v", err)
		}
		c, err := schema.Compile(ct, nil)
		if err != nil {
			return
		}
		if js := c.JSONSchema(); !json.Valid(js) {
			t.Fatalf("no JSON: %s", js)
		}
		c.Mapping()
		c.Fields()
		c.Validate([]byte(`{"a":1}`))
	})
}

func FuzzValidate(f *testing.F) {
	c := everything(f)
	f.Add([]byte(complete))
	for _, v := range pool {
		f.Add([]byte(`{"blocks":` + v + `,"image":` + v + `,"fr":` + v + `}`))
	}
	f.Add([]byte(`{"blocks":"[{\"type\":\"card\",\"children\":[{\"type\":\"card\",\"children\":[{}]}]}]","days":["17.05.2024"]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if rawjson.CheckObject(raw, rawjson.Limits{}) != nil {
			return
		}
		full, draft := c.Validate(raw), c.ValidateDraft(raw)
		if full.OK() && !draft.OK() {
			t.Fatalf("a finished document is refused as a draft: %+v", draft.Errors)
		}
		compact := c.Validate(rawjson.Compact(nil, raw))
		if codes(compact.Errors) != codes(full.Errors) || codes(compact.Warnings) != codes(full.Warnings) {
			t.Fatalf("white space makes a difference: %q", raw)
		}
		if stored := c.Stored(raw); rawjson.Check(stored, rawjson.Limits{}) != nil || c.Validate(stored).OK() != full.OK() {
			t.Fatalf("the stored form of %s is %s", raw, stored)
		}
	})
}

func FuzzDateFormat(f *testing.F) {
	f.Add("yyyy-MM-dd'T'HH:mm[:ss]XXX", "2024-05-17T09:30Z")
	f.Add("strict_date_optional_time||epoch_millis", "2024")
	f.Add("hh 'o''clock' a", "09 o'clock PM")
	f.Fuzz(func(t *testing.T, format, value string) {
		ct := &schema.ContentType{Name: "t", Root: &schema.Field{Name: "source", Type: "container", Children: []*schema.Field{
			{Name: "d", Type: "date", Format: format},
		}}}
		c, err := schema.Compile(ct, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Validate(rawjson.Set(nil, []byte(`{}`), "d", rawjson.AppendString(nil, value)))
		if !json.Valid(c.JSONSchema()) {
			t.Fatalf("no JSON: %s", c.JSONSchema())
		}
	})
}
