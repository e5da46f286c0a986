package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// exported builds the export form of a content type around field trees.
func exported(fields ...string) []byte {
	return []byte(`{"class":"EMS\\CoreBundle\\Entity\\ContentType","arguments":[],"properties":{"name":"page","pluralName":"Pages",
		"singularName":"Page","environment":"preview","orderKey":4,"askForOuuid":true,"active":true,"deleted":false,
		"roles":{"view":"ROLE_USER","archive":"not-defined"},"fields":[],"versionTags":null,"versionFields":{"date_from":null},
		"fieldType":` + exportedField("ContainerFieldType", "source", "[]", fields...) + `},"replaced":[]}`)
}

func exportedField(class, name, options string, children ...string) string {
	return fmt.Sprintf(`{"class":"EMS\\CoreBundle\\Entity\\FieldType","arguments":[],"properties":{"type":"%s","name":"%s",
		"deleted":false,"options":%s,"orderKey":0,"children":[%s]},"replaced":[]}`, class, name, options, strings.Join(children, ","))
}

func TestParseExport(t *testing.T) {
	ct, err := schema.Parse(exported(
		exportedField(`EMS\\CoreBundle\\Form\\DataField\\ChoiceFieldType`, "layout",
			`{"displayOptions":{"label":"Layout","choices":"a\r\nb\r\n\r\nc","labels":"A\r\nB\r\n\r\nC","multiple":true,"helptext":"Help"},
			"mappingOptions":[],"restrictionOptions":{"mandatory":true,"mandatory_if":null,"minimum_role":"ROLE_ADMIN"}}`),
		exportedField("DataLinkFieldType", "target", `{"displayOptions":{"type":"page, news"},"mappingOptions":{"copy_to":"a,b","index":"not_analyzed"}}`),
		exportedField("text", "title", `[]`),
		exportedField(`Acme\\MagicFieldType`, "magic", `{"displayOptions":{"multiple":"1"}}`),
	))
	if err != nil {
		t.Fatal(err)
	}
	if ct.Name != "page" || ct.Plural != "Pages" || ct.Environment != "preview" || ct.OrderKey != 4 || !ct.AskForOUUID || !ct.Active {
		t.Errorf("%+v", ct)
	}
	if !reflect.DeepEqual(ct.Roles, map[string]string{"view": "ROLE_USER"}) || len(ct.VersionFields) != 0 {
		t.Errorf("roles %v, version fields %v", ct.Roles, ct.VersionFields)
	}
	f := ct.Root.Children
	if len(f) != 4 {
		t.Fatalf("%d fields", len(f))
	}
	layout := f[0]
	if layout.Type != "choice" || layout.Label != "Layout" || !layout.Required || !layout.Multiple || layout.MinimumRole != "ROLE_ADMIN" ||
		layout.Description != "Help" || !reflect.DeepEqual(layout.Choices, []string{"a", "b", "c"}) || !reflect.DeepEqual(layout.ChoiceLabels, []string{"A", "B", "C"}) {
		t.Errorf("layout: %+v", layout)
	}
	if !reflect.DeepEqual(f[1].Types, []string{"page", "news"}) || !reflect.DeepEqual(f[1].Mapping.CopyTo, []string{"a", "b"}) || !f[1].Mapping.NotAnalyzed {
		t.Errorf("target: %+v", f[1])
	}
	if f[2].Type != "text" || f[3].Type != `Acme\MagicFieldType` {
		t.Errorf("types %q, %q", f[2].Type, f[3].Type)
	}
	if len(ct.Warnings) != 1 || ct.Warnings[0].Path != "magic" || ct.Warnings[0].Code != "unknown_type" {
		t.Errorf("warnings %+v", ct.Warnings)
	}
	c, err := schema.Compile(ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res := c.Validate([]byte(`{"layout":["a"],"magic":{"any":[1]}}`)); !res.OK() || len(res.Warnings) > 0 {
		t.Errorf("unknown types hold anything: %+v", res)
	}
}

func TestParseRefuses(t *testing.T) {
	deep := exportedField("ContainerFieldType", "x", "[]")
	for range 41 {
		deep = exportedField("ContainerFieldType", "x", "[]", deep)
	}
	cases := []struct {
		raw, path string
		kind      problem.Kind
	}{
		{`{`, "", problem.Invalid},
		{`[1]`, "", problem.Invalid},
		{`{"properties":{}}`, "class", problem.Invalid},
		{`{"class":"EMS\\Entity\\Form","properties":{}}`, "class", problem.Invalid},
		{`{"class":"ContentType","properties":[]}`, "properties", problem.Invalid},
		{`{"class":"ContentType","properties":{"name":"x"}}`, "", problem.Invalid},
		{string(exported(exportedField("text", "a.b", "[]"))), "a.b", problem.Invalid},
		{string(exported(exportedField("text", "", "[]"))), "", problem.Invalid},
		{strings.Replace(string(exported()), `"page"`, `"1 page"`, 1), "name", problem.Invalid},
		{string(exported(deep)), "", problem.TooLarge},
		{`{"name":"page","colour":"red"}`, "", problem.Invalid},
		{`{"name":"page","fields":[{"name":"a","type":"text","lable":"x"}]}`, "fields[0]", problem.Invalid},
		{`{"name":"page","fields":[{"name":"a","type":"texte"}]}`, "fields[0].type", problem.Invalid},
		{`{"name":"page","fields":[{"name":"a","type":"nested","fields":[{"name":"","type":"text"}]}]}`, "fields[0].fields[0].name", problem.Invalid},
		{`{"name":"page","fields":[{"name":"a","type":"choice","choices":[1]}]}`, "fields[0]", problem.Invalid},
		{`{"fields":[]}`, "name", problem.Invalid},
	}
	for _, k := range cases {
		_, err := schema.Parse([]byte(k.raw))
		if !problem.Is(err, k.kind) {
			t.Errorf("%.80s: %v", k.raw, err)
			continue
		}
		if k.path != "" {
			if p := problem.From(err); len(p.Fields) == 0 || p.Fields[0].Path != k.path {
				t.Errorf("%.80s: %+v, want the path %s", k.raw, p, k.path)
			}
		}
	}
	if _, err := schema.ParseForm([]byte(`{"label":"x","fields":[]}`)); !problem.Is(err, problem.Invalid) {
		t.Errorf("a form without a name: %v", err)
	}
}

func mustParse(t *testing.T, short string) *schema.ContentType {
	t.Helper()
	ct, err := schema.Parse([]byte(short))
	if err != nil {
		t.Fatal(err)
	}
	return ct
}

func TestCompileForms(t *testing.T) {
	forms := map[string]*schema.Field{}
	form := func(name, fields string) {
		f, err := schema.ParseForm([]byte(`{"name":"` + name + `","fields":[` + fields + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		forms[name] = f.Root
	}
	find := func(name string) (*schema.Field, bool) { f, ok := forms[name]; return f, ok }
	form("a", `{"name":"x","type":"form","form":"b"}`)
	form("b", `{"name":"y","type":"form","form":"a"}`)
	form("ok", `{"name":"inner","type":"text","required":true}`)
	wide := strings.Repeat(`{"name":"w","type":"form","form":"L"},`, 20)
	for i, level := range []string{"L1", "L2", "L3", "L4"} {
		form(level, strings.TrimSuffix(strings.ReplaceAll(wide, `"L"`, fmt.Sprintf(`"L%d"`, i+2)), ","))
	}
	form("L5", `{"name":"leaf","type":"text"}`)

	if _, err := schema.Compile(mustParse(t, `{"name":"p","fields":[{"name":"f","type":"form","form":"a"}]}`), find); !problem.Is(err, problem.Invalid) ||
		!strings.Contains(err.Error(), "a → b → a") {
		t.Errorf("a cycle: %v", err)
	}
	if _, err := schema.Compile(mustParse(t, `{"name":"p","fields":[{"name":"f","type":"form","form":"L1"}]}`), find); !problem.Is(err, problem.TooLarge) {
		t.Errorf("forms that multiply: %v", err)
	}
	c, err := schema.Compile(mustParse(t, `{"name":"p","fields":[{"name":"f","type":"form","form":"gone"},
		{"name":"g","type":"form","form":"ok"},{"name":"inner","type":"integer"}]}`), find)
	if err != nil {
		t.Fatal(err)
	}
	if got := codes(c.Warnings); got != "f:missing_form inner:hidden_field" {
		t.Errorf("warnings %q", got)
	}
	if got := codes(c.Validate([]byte(`{"inner":1}`)).Errors); got != "inner:type" {
		t.Errorf("the first of two fields counts: %q", got)
	}
}

func TestDeletedFieldsTakeNoPart(t *testing.T) {
	raw := strings.Replace(string(exported(exportedField("text", "old", `{"restrictionOptions":{"mandatory":true}}`))), `"name":"old",
		"deleted":false`, `"name":"old","deleted":true`, 1)
	ct, err := schema.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	c, err := schema.Compile(ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	res := c.Validate([]byte(`{"old":1}`))
	if !res.OK() || codes(res.Warnings) != "old:unknown" || len(c.Fields()) != 0 {
		t.Errorf("%+v, %+v", res, c.Fields())
	}
}

// TestBoundsAreNumbers: a bound that is written as NaN or infinity is none, and
// does not get into the JSON Schema, which could not be read then.
func TestBoundsAreNumbers(t *testing.T) {
	for _, bound := range []string{`"NaN"`, `"Infinity"`, `"-inf"`, `"1e999"`, `""`, `null`, `"x"`} {
		export := `{"class":"ContentType","properties":{"name":"page","fieldType":{"class":"FieldType","properties":{"name":"source","type":"ContainerFieldType","children":[
			{"class":"FieldType","properties":{"name":"n","type":"NumberFieldType","options":{"restrictionOptions":{"min":` + bound + `,"max":` + bound + `}}}}]}}}}`
		ct, err := schema.Parse([]byte(export))
		if err != nil {
			t.Fatal(err)
		}
		c, err := schema.Compile(ct, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := c.JSONSchema(); !json.Valid(text) || bytes.Contains(text, []byte("imum")) {
			t.Errorf("%s: %s", bound, text)
		}
		if r := c.Validate([]byte(`{"n":1}`)); len(r.Errors) != 0 {
			t.Errorf("%s: %v", bound, r.Errors)
		}
	}
}
