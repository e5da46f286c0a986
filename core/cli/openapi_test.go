package cli_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/modules"
)

// described is what the rules below read of an API document.
type described struct {
	OpenAPI string
	Info    struct{ Title, Version, Description string }
	Tags    []struct{ Name, Description string }
	Paths   map[string]map[string]struct {
		OperationID, Summary, Description string
		Tags                              []string
		Parameters                        []struct {
			Name, In, Description string
			Required              bool
			Schema                struct{ Description string }
		}
		RequestBody *struct{ Content map[string]illustrated }
		Responses   map[string]struct {
			Description string
			Content     map[string]illustrated
		}
		Security []map[string][]string
		Roles    []string `json:"x-roles"`
	}
}

type illustrated struct {
	Schema  json.RawMessage
	Example json.RawMessage
}

// TestTheAPIDocumentIsWhole looks for what readers and generators of clients
// trip over.
func TestTheAPIDocumentIsWhole(t *testing.T) {
	text := document(t)
	var d described
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.OpenAPI, "3.1") || d.Info.Title == "" || d.Info.Description == "" {
		t.Errorf("%s %+v", d.OpenAPI, d.Info)
	}
	tags := map[string]bool{}
	for _, tag := range d.Tags {
		tags[tag.Name] = tag.Description != ""
	}
	ids := map[string]string{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			at := method + " " + path + " (" + o.OperationID + "): "
			if other, taken := ids[o.OperationID]; taken || o.OperationID == "" {
				t.Error(at + "the id is that of " + other)
			}
			ids[o.OperationID] = at
			if o.Summary == "" || len(o.Description) < 10 || strings.HasSuffix(o.Summary, ".") || len(o.Tags) != 1 || !tags[o.Tags[0]] {
				t.Errorf("%sit needs a summary without a full stop, a description and one tag that is described: %q, %q, %v", at, o.Summary, o.Description, o.Tags)
			}
			if (o.Security == nil) != (o.Roles == nil) {
				t.Error(at + "security and roles are at odds")
			}
			var inPath []string
			for _, p := range o.Parameters {
				if p.Description+p.Schema.Description == "" {
					t.Error(at + "the parameter " + p.Name + " has no description")
				}
				if p.In == "path" {
					inPath = append(inPath, "{"+p.Name+"}")
				}
			}
			if want := parameter.FindAllString(path, -1); !slices.Equal(slices.Sorted(slices.Values(inPath)), slices.Sorted(slices.Values(want))) {
				t.Errorf("%sthe path has the parameters %v, the operation %v", at, want, inPath)
			}
			if o.Responses["200"].Description == "" || o.Responses["500"].Content["application/problem+json"].Schema == nil {
				t.Error(at + "it needs the answers 200 and 500")
			}
			if !unillustrated(o.OperationID) && o.Responses["200"].Content != nil {
				for kind, m := range o.Responses["200"].Content {
					if m.Example == nil {
						t.Errorf("%sthe answer %s has no example: add a call to testdata/examples.txt", at, kind)
					}
				}
				if o.RequestBody != nil {
					for kind, m := range o.RequestBody.Content {
						if m.Example == nil {
							t.Errorf("%sthe body %s has no example", at, kind)
						}
					}
				}
			}
			if method != "get" && o.Responses["200"].Content == nil && o.Responses["204"].Description == "" {
				t.Error(at + "what it answers is not described")
			}
		}
	}
	for _, s := range modules.All() {
		if s.Summary == "" || s.Name != strings.ToLower(s.Name) {
			t.Errorf("module %q needs a lower-case name and a summary", s.Name)
		}
	}
}

// unillustrated reports whether an operation needs no example: it answers a
// page, a stream, or what depends on a receiver outside.
func unillustrated(id string) bool {
	return slices.Contains([]string{"docs", "docs-module", "openapi", "mcp-stream", "mcp-end", "mcp-preflight", "webhook-replay"}, id)
}

// TestTheExamplesOfTheAPIDocument checks each against its schema.
func TestTheExamplesOfTheAPIDocument(t *testing.T) {
	text := document(t)
	api, err := webtest.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	n, err := api.Examples()
	if err != nil {
		t.Error(err)
	}
	if n < 150 {
		t.Errorf("only %d examples", n)
	}
}

// TestTheReferencesOfTheAPIDocument finds those that lead nowhere, and schemas
// that nothing leads to.
func TestTheReferencesOfTheAPIDocument(t *testing.T) {
	text := document(t)
	var d struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`"\$ref":"([^"]*)"`).FindAllSubmatch(text, -1) {
		name, inside := strings.CutPrefix(string(m[1]), "#/components/schemas/")
		if !inside || d.Components.Schemas[name] == nil {
			t.Errorf("%s leads nowhere", m[1])
		}
		used[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		if !used[name] {
			t.Errorf("nothing leads to the schema %s", name)
		}
	}
	if _, err := webtest.Read(text); err != nil {
		t.Error(err)
	}
}
