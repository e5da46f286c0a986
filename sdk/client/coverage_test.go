package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/sdk/client"
)

// exceptions are the operations of the API that the client leaves out, each with
// the reason. The families MCP is for agents, who have clients of their own.
func exceptions() map[string]string {
	return map[string]string{
		"docs":                      "a page for people",
		"docs-module":               "a page for people",
		"job-create-entity":         "Jobs.Create says the same in fewer words",
		"job-get":                   "the export form of what Jobs.Get gives",
		"file-init-upload-old":      "the old form of file-init-upload",
		"meta-content-type":         "Documents.Names gives the same and more",
		"search-indices-from-alias": "Search.Indexes takes one alias as well",
	}
}

// unsent are parameters that no method sends.
func unsent() map[string]string {
	return map[string]string{
		"job-output Last-Event-ID": "from says the same",
		"data-create-as If-Match":  "a document that must not be there has no state",
		"file-upload Content-Type": "always sent",
	}
}

type operation struct {
	id, method string
	path       *regexp.Regexp
	tag        string
	parameters []string
	sample     []byte
}

// recorder answers calls as the OpenAPI document says, and notes them.
type recorder struct {
	mu         sync.Mutex
	t          *testing.T
	operations []*operation
	answers    map[string][]string // by operation, one after the other, the last for ever
	sent       map[string]bool     // "operation" and "operation parameter"
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	op := r.find(req)
	if op == nil {
		r.t.Errorf("%s %s is in no operation of the document", req.Method, req.URL.Path)
		return nil, fmt.Errorf("%s: unknown", req.URL.Path)
	}
	r.sent[op.id] = true
	for name := range req.URL.Query() {
		if !slices.Contains(op.parameters, name) {
			r.t.Errorf("%s has no parameter %s", op.id, name)
		}
		r.sent[op.id+" "+name] = true
	}
	for _, name := range op.parameters {
		if req.Header.Get(name) != "" {
			r.sent[op.id+" "+name] = true
		}
	}
	key := op.id
	if req.Header.Get("Accept") == "text/event-stream" {
		key += " events"
	}
	body := op.sample
	if list := r.answers[key]; len(list) > 0 {
		body = []byte(list[0])
		if len(list) > 1 {
			r.answers[key] = list[1:]
		}
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"X-Job-Claim": {"claim"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

func (r *recorder) find(req *http.Request) *operation {
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var best *operation
	for _, op := range r.operations {
		// of several that fit, the one with fewer placeholders
		if op.method == method && op.path.MatchString(req.URL.EscapedPath()) && (best == nil || strings.Count(op.path.String(), "[^/]") < strings.Count(best.path.String(), "[^/]")) {
			best = op
		}
	}
	return best
}

// document reads the operations of the golden file, which the tests of core/cli
// keep equal to what a server answers at /openapi.json.
func document(t *testing.T) []*operation {
	t.Helper()
	raw, err := os.ReadFile("../../config/reference/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Tags        []string
			Parameters  []struct{ Name, In string }
			Responses   map[string]struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	placeholder := regexp.MustCompile(`\\\{[a-zA-Z]+\\\}`)
	var all []*operation
	for path, methods := range doc.Paths {
		for method, o := range methods {
			op := &operation{id: o.OperationID, method: strings.ToUpper(method), tag: strings.Join(o.Tags, ","), sample: []byte("{}")}
			op.path = regexp.MustCompile("^" + placeholder.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`) + "$")
			for _, p := range o.Parameters {
				if p.In != "path" {
					op.parameters = append(op.parameters, p.Name)
				}
			}
			if schema := o.Responses["200"].Content["application/json"].Schema; schema != nil {
				if op.sample, err = json.Marshal(sample(schema, doc.Components.Schemas, "")); err != nil {
					t.Fatal(err)
				}
			}
			all = append(all, op)
		}
	}
	return all
}

// sample gives an answer with every member that a schema has, so that a type
// that the client has wrong does not decode.
func sample(schema map[string]any, all map[string]map[string]any, name string) any {
	if ref, ok := schema["$ref"].(string); ok {
		return sample(all[strings.TrimPrefix(ref, "#/components/schemas/")], all, name)
	}
	kind := schema["type"]
	if several, ok := kind.([]any); ok {
		kind = several[0]
	}
	switch kind {
	case "object":
		o := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for key, p := range properties {
			o[key] = sample(p.(map[string]any), all, key)
		}
		if more, ok := schema["additionalProperties"].(map[string]any); ok {
			o["more"] = sample(more, all, "")
		}
		return o
	case "array":
		items, _ := schema["items"].(map[string]any)
		return []any{sample(items, all, name)}
	case "boolean":
		return true
	case "integer", "number":
		return 0
	case "string":
		switch name {
		case "date":
			return "2026-05-04 10:00:00.000000"
		case "timezone":
			return "UTC"
		case "size", "id": // numbers that the contract wants as texts
			return "7"
		}
		return "2026-05-04T10:00:00+00:00" // a time, and a text as good as any
	}
	return map[string]any{}
}

// TestTheClientCoversTheAPI makes a call with every method of the client, with
// all it can say, against what the OpenAPI document describes: no operation may
// be left out, and no parameter, but for the exceptions above.
func TestTheClientCoversTheAPI(t *testing.T) {
	r := &recorder{t: t, operations: document(t), answers: answers(), sent: map[string]bool{}}
	c, err := client.New("http://server", client.WithToken("t"), client.WithHTTPClient(&http.Client{Transport: r}))
	if err != nil {
		t.Fatal(err)
	}
	table := everyCall(t.Context(), c)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if err := table[name](); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, v := range []any{c, c.Documents("page"), c.Users, c.Search, c.Files, c.Forms, c.Webhooks, c.Jobs, c.Config, &client.Claim{}} {
		for m := range reflect.TypeOf(v).Methods() {
			name := strings.TrimPrefix(reflect.TypeOf(v).String(), "*client.") + "." + m.Name
			if name != "Client.Documents" && name != "Client.WithToken" && table[name] == nil {
				t.Errorf("%s is not tried here", name)
			}
		}
	}
	left, silent := exceptions(), unsent()
	for _, op := range r.operations {
		if op.tag == "MCP" {
			continue
		}
		if _, ok := left[op.id]; ok == r.sent[op.id] {
			t.Errorf("operation %s: has a method: %v, is an exception: %v", op.id, r.sent[op.id], ok)
		}
		delete(left, op.id)
		for _, p := range op.parameters {
			key := op.id + " " + p
			if _, ok := silent[key]; !ok && r.sent[op.id] && !r.sent[key] {
				t.Errorf("no method sends the parameter %s", key)
			}
			delete(silent, key)
		}
	}
	if len(left)+len(silent) > 0 {
		t.Errorf("these exceptions are in the document no more: %v %v", left, silent)
	}
}
