package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// shortType is the short form of a content type.
type shortType struct {
	Name          string            `json:"name"`
	Singular      string            `json:"singular"`
	Plural        string            `json:"plural"`
	Description   string            `json:"description"`
	Environment   string            `json:"environment"`
	Order         int               `json:"order"`
	Active        *bool             `json:"active"`
	AskForOUUID   bool              `json:"ask_for_ouuid"`
	AutoPublish   bool              `json:"auto_publish"`
	Roles         map[string]string `json:"roles"`
	Usage         map[string]string `json:"usage"` // label, display, circles, asset, … → field
	VersionTags   []string          `json:"version_tags"`
	VersionFields map[string]string `json:"version_fields"`
	Fields        []json.RawMessage `json:"fields"`
}

// shortField is the short form of a field.
type shortField struct {
	Name           string            `json:"name"`
	Type           string            `json:"type"`
	Label          string            `json:"label"`
	Description    string            `json:"description"`
	Required       bool              `json:"required"`
	RequiredIf     string            `json:"required_if"`
	Role           string            `json:"role"`
	Multiple       bool              `json:"multiple"`
	Choices        []labelled        `json:"choices"`
	Values         []labelled        `json:"values"`
	Types          oneOrMany         `json:"types"`
	Format         string            `json:"format"`
	Form           string            `json:"form"`
	From           string            `json:"from"`
	To             string            `json:"to"`
	Nested         *bool             `json:"nested"`
	Min            *float64          `json:"min"`
	Max            *float64          `json:"max"`
	Kind           string            `json:"kind"`
	Analyzer       string            `json:"analyzer"`
	SearchAnalyzer string            `json:"search_analyzer"`
	CopyTo         oneOrMany         `json:"copy_to"`
	Index          *bool             `json:"index"`
	Sortable       bool              `json:"sortable"`
	Mapping        json.RawMessage   `json:"mapping"`
	Fields         []json.RawMessage `json:"fields"`
}

// labelled is "value" or {"value":…,"label":…}.
type labelled struct{ Value, Label string }

// UnmarshalJSON accepts both spellings.
func (l *labelled) UnmarshalJSON(raw []byte) error {
	if s, ok := rawjson.String(raw); ok {
		l.Value, l.Label = s, s
		return nil
	}
	var long struct{ Value, Label string }
	if err := strict(raw, &long); err != nil {
		return fmt.Errorf("a choice is a string or {value, label}: %w", err)
	}
	l.Value, l.Label = long.Value, long.Label
	return nil
}

// oneOrMany is a string or an array of strings.
type oneOrMany []string

// UnmarshalJSON accepts both spellings.
func (l *oneOrMany) UnmarshalJSON(raw []byte) error {
	if s, ok := rawjson.String(raw); ok {
		*l = oneOrMany{s}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(l))
}

// strict decodes and refuses members that the target does not have.
func strict(raw []byte, target any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(target)
}

// ParseShort reads our own short form, as JSON (the caller turns YAML into it):
//
//	{"name":"page","singular":"Page","plural":"Pages","environment":"preview",
//	 "roles":{"view":"ROLE_USER"}, "usage":{"label":"title"},
//	 "fields":[{"name":"title","type":"text","label":"Title","required":true}]}
//
// Other than in the export form, a member or a field type that is not known is
// an error: nobody but us writes this form, so it is a typing mistake.
func ParseShort(short []byte) (*ContentType, error) {
	if err := rawjson.CheckObject(short, rawjson.Limits{Depth: parseDepth}); err != nil {
		return nil, err
	}
	var s shortType
	if err := strict(rawjson.Object(short), &s); err != nil {
		return nil, problem.Wrap(err, problem.Invalid, "content type: %v", err)
	}
	ct := &ContentType{
		Name: s.Name, Singular: s.Singular, Plural: s.Plural, Description: s.Description, Environment: s.Environment,
		OrderKey: s.Order, Active: s.Active == nil || *s.Active, AskForOUUID: s.AskForOUUID, AutoPublish: s.AutoPublish,
		Roles: known(s.Roles), Fields: known(s.Usage), VersionTags: s.VersionTags, VersionFields: known(s.VersionFields),
	}
	ct.defaults()
	r := reader{}
	var err error
	if ct.Root, err = r.shortRoot(s.Fields); err != nil {
		return nil, err
	}
	return ct, ct.check()
}

// known drops the empty entries.
func known(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		if v != "" && v != "not-defined" {
			out[k] = v
		}
	}
	return out
}

func (r *reader) shortForm(raw []byte) (*Form, error) {
	var s struct {
		Name, Label string
		Fields      []json.RawMessage
	}
	if err := strict(rawjson.Object(raw), &s); err != nil {
		return nil, problem.Wrap(err, problem.Invalid, "form: %v", err)
	}
	if s.Name == "" {
		return nil, problem.Field(problem.Invalid, "name", "a form needs a name")
	}
	root, err := r.shortRoot(s.Fields)
	if err != nil {
		return nil, err
	}
	return &Form{Name: s.Name, Label: s.Label, Root: root}, nil
}

func (r *reader) shortRoot(fields []json.RawMessage) (*Field, error) {
	root := &Field{Name: "source", Type: "container"}
	return root, r.shortFields(root, fields, "", 1)
}

func (r *reader) shortFields(parent *Field, fields []json.RawMessage, path string, depth int) error {
	for i, raw := range fields {
		at := rawjson.Index(rawjson.Join(path, "fields"), i)
		if err := r.enter(at, depth); err != nil {
			return err
		}
		var s shortField
		if err := strict(raw, &s); err != nil {
			return problem.Field(problem.Invalid, at, "%v", err)
		}
		if !fieldName.MatchString(s.Name) {
			return problem.Field(problem.Invalid, at+".name", "%q is no name of a field", clip(s.Name))
		}
		t, ok := typeByName(s.Type)
		if !ok {
			return problem.Field(problem.Invalid, at+".type", "the field type %q is not known", clip(s.Type))
		}
		f := s.field(t)
		f.OrderKey = i + 1
		parent.Children = append(parent.Children, f)
		if err := r.shortFields(f, s.Fields, at, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *shortField) field(t *fieldType) *Field {
	f := &Field{
		Name: s.Name, Type: t.name, Label: s.Label, Description: s.Description,
		Required: s.Required, RequiredIf: s.RequiredIf, MinimumRole: s.Role,
		Multiple: s.Multiple, Types: s.Types, Format: s.Format, Form: s.Form,
		From: s.From, To: s.To, Min: s.Min, Max: s.Max,
		Mapping: Mapping{
			Kind: s.Kind, Analyzer: s.Analyzer, SearchAnalyzer: s.SearchAnalyzer, CopyTo: s.CopyTo,
			NoIndex: s.Index != nil && !*s.Index, FieldData: s.Sortable,
		},
	}
	for _, c := range s.Choices {
		f.Choices, f.ChoiceLabels = append(f.Choices, c.Value), append(f.ChoiceLabels, c.Label)
	}
	for _, v := range s.Values {
		f.Values, f.ValueLabels = append(f.Values, v.Value), append(f.ValueLabels, v.Label)
	}
	if rawjson.KindOf(s.Mapping) == rawjson.Map {
		f.Mapping.JSON = rawjson.Compact(nil, s.Mapping)
	}
	switch t.name {
	case "date":
		if f.Format == "" {
			f.Format = "yyyy-MM-dd"
		}
	case "daterange":
		f.Nested = s.Nested == nil || *s.Nested
		if f.From == "" {
			f.From = f.Name + "_from_date"
		}
		if f.To == "" {
			f.To = f.Name + "_to_date"
		}
	}
	return f
}
