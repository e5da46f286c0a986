package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Example is a call that was made and what came back. Path is the one of the
// request, with its query.
type Example struct {
	Path    string `json:"path"`
	Request *Body  `json:"request,omitempty"`
	Answer  *Body  `json:"answer,omitempty"`
}

// Body is the body of an example: JSON, or the text of another content type.
type Body struct {
	Type string          `json:"type"`
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"`
}

func (b *Body) value() any {
	if b.JSON != nil {
		return b.JSON
	}
	return b.Text
}

// DocumentOperation implements huma.OperationDocumenter. huma documents its
// own status for a wrong body, and a string where a body is kept as bytes.
func (a api) DocumentOperation(op *huma.Operation) {
	if op.Hidden {
		return
	}
	o := op.Metadata[metadata].(*Operation)
	if !slices.Contains(o.Errors, http.StatusUnprocessableEntity) {
		delete(op.Responses, strconv.Itoa(http.StatusUnprocessableEntity))
	}
	if o.Takes.Type != "" && op.RequestBody == nil {
		op.RequestBody = &huma.RequestBody{Required: !o.EmptyBody}
	}
	if op.RequestBody != nil {
		op.RequestBody.Content = a.describe(op.RequestBody.Content, o.Takes, o.ID+"-request")
	}
	if ok := op.Responses[strconv.Itoa(op.DefaultStatus)]; ok != nil {
		ok.Content = a.describe(ok.Content, o.Answers, o.ID+"-answer")
	}
	a.add(op, o)
	if e, known := a.examples[o.ID]; known {
		illustrate(op, e)
	}
	op.Extensions = map[string]any{"x-module": o.Module}
	if len(o.Also) > 0 {
		op.Extensions["x-also"] = o.Also
	}
	if !o.Public {
		op.Extensions["x-roles"] = append([]string{}, o.roles()...)
		if len(o.OneOf) > 0 {
			op.Extensions["x-one-of-roles"] = o.OneOf
		}
	}
	a.OpenAPI().AddOperation(op)
}

// describe gives the content of a body, in which huma sees bytes or nothing.
func (a api) describe(content map[string]*huma.MediaType, m Media, hint string) map[string]*huma.MediaType {
	for _, one := range content {
		if one.Schema == nil || one.Schema.Type != huma.TypeString {
			return content // huma knows better
		}
	}
	if content == nil && m == (Media{}) {
		return nil
	}
	schema := &huma.Schema{Description: m.Doc}
	if m.Of != nil {
		schema = a.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(m.Of), true, hint)
	} else if m.Doc == "" {
		schema.Description = "JSON, kept as it is"
	}
	described := map[string]*huma.MediaType{}
	for kind := range strings.SplitSeq(cmp.Or(m.Type, "application/json"), ",") {
		described[strings.TrimSpace(kind)] = &huma.MediaType{Schema: schema}
	}
	return described
}

// add puts further answers beside those that are there.
func (a api) add(op *huma.Operation, o *Operation) {
	for code, r := range op.Responses {
		if o.Refuse != nil && r.Content != nil && code >= "400" {
			r.Content["application/json"] = &huma.MediaType{Schema: &huma.Schema{Description: "the error in the form of the protocol"}}
		}
	}
	for status, m := range o.Says {
		code := strconv.Itoa(status)
		r := op.Responses[code]
		if r == nil {
			r = &huma.Response{Description: http.StatusText(status)}
			op.Responses[code] = r
		}
		for kind, one := range a.describe(nil, m, o.ID+"-"+code) {
			if r.Content == nil {
				r.Content = map[string]*huma.MediaType{}
			}
			r.Content[kind] = one
		}
	}
}

// allowNull tells of the pointers to objects, which may be null in answers,
// what huma does not.
func allowNull(registry huma.Registry) {
	for name, s := range registry.Map() {
		t := registry.TypeFromRef("#/components/schemas/" + name)
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if p := s.Properties[key]; f.Type.Kind() == reflect.Pointer && p != nil && p.Ref != "" && !strings.Contains(options, "omit") {
				s.Properties[key] = &huma.Schema{Description: p.Description, OneOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}}
			}
		}
	}
}

// illustrate puts an example into the description of an operation.
func illustrate(op *huma.Operation, e Example) {
	u, err := url.Parse(e.Path)
	if err != nil {
		return // whoever records examples parses them, too
	}
	values := map[string]string{}
	wants, has := strings.Split(op.Path, "/"), strings.Split(u.Path, "/")
	for i := range min(len(wants), len(has)) {
		values["path "+strings.Trim(wants[i], "{}")] = has[i]
	}
	for name := range u.Query() {
		values["query "+name] = u.Query().Get(name)
	}
	for _, p := range op.Parameters {
		if text, ok := values[p.In+" "+p.Name]; ok {
			p.Example = typed(p.Schema, text)
		}
	}
	if op.RequestBody != nil {
		put(op.RequestBody.Content, e.Request)
	}
	if ok := op.Responses[strconv.Itoa(op.DefaultStatus)]; ok != nil {
		put(ok.Content, e.Answer)
	}
}

// put gives the one content of a body its example.
func put(content map[string]*huma.MediaType, b *Body) {
	for _, m := range content {
		if b != nil {
			m.Example = b.value()
		}
	}
}

// typed is a parameter as the type that its schema has.
func typed(s *huma.Schema, text string) any {
	if s != nil && s.Type != huma.TypeString && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// marshalDocument renders the API document when all operations are there.
func (r *Router) marshalDocument() ([]byte, error) {
	doc := r.api.OpenAPI()
	doc.Extensions = map[string]any{"x-modules": r.opt.Modules}
	summaries := map[string][]string{}
	for i := range r.opt.Operations {
		o := &r.opt.Operations[i]
		if s := r.opt.Modules[o.Module]; s != "" && !slices.Contains(summaries[o.Tag], s) {
			summaries[o.Tag] = append(summaries[o.Tag], s)
		} else if summaries[o.Tag] == nil {
			summaries[o.Tag] = []string{}
		}
	}
	doc.Tags = nil
	for tag, about := range summaries {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: tag, Description: strings.Join(about, " ")})
	}
	slices.SortFunc(doc.Tags, func(a, b *huma.Tag) int { return strings.Compare(a.Name, b.Name) })
	return doc.MarshalJSON()
}

// OpenAPI is the API document (OpenAPI 3.1, JSON) of all operations.
func (r *Router) OpenAPI() ([]byte, error) { return r.doc() }
