package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/uptrace/bunrouter"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// Options are what a Router is made from.
type Options struct {
	Log           *slog.Logger
	Authenticator auth.Authenticator // nil: every token is refused
	Operations    []Operation
	MaxBody       int64 // bytes; the default of operations that name none
	Version       string
	// TrustedProxies are the addresses whose headers about the client are believed.
	TrustedProxies []netip.Prefix
	// ProxyHeaders is how they speak; empty is XForwarded.
	ProxyHeaders ProxyHeaders
	Limits       Limits
	CORS         CORS
	// Observe is told of every answer, with the id of the operation, or an empty
	// one; it must be quick. It may be nil.
	Observe func(operation string, status int, took time.Duration)
	// Examples are calls of operations, by their ids, for the API document.
	Examples map[string]Example
	// Modules tell what the modules are for, by their names, for the API document.
	Modules map[string]string
	// Tracing makes a span of every request; nil is off.
	Tracing *telemetry.Tracing
}

// Router serves the operations. It is an http.Handler.
type Router struct {
	opt    Options
	tree   *bunrouter.Router
	api    huma.API
	routes map[string]map[string]string // shape → method → "path (module x)"
	doc    func() ([]byte, error)

	tokens    *quota[int64]        // by the number of the token; nil: no limit
	addresses *quota[netip.Prefix] // nil: no limit
}

// New mounts the operations and those of the API document (GET /openapi.json,
// /docs and /docs/{module}). Two operations that claim
// the same method and path, or the same id, are an error which names the
// modules of both.
func New(opt Options) (*Router, error) {
	r := &Router{opt: opt, routes: map[string]map[string]string{}}
	r.tokens = newQuota[int64]("token", opt.Limits.Tokens, maxBuckets)
	r.addresses = newQuota[netip.Prefix]("address", opt.Limits.Addresses, maxBuckets)
	missing := func(w http.ResponseWriter, req bunrouter.Request) error { return r.noRoute(w.(*recorder), req.Request) }
	r.tree = bunrouter.New(bunrouter.WithNotFoundHandler(missing), bunrouter.WithMethodNotAllowedHandler(missing))
	r.opt.Operations = append(slices.Clone(opt.Operations), r.documentation()...)
	r.api = newAPI(opt, r)
	r.doc = sync.OnceValues(r.marshalDocument)
	return r, r.mount()
}

// mount registers the operations in a fixed order, whatever order they came in.
func (r *Router) mount() error {
	ops := r.opt.Operations
	slices.SortStableFunc(ops, func(a, b Operation) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	for i := range ops {
		for _, path := range ops[i].paths() {
			if err := r.claim(&ops[i], path); err != nil {
				return err
			}
		}
	}
	ids := map[string]string{}
	for i := range ops {
		o := &ops[i]
		if other, taken := ids[o.ID]; taken || o.ID == "" {
			return fmt.Errorf("two operations have the id %q: one of module %s, one of module %s", o.ID, other, o.Module)
		}
		ids[o.ID] = o.Module
		for _, path := range o.paths() {
			if err := o.mount(r.api, path, r.opt.MaxBody); err != nil {
				return err
			}
		}
	}
	allowNull(r.api.OpenAPI().Components.Schemas)
	return nil
}

// claim notes who answers a path, before the router itself would panic.
func (r *Router) claim(o *Operation, path string) error {
	mine := fmt.Sprintf("%s (module %s)", path, o.Module)
	if !wellFormed(path) {
		return fmt.Errorf("%s is not a path such as /api/data/{type}", mine)
	}
	shape := shapeOf(path)
	if r.routes[shape] == nil {
		r.routes[shape] = map[string]string{}
	}
	if other, taken := r.routes[shape][o.Method]; taken {
		return fmt.Errorf("two operations answer %s: %s and %s", o.Method, other, mine)
	}
	r.routes[shape][o.Method] = mine
	return nil
}

// Handle implements huma.Adapter: huma registers its handlers here. A GET
// answers HEAD as well, unless the path has an operation for that.
func (r *Router) Handle(op *huma.Operation, handler func(huma.Context)) {
	o := op.Metadata[metadata].(*Operation)
	path := strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
	serve := func(w http.ResponseWriter, req bunrouter.Request) error {
		rec := w.(*recorder)
		rec.info.operation = o.ID
		if rec.info.span.Recorded() {
			nameSpan(rec.info.span, o, op)
		}
		ctx, err := r.admit(o, rec, req.Request)
		if err != nil && o.Refuse != nil {
			if problem.Is(err, problem.Internal) || problem.From(err).Cause != nil {
				rec.info.err = err
			}
			o.Refuse(rec, req.Request, err)
			return nil
		}
		if err != nil {
			return err
		}
		c := &call{op: op, req: req, rec: rec, ctx: ctx}
		handler(c)
		c.flush()
		return nil
	}
	r.tree.Handle(op.Method, path, serve)
	if _, own := r.routes[shapeOf(op.Path)][http.MethodHead]; op.Method == http.MethodGet && !own {
		r.tree.Handle(http.MethodHead, path, serve)
	}
}

func nameSpan(span telemetry.Span, o *Operation, op *huma.Operation) {
	span.Name(op.Method + " " + op.Path)
	span.Text("http.route", op.Path)
	span.Text("quoin.operation", o.ID)
}

// route hands a request to its operation and writes the error when there is
// none, or it may not.
func (r *Router) route(rec *recorder, req *http.Request) {
	if u := tidy(req.URL); u != req.URL {
		clone := *req
		clone.URL = u
		req = &clone
	}
	err := checkURL(req.URL)
	if err == nil {
		limitBodyTime(rec, req)
		err = r.tree.ServeHTTPError(rec, req)
	}
	if err != nil {
		writeError(rec, err)
	}
}

// noRoute says what is wrong with a request that no operation takes. A
// stranger learns nothing but that the API wants a token.
func (r *Router) noRoute(rec *recorder, req *http.Request) error {
	id, err := r.identify(rec.ctx, tokenOf(req))
	if much := r.charge(rec, id); much != nil {
		return much
	}
	if err != nil && strings.HasPrefix(req.URL.Path, "/api/") {
		return err
	}
	if allow := r.allowed(req.URL); len(allow) > 0 {
		return &notAllowed{allow, problem.New(problem.MethodNotAllowed, "%s is not allowed here; use %s", req.Method, strings.Join(allow, " or "))}
	}
	const longest = 200
	return problem.New(problem.NotFound, "there is nothing at %.*s", longest, req.URL.Path)
}

// notAllowed carries the value of Allow (RFC 9110, 15.5.6) beside the problem.
type notAllowed struct {
	allow []string
	cause error
}

func (e *notAllowed) Error() string { return e.cause.Error() }
func (e *notAllowed) Unwrap() error { return e.cause }

// Routes lists "METHOD path" with the module that offers each.
func (r *Router) Routes() map[string]string {
	list := map[string]string{}
	for i := range r.opt.Operations {
		o := &r.opt.Operations[i]
		for _, p := range o.paths() {
			list[o.Method+" "+p] = o.Module
		}
	}
	return list
}
