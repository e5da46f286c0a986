// Package web is the HTTP layer: typed operations on huma over bunrouter, with
// the traps of both closed in one place.
//
// A module describes its endpoints as data with Op; this package mounts them,
// signs the caller in, checks roles before anything of the body is read,
// limits bodies, renders problems and writes one log line per request.
package web

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quoin-cms/quoin/core/auth"
)

// Operation is one endpoint. Make it with Op.
type Operation struct {
	// ID is unique in the API document, such as "data-get".
	ID string
	// Method is the HTTP method. A GET operation answers HEAD as well.
	Method string
	// Path has parameters in braces, such as /api/data/{type}/{ouuid}.
	Path string
	// Also are further paths with the same behaviour: old spellings.
	Also    []string
	Summary string
	Doc     string
	Tag     string
	// Public operations need no token. Others need ROLE_API, unless Roles says
	// otherwise.
	Public bool
	// Roles are all needed. Nil means ROLE_API; an empty slice means that any
	// signed-in user will do.
	Roles []string
	// OneOf are alternatives, one of which is needed besides Roles.
	OneOf []string
	// MaxBody is the largest body in bytes; 0 takes the configured default,
	// below 0 means no limit (the handler streams).
	MaxBody int64
	// EmptyBody lets a request without a body reach a handler with RawBody.
	EmptyBody bool
	// Errors are the statuses the operation answers besides those of every
	// operation, for the API document.
	Errors []int
	// Takes and Answers tell the API document of a body that is bytes or a
	// stream here, whose Go type says nothing.
	Takes, Answers Media
	// Says are further answers by their status: with another body than the
	// others have, or without one.
	Says map[int]Media

	// Refuse writes the answer to a request that may not reach the handler: no
	// token or one that is not valid, a missing role, a body that is announced
	// too large. Nil means the form of the API. An unauthenticated request must
	// get WWW-Authenticate (RFC 9110, 11.6.1).
	Refuse func(w http.ResponseWriter, r *http.Request, err error)

	// Module is who offers the operation; core/app fills it in.
	Module string

	register func(huma.API, huma.Operation)
	raw      bool // the handler wants the body as bytes
}

// Op makes an operation from its description and handler. I is a struct whose
// fields carry `path`, `query` or `header` tags and either Body (decoded JSON)
// or RawBody []byte (valid until the handler returns). O is a struct with a
// Body and, if need be, fields with a `header` tag: see Reply, Raw and Stream.
func Op[I, O any](o Operation, handler func(context.Context, *I) (*O, error)) Operation {
	_, o.raw = reflect.TypeFor[I]().FieldByName("RawBody")
	o.register = func(api huma.API, h huma.Operation) {
		if o.raw && o.EmptyBody { // huma requires every raw body, and looks at each request whether it does
			h.RequestBody = &huma.RequestBody{}
			defer func() { h.RequestBody.Required = false }()
		}
		huma.Register(api, h, func(ctx context.Context, in *I) (*O, error) {
			out, err := handler(ctx, in)
			if err != nil {
				return nil, render(ctx, err)
			}
			return out, nil
		})
	}
	return o
}

// Media is what a body holds, for the API document.
type Media struct {
	// Type is the content type, or several with commas between; empty means JSON.
	Type string
	// Of is a value of a type whose JSON looks like the body; nil for anything.
	Of any
	// Doc says what the body is, when Of does not.
	Doc string
}

// Reply is an answer of one JSON value.
type Reply[T any] struct {
	Body T
}

// Answer makes a Reply.
func Answer[T any](v T) (*Reply[T], error) { return &Reply[T]{Body: v}, nil }

// Raw is an answer whose JSON is ready as bytes.
type Raw struct {
	ContentType string `header:"Content-Type"`
	ETag        string `header:"ETag"`
	Body        []byte
}

// JSON makes a Raw answer of JSON bytes.
func JSON(body []byte) (*Raw, error) {
	return &Raw{ContentType: "application/json", Body: body}, nil
}

// None is the input of an operation without parameters; a body is not read.
type None struct{}

// roles gives the roles that are all needed.
func (o *Operation) roles() []string {
	if o.Roles == nil {
		return []string{auth.RoleAPI}
	}
	return o.Roles
}

// paths are all paths of the operation, its own first.
func (o *Operation) paths() []string { return append([]string{o.Path}, o.Also...) }

// limit is the largest body in bytes; below 0 means no limit.
func (o *Operation) limit(otherwise int64) int64 {
	if o.MaxBody == 0 {
		return otherwise
	}
	return o.MaxBody
}

// describe gives huma's description of the operation under one of its paths.
func (o *Operation) describe(path string, defaultBody int64) huma.Operation {
	limit := o.limit(defaultBody)
	if limit > 0 {
		limit++ // huma refuses a body that is as large as its limit
	}
	h := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: path, Summary: o.Summary, Description: o.Doc,
		Tags: []string{o.Tag}, DefaultStatus: http.StatusOK, MaxBodyBytes: limit, BodyReadTimeout: bodyTime,
		Hidden: path != o.Path, Metadata: map[string]any{metadata: o},
		SkipValidateBody: o.raw, // the handler takes bytes, huma would want a string
	}
	h.Errors = append([]int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}, o.Errors...)
	if o.Method != http.MethodGet && limit > 0 {
		h.Errors = append(h.Errors, http.StatusRequestEntityTooLarge)
	}
	if !o.Public {
		h.Security = []map[string][]string{{"token": {}}, {"bearer": {}}}
		h.Errors = append(h.Errors, http.StatusUnauthorized, http.StatusForbidden)
	}
	slices.Sort(h.Errors)
	h.Errors = slices.Compact(h.Errors)
	return h
}
