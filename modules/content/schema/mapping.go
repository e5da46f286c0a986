package schema

import (
	"slices"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// Kinds of index fields. They are spelled as Elasticsearch spells its types;
// a mapping of a content type may name others, such as search_as_you_type.
const (
	KindNone     = "none" // not indexed
	KindText     = "text"
	KindKeyword  = "keyword"
	KindInteger  = "long"
	KindDouble   = "double"
	KindBoolean  = "boolean"
	KindDate     = "date"
	KindObject   = "object"
	KindNested   = "nested"
	KindDynamic  = "dynamic" // the type of the data decides
	allFieldName = "_all"
)

// IndexField is one field of the search index.
type IndexField struct {
	Path           string                `json:"path"`                      // dotted, from the root of the document
	Kind           string                `json:"kind"`                      // one of the kinds
	Nested         string                `json:"nested,omitempty"`          // path of the innermost nested field around it
	Analyzer       string                `json:"analyzer,omitempty"`        // of a text
	SearchAnalyzer string                `json:"search_analyzer,omitempty"` // of a text at query time, empty for Analyzer
	Format         string                `json:"format,omitempty"`          // of a date: Java patterns and names, separated by ||
	CopyTo         []string              `json:"copy_to,omitempty"`         // paths of other fields that hold a copy
	NoIndex        bool                  `json:"no_index,omitempty"`        // kept in the document, not searchable
	FieldData      bool                  `json:"field_data,omitempty"`      // a text that may be sorted by
	Sub            map[string]IndexField `json:"sub,omitempty"`             // sub-fields by name; their Path holds the name too
}

type mapper struct {
	out    []IndexField
	nested string
}

// Mapping gives the fields of the search index for documents of the type:
// nested fields before their members, then the targets of copy_to that no
// field declares, and _all.
func (c *Compiled) Mapping() []IndexField {
	m := &mapper{}
	for _, p := range c.root.props {
		p.behave.mapping(m, p)
	}
	for _, f := range c.copies {
		m.add(f)
	}
	m.targets()
	return m.out
}

func (m *mapper) add(f IndexField) {
	if f.Kind == KindNone {
		return
	}
	f.Nested = m.nested
	m.out = append(m.out, f)
}

// targets makes every target of copy_to a text, and adds what is not there.
func (m *mapper) targets() {
	at := map[string]int{}
	for i, f := range m.out {
		at[f.Path] = i
	}
	names := []string{allFieldName}
	for _, f := range m.out {
		for _, t := range f.CopyTo {
			if !slices.Contains(names, t) {
				names = append(names, t)
			}
		}
	}
	m.nested = ""
	for _, name := range names {
		i, there := at[name]
		switch {
		case !there:
			m.add(IndexField{Path: name, Kind: KindText})
		case m.out[i].Kind == KindDynamic:
			m.out[i].Kind = KindText
		}
	}
}

// object adds a nested or plain object and its members.
func (m *mapper) object(n *node) {
	outer := m.nested
	if n.typ.kind == KindNested {
		m.add(IndexField{Path: n.path, Kind: KindNested})
		m.nested = n.path
	}
	for _, p := range n.props {
		p.behave.mapping(m, p)
	}
	m.nested = outer
}

// leaf adds the index field of a field with one value.
func (m *mapper) leaf(n *node) {
	if js := n.field.Mapping.JSON; js != nil {
		m.json(n.path, js)
		return
	}
	m.add(indexField(n.path, n.field, n.typ))
}

// indexField reads the mapping options of a field over the kind of its type.
func indexField(path string, f *Field, t *fieldType) IndexField {
	o := f.Mapping
	out := IndexField{
		Path: path, Kind: t.kind, Analyzer: o.Analyzer, SearchAnalyzer: o.SearchAnalyzer,
		CopyTo: o.CopyTo, NoIndex: o.NoIndex, FieldData: o.FieldData,
	}
	if o.Kind != "" {
		out.Kind = o.Kind
	}
	switch out.Kind {
	case KindText, "string":
		out.Kind = KindText
		if o.Analyzer == "keyword" || o.NotAnalyzed {
			out.Kind, out.Analyzer = KindKeyword, ""
		}
	case KindKeyword:
		if o.Analyzer != "" && o.Analyzer != "keyword" {
			out.Kind = KindText
		} else {
			out.Analyzer = ""
		}
	case KindDate:
		out.Format = f.Format
		if f.Format == "" && t.name == "time" {
			out.Kind = KindKeyword
		} else if f.Format == "" {
			out.Format = defaultFormat(t.name)
		}
	}
	for _, child := range f.Children {
		if ct, _ := typeByName(child.Type); ct.name != "subfield" || child.Deleted {
			continue
		} else if sub := indexField(path+"."+child.Name, child, ct); sub.Kind != KindNone {
			if out.Sub == nil {
				out.Sub = map[string]IndexField{}
			}
			out.Sub[child.Name] = sub
		}
	}
	return out
}

// json adds the mapping that a computed field gives in the words of
// Elasticsearch: {"type":…,"analyzer":…,"copy_to":…,"properties":{…},"fields":{…}}.
func (m *mapper) json(path string, raw []byte) {
	o := opts(raw)
	f := IndexField{
		Path: path, Kind: o.str("type"), Analyzer: o.str("analyzer"), SearchAnalyzer: o.str("search_analyzer"),
		Format: o.str("format"), CopyTo: o.strings("copy_to"), FieldData: o.flag("fielddata"),
		NoIndex: string(o.get("index")) == "false" || string(o.get("enabled")) == "false",
	}
	props := o.get("properties")
	switch f.Kind {
	case "":
		f.Kind = KindDynamic
		if rawjson.KindOf(props) == rawjson.Map {
			f.Kind = KindObject
		}
	case "string":
		f.Kind = KindText
	case "integer", "short", "byte":
		f.Kind = KindInteger
	case "float", "half_float", "scaled_float":
		f.Kind = KindDouble
	}
	f.Sub = subFields(path, o.get("fields"))
	if f.Kind != KindObject {
		m.add(f)
	}
	if rawjson.KindOf(props) != rawjson.Map {
		return
	}
	outer := m.nested
	if f.Kind == KindNested {
		m.nested = path
	}
	for it := rawjson.Iterate(props); it.Next(); {
		m.json(rawjson.Join(path, string(it.Key())), it.Value())
	}
	m.nested = outer
}

func subFields(path string, raw []byte) map[string]IndexField {
	if rawjson.KindOf(raw) != rawjson.Map {
		return nil
	}
	m := mapper{}
	for it := rawjson.Iterate(raw); it.Next(); {
		m.json(rawjson.Join(path, string(it.Key())), it.Value())
	}
	out := map[string]IndexField{}
	for _, f := range m.out {
		out[f.Path[len(path)+1:]] = f
	}
	return out
}
