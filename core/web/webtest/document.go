// Package webtest checks what a server answers against its own API document.
// Only tests import it.
package webtest

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is an API document (OpenAPI 3.1). Many goroutines may use it.
type Document struct {
	paths    []path
	examples []example

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// path is a path with the operations it has, by method in lower case.
type path struct {
	parts []string
	ops   map[string]operation
}

// operation is where an operation stands in the document, and its answers by
// status.
type operation struct {
	id, pointer string
	answers     map[string]any
}

// example is a value and where its schema stands.
type example struct {
	pointer string
	value   any
}

const location = "openapi.json"

// Read reads a document, JSON.
func Read(doc []byte) (*Document, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return nil, err
	}
	whole, ok := parsed.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the document is no object: %.100s", doc)
	}
	d := &Document{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	byPath := map[string]map[string]operation{}
	for at, methods := range object(whole["paths"]) {
		for method, o := range object(methods) {
			op := operation{text(object(o)["operationId"]), "/paths/" + escape(at) + "/" + method, object(object(o)["responses"])}
			d.collect(op.pointer+"/requestBody", object(o)["requestBody"])
			for status, answer := range op.answers {
				d.collect(op.pointer+"/responses/"+status, answer)
			}
			also, _ := object(o)["x-also"].([]any)
			for _, p := range append(also, at) {
				if byPath[text(p)] == nil {
					byPath[text(p)] = map[string]operation{}
				}
				byPath[text(p)][method] = op
			}
		}
	}
	for at, ops := range byPath {
		d.paths = append(d.paths, path{strings.Split(at, "/"), ops})
	}
	shut(whole)
	return d, d.compiler.AddResource(location, whole)
}

// collect notes the examples of a body.
func (d *Document) collect(pointer string, body any) {
	for kind, m := range object(object(body)["content"]) {
		value, has := object(m)["example"]
		if !has || kind != "multipart/form-data" && kind != "application/json" && !strings.HasSuffix(kind, "+json") {
			continue
		}
		d.examples = append(d.examples, example{pointer + "/content/" + escape(kind) + "/schema", value})
	}
}

// Examples checks the examples of bodies against their schemas, and counts
// them.
func (d *Document) Examples() (int, error) {
	var all []error
	for _, e := range d.examples {
		s, err := d.schema(e.pointer)
		if err == nil {
			err = s.Validate(e.value)
		}
		if err != nil {
			all = append(all, fmt.Errorf("the example at %s: %w", e.pointer, err))
		}
	}
	return len(d.examples), errors.Join(all...)
}

// shut lets no object that has named members have others: the document allows
// these in requests, but what it does not name is not to be answered.
func shut(v any) {
	switch v := v.(type) {
	case map[string]any:
		_, named := v["properties"].(map[string]any)
		if more, told := v["additionalProperties"]; named && (!told || more == true) {
			v["additionalProperties"] = false
		}
		for key, inside := range v {
			if key != "example" {
				shut(inside)
			}
		}
	case []any:
		for _, inside := range v {
			shut(inside)
		}
	}
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func text(v any) string           { s, _ := v.(string); return s }

// escape makes a token of a JSON pointer, inside a URL.
func escape(token string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
}

// find gives the operation of a request: words beat parameters.
func (d *Document) find(method, at string) (operation, bool) {
	if rest, old := strings.CutPrefix(at, "/json/"); old {
		at = "/api/" + rest
	}
	parts := []string{""}
	for p := range strings.SplitSeq(at, "/") {
		if p != "" {
			parts = append(parts, p)
		}
	}
	var best *path
	for i := range d.paths {
		if p := &d.paths[i]; p.fits(parts) && (best == nil || p.before(best)) {
			best = p
		}
	}
	if best == nil {
		return operation{}, false
	}
	o, ok := best.ops[strings.ToLower(method)]
	if !ok && method == http.MethodHead {
		o, ok = best.ops["get"]
	}
	return o, ok
}

func parameter(part string) bool { return strings.HasPrefix(part, "{") }

func (p *path) fits(parts []string) bool {
	return slices.EqualFunc(p.parts, parts, func(want, got string) bool { return want == got || parameter(want) })
}

// before reports whether p has a word where other has a parameter, first.
func (p *path) before(other *path) bool {
	for i := range p.parts {
		if a, b := parameter(p.parts[i]), parameter(other.parts[i]); a != b {
			return b
		}
	}
	return false
}

// Check tells what in an answer is not as the document has it.
func (d *Document) Check(method, at string, status int, header http.Header, body []byte) error {
	return d.check(method, at, status, header, body, false)
}

// check is Check of an answer of which only the beginning may be known.
func (d *Document) check(method, at string, status int, header http.Header, body []byte, part bool) error {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	o, known := d.find(method, at)
	if !known {
		if status < 400 {
			return fmt.Errorf("the document knows no such operation, but the answer is %d", status)
		}
		return nil
	}
	base := status
	if status == http.StatusNotModified || status == http.StatusPartialContent {
		base = http.StatusOK // RFC 9110: part of what a GET may be answered
	}
	told, ok := o.answers[strconv.Itoa(base)]
	if !ok {
		return fmt.Errorf("%s does not tell of status %d", o.id, status)
	}
	if len(body) == 0 && !part || method == http.MethodHead || status == http.StatusPartialContent {
		return nil
	}
	content := object(object(told)["content"])
	if _, ok := content[kind]; !ok {
		if _, any := content["*/*"]; any {
			return nil
		}
		return fmt.Errorf("%s does not tell of %q for status %d", o.id, kind, status)
	}
	if part || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil
	}
	s, err := d.schema(o.pointer + "/responses/" + strconv.Itoa(base) + "/content/" + escape(kind) + "/schema")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s says %s, but: %w", o.id, kind, err)
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%s, status %d: %w", o.id, status, err)
	}
	return nil
}

func (d *Document) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(location + "#" + pointer)
	d.schemas[pointer] = s
	return s, err
}
