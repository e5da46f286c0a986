package web_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/web"
)

// document is what the tests read of an API document.
type document struct {
	OpenAPI string
	Info    struct{ Title, Version string }
	Paths   map[string]map[string]struct {
		OperationID string
		Security    []map[string][]string
		RequestBody struct {
			Content map[string]struct{ Schema map[string]any }
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema map[string]any }
		}
	}
	Components struct {
		Schemas map[string]struct {
			Properties map[string]any
		}
	}
}

func TestTheAPIDocumentIsPublicAndTellsWhatHappens(t *testing.T) {
	old := say("GET", "/api/new/{x}")
	old.Also = []string{"/api/old/{x}"}
	s := serve(t, old,
		web.Op(web.Operation{ID: "raw", Method: "POST", Path: "/api/raw", Errors: []int{409}},
			func(context.Context, *struct {
				RawBody []byte `contentType:"application/json"`
			}) (*web.Raw, error) {
				return nil, nil
			}),
		web.Op(web.Operation{ID: "typed", Method: "POST", Path: "/api/typed", Public: true, Errors: []int{422}},
			func(context.Context, *struct{ Body order }) (*web.Reply[order], error) { return nil, nil }))
	a := s.send("GET", "/openapi.json", "")
	var d document
	if err := json.Unmarshal([]byte(a.body), &d); err != nil || a.StatusCode != 200 {
		t.Fatalf("%d %v", a.StatusCode, err)
	}
	if !strings.HasPrefix(d.OpenAPI, "3.1") || d.Info.Title != "Quoin" || d.Info.Version != "test" || strings.Contains(a.body, "$schema") {
		t.Errorf("%+v", d.Info)
	}
	if len(d.Paths) != 6 || d.Paths["/api/old/{x}"] != nil {
		t.Errorf("old spellings are not advertised: %v", d.Paths)
	}
	raw, typed := d.Paths["/api/raw"]["post"], d.Paths["/api/typed"]["post"]
	statuses := func(m map[string]struct {
		Content map[string]struct{ Schema map[string]any }
	}) string {
		var all []string
		for k := range m {
			all = append(all, k)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	if got := statuses(raw.Responses); got != "200 400 401 403 409 413 429 500 503" {
		t.Errorf("statuses of raw: %s", got)
	}
	if got := statuses(typed.Responses); got != "200 400 413 422 429 500 503" {
		t.Errorf("statuses of typed: %s", got)
	}
	if raw.Security == nil || typed.Security != nil {
		t.Errorf("security %v, %v", raw.Security, typed.Security)
	}
	for where, schema := range map[string]map[string]any{
		"request": raw.RequestBody.Content["application/json"].Schema, "answer": raw.Responses["200"].Content["application/json"].Schema,
	} {
		if schema == nil || schema["type"] != nil {
			t.Errorf("the %s is any JSON, not %v", where, schema)
		}
	}
	for _, field := range []string{"success", "acknowledged", "error", "type", "title", "status", "detail", "instance", "errors"} {
		if !slices.ContainsFunc([]string{"ErrorBody"}, func(name string) bool { return d.Components.Schemas[name].Properties[field] != nil }) {
			t.Errorf("the error form in the document lacks %s", field)
		}
	}
	if !strings.Contains(a.body, "application/problem+json") {
		t.Error("the content type of errors is missing")
	}
}
