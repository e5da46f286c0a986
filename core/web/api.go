package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// metadata is the key under which a huma operation leads to ours.
const metadata = "operation"

// api is huma with the parts replaced that stand against the contract: bodies
// are JSON whatever the client calls them, so are the answers, and the API
// document tells what really happens.
type api struct{ huma.API }

// useOurErrors sets huma's package variables; it has no other place for them.
var useOurErrors = sync.OnceFunc(func() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return humaError(context.Background(), status, msg, errs...) //nolint:forbidigo // huma asks for the type only, outside of requests
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		return humaError(ctx.Context(), status, msg, errs...)
	}
})

func newAPI(version string, adapter huma.Adapter) huma.API {
	useOurErrors()
	c := huma.DefaultConfig("Quoin", version)
	c.Info.Description = "Every path below /api can also be written with /json. HEAD answers wherever GET does."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil                         // no $schema links in answers
	c.AllowAdditionalPropertiesByDefault = true // clients of old send members that nobody reads
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":  {Type: "apiKey", In: "header", Name: "X-Auth-Token"},
		"bearer": {Type: "http", Scheme: "bearer"},
	}
	return api{huma.NewAPI(c, adapter)}
}

// Unmarshal implements huma.API. Old clients label any body as JSON, and curl
// labels JSON as a form: the label says nothing.
func (api) Unmarshal(_ string, data []byte, v any) error { return unmarshal(data, v) }

// Marshal implements huma.API.
func (api) Marshal(w io.Writer, _ string, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Negotiate implements huma.API: there is one form of answers.
func (api) Negotiate(string) (string, error) { return "application/json", nil }

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
	anything := func(content map[string]*huma.MediaType, doc string) {
		for _, m := range content {
			if m.Schema != nil && m.Schema.Type == huma.TypeString {
				m.Schema = &huma.Schema{Description: doc}
			}
		}
	}
	if op.RequestBody != nil {
		anything(op.RequestBody.Content, "JSON, kept as it is")
	}
	if ok := op.Responses[strconv.Itoa(op.DefaultStatus)]; ok != nil {
		anything(ok.Content, "JSON")
	}
	a.OpenAPI().AddOperation(op)
}

// document is the operation that serves the API document.
func (r *Router) document() Operation {
	return Op(Operation{
		ID: "openapi", Method: http.MethodGet, Path: "/openapi.json", Tag: "Meta", Public: true, Module: "core",
		Summary: "This document (OpenAPI 3.1)",
	}, func(context.Context, *None) (*Raw, error) {
		doc, err := r.OpenAPI()
		if err != nil {
			return nil, err
		}
		return JSON(doc)
	})
}

// OpenAPI is the API document (OpenAPI 3.1, JSON) of all operations.
func (r *Router) OpenAPI() ([]byte, error) { return r.doc() }

// mount registers the operation with huma under one of its paths. huma panics
// about handlers whose types it cannot serve.
func (o *Operation) mount(a huma.API, path string, defaultBody int64) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("operation %s of module %s: %v", o.ID, o.Module, cause)
		}
	}()
	o.register(a, o.describe(path, defaultBody))
	return nil
}
