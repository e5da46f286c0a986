package double

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// failure is an answer that is not a success: a status and a message, worded
// as the server words it.
type failure struct {
	code    int
	message string
}

func (f *failure) Error() string { return f.message }

func fail(code int, message string) *failure { return &failure{code: code, message: message} }

// schemaField is one field of a schema as the server lists it. A name with
// `.*` is a pattern: it holds no values, concrete fields are made from it.
type schemaField struct {
	Name           string `json:"name"`
	Type           string `json:"type"`
	Facet          bool   `json:"facet"`
	Index          bool   `json:"index"`
	Infix          bool   `json:"infix"`
	Locale         string `json:"locale"`
	Optional       bool   `json:"optional"`
	Sort           bool   `json:"sort"`
	Stem           bool   `json:"stem"`
	StemDictionary string `json:"stem_dictionary"`
	Store          bool   `json:"store"`
	Reference      string `json:"reference,omitempty"`
	AsyncReference *bool  `json:"async_reference,omitempty"`
}

// asked is a field of a schema as a client writes it; absent switches have
// defaults that depend on the type.
type asked struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Facet     bool   `json:"facet"`
	Index     *bool  `json:"index"`
	Optional  bool   `json:"optional"`
	Sort      *bool  `json:"sort"`
	Store     *bool  `json:"store"`
	Reference string `json:"reference"`
}

// known are the types whose documents the double understands.
func known() []string {
	return []string{"string", "string[]", "int32", "int32[]", "int64", "int64[]", "float", "float[]", "bool", "bool[]", "geopoint", "geopoint[]"}
}

// foreign are types of a real server that the double has no use for.
func foreign() []string {
	return []string{"auto", "object", "object[]", "string*", "image", "geopolygon"}
}

// settle fills in the defaults of the server.
func (a asked) settle() schemaField {
	or := func(p *bool, d bool) bool {
		if p == nil {
			return d
		}
		return *p
	}
	sortable := a.Type != "string" && (!strings.HasSuffix(a.Type, "[]") || a.Type == "geopoint[]")
	f := schemaField{
		Name: a.Name, Type: a.Type, Facet: a.Facet, Index: or(a.Index, true), Optional: a.Optional,
		Sort: or(a.Sort, sortable), Store: or(a.Store, true), Reference: a.Reference,
	}
	if a.Reference != "" {
		f.AsyncReference = new(bool)
	}
	return f
}

func (f schemaField) pattern() bool { return strings.Contains(f.Name, ".*") }
func (f schemaField) array() bool   { return strings.HasSuffix(f.Type, "[]") }
func (f schemaField) scalar() string {
	return strings.TrimSuffix(f.Type, "[]")
}

// parseSchema reads the body of POST /collections.
func (s *Server) parseSchema(body []byte) (string, []schemaField, *failure) {
	var in struct {
		Name   string           `json:"name"`
		Fields *json.RawMessage `json:"fields"`
		Nested bool             `json:"enable_nested_fields"`
	}
	if json.Unmarshal(body, &in) != nil {
		return "", nil, fail(400, "Bad JSON.")
	}
	if in.Name == "" {
		return "", nil, fail(400, "Parameter `name` is required.")
	}
	var fields []asked
	if in.Fields == nil || json.Unmarshal(*in.Fields, &fields) != nil || len(fields) == 0 {
		return "", nil, fail(400, "Parameter `fields` is required.")
	}
	if in.Nested {
		s.violate("collection %s: nested objects are not to be used", in.Name)
	}
	settled, err := s.settleFields(in.Name, fields)
	return in.Name, settled, err
}

func (s *Server) settleFields(collection string, fields []asked) ([]schemaField, *failure) {
	var out []schemaField
	for _, f := range fields {
		switch {
		case f.Name == "id":
			continue // always implicit
		case slices.ContainsFunc(out, func(o schemaField) bool { return o.Name == f.Name }):
			return nil, fail(400, "There are duplicate field names in the schema.")
		case slices.Contains(foreign(), f.Type):
			return nil, s.unsupported("collection %s: field %s of type %s", collection, f.Name, f.Type)
		case !slices.Contains(known(), f.Type):
			return nil, fail(400, "Field `"+f.Name+"` has an invalid data type `"+f.Type+"`, see docs for supported data types.")
		case len(f.Name) > maxFieldName:
			return nil, s.fatal("collection %s: the field name %.40s… has %d bytes; long names kill the server at every start", collection, f.Name, len(f.Name))
		case f.Reference != "" && strings.HasPrefix(f.Reference, collection+"."):
			return nil, s.fatal("collection %s: field %s refers to its own collection; imports then hang for ever", collection, f.Name)
		}
		out = append(out, f.settle())
	}
	return out, nil
}

// patternOf compiles the name of a pattern field, whole name to match.
func patternOf(name string) *regexp.Regexp {
	re, err := regexp.Compile("^(?:" + name + ")$")
	if err != nil {
		return regexp.MustCompile(`^\b$`) // matches nothing
	}
	return re
}
