package schema

import (
	"maps"
	"slices"
	"strings"
)

// Export renders a content type in the export form of the original
// implementation, so that /api/admin/content-type/{name} answers one shape
// whatever form the type came in. A type that came as an export is better
// answered with its own bytes: they hold more than this service reads.
func Export(ct *ContentType) []byte {
	w := &writer{}
	w.envelope(`EMS\CoreBundle\Entity\ContentType`, func() {
		w.str("name", ct.Name)
		w.str("pluralName", ct.Plural)
		w.str("singularName", ct.Singular)
		w.raw("icon", "null")
		w.orNull("description", ct.Description)
		w.bool("active", ct.Active)
		w.bool("deleted", ct.Deleted)
		w.bool("askForOuuid", ct.AskForOUUID)
		w.raw("color", "null")
		w.key("fieldType")
		w.field(ct.Root, 0)
		w.int("orderKey", ct.OrderKey)
		w.bool("rootContentType", true)
		w.bool("autoPublish", ct.AutoPublish)
		w.orNull("environment", ct.Environment)
		w.raw("templates", "[]")
		w.raw("views", "[]")
		w.list("versionTags", ct.VersionTags)
		w.dict("versionFields", ct.VersionFields)
		w.dict("roles", ct.Roles)
		w.dict("fields", ct.Fields)
	})
	return w.b
}

func (w *writer) envelope(class string, properties func()) {
	w.open('{')
	w.str("class", class)
	w.raw("arguments", "[]")
	w.key("properties")
	w.open('{')
	properties()
	w.close('}')
	w.raw("replaced", "[]")
	w.close('}')
}

// dict writes an object with sorted keys; PHP writes an empty one as [].
func (w *writer) dict(k string, m map[string]string) {
	if len(m) == 0 {
		w.raw(k, "[]")
		return
	}
	w.key(k)
	w.open('{')
	for _, name := range slices.Sorted(maps.Keys(m)) {
		w.str(name, m[name])
	}
	w.close('}')
}

func (w *writer) field(f *Field, order int) {
	t, _ := typeByName(f.Type)
	w.envelope(`EMS\CoreBundle\Entity\FieldType`, func() {
		w.str("type", className(t, f.Type))
		w.str("name", f.Name)
		w.raw("contentType", "null")
		w.bool("deleted", f.Deleted)
		w.orNull("description", f.Description)
		w.key("options")
		w.options(f)
		w.int("orderKey", order)
		w.key("children")
		w.open('[')
		for i, child := range f.Children {
			w.field(child, i+1)
		}
		w.close(']')
	})
}

func (w *writer) options(f *Field) {
	w.open('{')
	w.key("displayOptions")
	w.open('{')
	w.display(f)
	w.close('}')
	w.key("mappingOptions")
	w.mapping(f)
	w.key("restrictionOptions")
	w.open('{')
	w.bool("mandatory", f.Required)
	w.orNull("mandatory_if", f.RequiredIf)
	w.orNull("minimum_role", f.MinimumRole)
	if f.Min != nil {
		w.num("min", *f.Min)
	}
	if f.Max != nil {
		w.num("max", *f.Max)
	}
	w.close('}')
	w.raw("extraOptions", `{"extra":null,"clear_on_copy":false,"postProcessing":null}`)
	w.raw("raw_data", "[]")
	w.close('}')
}

func (w *writer) display(f *Field) {
	w.orNull("label", f.Label)
	w.raw("class", "null")
	if f.Multiple && f.Type == "date" {
		w.bool("multidate", true)
	} else if f.Multiple {
		w.bool("multiple", true)
	}
	if len(f.Choices) > 0 {
		w.str("choices", strings.Join(f.Choices, "\r\n"))
		w.str("labels", strings.Join(f.ChoiceLabels, "\r\n"))
	}
	if len(f.Values) > 0 {
		w.str("values", strings.Join(f.Values, "\r\n"))
		if len(f.Choices) == 0 {
			w.str("labels", strings.Join(f.ValueLabels, "\r\n"))
		}
	}
	if len(f.Types) > 0 {
		w.str("type", strings.Join(f.Types, ","))
	}
	if f.Form != "" {
		w.str("form", f.Form)
	}
}

func (w *writer) mapping(f *Field) {
	m := f.Mapping
	w.open('{')
	pairs := []struct{ key, value string }{
		{"type", m.Kind}, {"analyzer", m.Analyzer}, {"search_analyzer", m.SearchAnalyzer}, {"format", f.Format},
		{"copy_to", strings.Join(m.CopyTo, ",")}, {"fromDateMachineName", f.From}, {"toDateMachineName", f.To},
		{"mappingOptions", string(m.JSON)},
	}
	for _, p := range pairs {
		if p.value != "" {
			w.str(p.key, p.value)
		}
	}
	if m.NoIndex {
		w.str("index", "no")
	} else if m.NotAnalyzed {
		w.str("index", "not_analyzed")
	}
	if m.FieldData {
		w.bool("fielddata", true)
	}
	if f.Nested {
		w.bool("nested", true)
	}
	w.close('}')
}
