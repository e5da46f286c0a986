package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/apidoc"
	"github.com/quoin-cms/quoin/core/problem"
)

// documentation are the operations that serve the API document, for programs
// and for people.
func (r *Router) documentation() []Operation {
	all := sync.OnceValues(r.pages)
	answer := func(name string) (*Stream, error) {
		pages, err := all()
		if err != nil {
			return nil, err
		}
		if pages[name] == nil {
			return nil, problem.New(problem.NotFound, "there is no module %q here", name)
		}
		return Direct(pages[name].serve), nil
	}
	html := Media{Type: "text/html", Doc: "a page for people"}
	return []Operation{
		Op(Operation{
			ID: "openapi", Method: http.MethodGet, Path: "/openapi.json", Tag: "Meta", Public: true, Module: "core",
			Summary: "This document", Doc: "OpenAPI 3.1. It holds the operations of the modules that are switched on.",
			Answers: Media{Of: map[string]any{}},
		}, func(context.Context, *None) (*Stream, error) { return answer(documentName) }),
		Op(Operation{
			ID: "docs", Method: http.MethodGet, Path: "/docs", Tag: "Meta", Public: true, Module: "core", Answers: html,
			Summary: "This document, for people", Doc: "A page that lists the operations. It loads nothing from elsewhere.",
		}, func(context.Context, *None) (*Stream, error) { return answer("") }),
		Op(Operation{
			ID: "docs-module", Method: http.MethodGet, Path: "/docs/{module}", Tag: "Meta", Public: true, Module: "core", Answers: html,
			Summary: "The operations of a module, for people", Doc: "A page with everything about the operations of one module.", Errors: []int{http.StatusNotFound},
		}, func(_ context.Context, in *struct {
			Module string `path:"module" doc:"name of the module"`
		}) (*Stream, error) {
			return answer(in.Module)
		}),
	}
}

// documentName is no name that a module can have.
const documentName = "openapi.json"

// pages are the API document and the pages made from it, by their names.
func (r *Router) pages() (map[string]*fixed, error) {
	doc, err := r.OpenAPI()
	if err != nil {
		return nil, err
	}
	site, err := apidoc.Render(doc)
	if err != nil {
		return nil, err
	}
	all := map[string]*fixed{documentName: newFixed("application/json", "", doc)}
	for name, page := range site.Pages {
		all[name] = newFixed("text/html; charset=utf-8", site.Policy, page)
	}
	return all, nil
}

// fixed is an answer that does not change while the server runs.
type fixed struct {
	contentType, policy, etag string
	body                      []byte
}

func newFixed(contentType, policy string, body []byte) *fixed {
	sum := sha256.Sum256(body)
	return &fixed{contentType, policy, `"` + hex.EncodeToString(sum[:12]) + `"`, body}
}

// serve writes the answer, or 304 to whoever has it.
func (f *fixed) serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", "no-cache") // ask each time: the answer is 304
	if f.policy != "" {
		h.Set("Content-Security-Policy", f.policy)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
	return nil
}
