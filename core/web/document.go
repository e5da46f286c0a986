package web

import (
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
	if m.Type == "" {
		m.Type = "application/json"
	}
	return map[string]*huma.MediaType{m.Type: {Schema: schema}}
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
