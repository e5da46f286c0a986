package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// metadata is the key under which a huma operation leads to ours.
const metadata = "operation"

// api is huma with the parts replaced that stand against the contract: bodies
// are JSON whatever the client calls them, so are the answers, and the API
// document tells what really happens.
type api struct {
	huma.API
	examples map[string]Example
}

// useOurErrors sets huma's package variables; it has no other place for them.
var useOurErrors = sync.OnceFunc(func() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return humaError(context.Background(), status, msg, errs...) //nolint:forbidigo // huma asks for the type only, outside of requests
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		return humaError(ctx.Context(), status, msg, errs...)
	}
})

func newAPI(opt Options, adapter huma.Adapter) huma.API {
	useOurErrors()
	c := huma.DefaultConfig("Quoin", opt.Version)
	c.Info.Description = "Every path below /api can also be written with /json. HEAD answers wherever GET does."
	c.Info.License = &huma.License{Name: "MIT", Identifier: "MIT"}
	c.Servers = []*huma.Server{{URL: "/", Description: "This server"}}
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil                         // no $schema links in answers
	c.AllowAdditionalPropertiesByDefault = true // clients of old send members that nobody reads
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":  {Type: "apiKey", In: "header", Name: "X-Auth-Token", Description: "A token of POST /auth-token or of quoin token create."},
		"bearer": {Type: "http", Scheme: "bearer", Description: "The same token, as Authorization: Bearer."},
	}
	return api{huma.NewAPI(c, adapter), opt.Examples}
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
