package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humabunrouter"
	"github.com/uptrace/bunrouter"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// Options are what a Router is made from.
type Options struct {
	Log           *slog.Logger
	Authenticator auth.Authenticator // nil: every token is refused
	Operations    []Operation
	MaxBody       int64 // bytes; the default of operations that name none
	Version       string
}

// Router serves the operations.
type Router struct {
	http.Handler
	api    huma.API
	router *bunrouter.Router
	opt    Options
	routes map[string]map[string]string // shape → method → "module: path"
}

// New mounts the operations. Two that claim the same method and path are an
// error which names both.
func New(opt Options) (*Router, error) {
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		return humaError(ctx.Context(), status, msg, errs...)
	}
	r := &Router{opt: opt, routes: map[string]map[string]string{}}
	missing := func(w http.ResponseWriter, req bunrouter.Request) error {
		writeError(w, req.Request, r.noRoute(req.Request))
		return nil
	}
	r.router = bunrouter.New(bunrouter.WithNotFoundHandler(missing), bunrouter.WithMethodNotAllowedHandler(
		func(w http.ResponseWriter, req bunrouter.Request) error {
			w.Header().Set("Allow", strings.Join(r.allowed(req.URL.Path), ", "))
			return missing(w, req)
		}))
	r.api = huma.NewAPI(apiConfig(opt.Version), adapter{r.router})
	if err := r.mount(); err != nil {
		return nil, err
	}
	r.Handler = observe(opt.Log, r.tidy())
	return r, nil
}

func apiConfig(version string) huma.Config {
	c := huma.DefaultConfig("Quoin", version)
	c.Formats, c.DefaultFormat = formats(), "application/json"
	c.DocsPath, c.SchemasPath, c.CreateHooks = "", "", nil // no $schema links in answers
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":  {Type: "apiKey", In: "header", Name: "X-Auth-Token"},
		"bearer": {Type: "http", Scheme: "bearer"},
	}
	return c
}

// mount registers the operations in a fixed order, whatever order they came in.
func (r *Router) mount() error {
	ops := slices.Clone(r.opt.Operations)
	slices.SortStableFunc(ops, func(a, b Operation) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	for i := range ops {
		o := &ops[i]
		for _, path := range append([]string{o.Path}, o.Also...) {
			if err := r.claim(o, path); err != nil {
				return err
			}
			h := o.huma(path, r.opt.MaxBody)
			h.Middlewares = huma.Middlewares{r.authorize(o)}
			o.register(r.api, h)
		}
	}
	return nil
}

func (r *Router) claim(o *Operation, path string) error {
	shape := shapeOf(path)
	if r.routes[shape] == nil {
		r.routes[shape] = map[string]string{}
	}
	mine := fmt.Sprintf("%s (module %s)", path, o.Module)
	if other, taken := r.routes[shape][o.Method]; taken {
		return fmt.Errorf("two operations answer %s: %s and %s", o.Method, other, mine)
	}
	r.routes[shape][o.Method] = mine
	return nil
}

// shapeOf makes paths that differ only in the names of parameters alike.
func shapeOf(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = "{}"
		}
	}
	return strings.Join(parts, "/")
}

// allowed lists the methods that a path answers to.
func (r *Router) allowed(path string) []string {
	var methods []string
	parts := strings.Split(path, "/")
	for shape, by := range r.routes {
		pattern := strings.Split(shape, "/")
		if !slices.EqualFunc(pattern, parts, func(p, s string) bool { return p == s || p == "{}" && s != "" }) {
			continue
		}
		for m := range by {
			methods = append(methods, m)
			if m == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// noRoute says what is wrong with a request that no operation takes. A
// stranger learns nothing but that the API wants a token.
func (r *Router) noRoute(req *http.Request) error {
	if strings.HasPrefix(req.URL.Path, "/api/") {
		if _, err := r.identify(req.Context(), token(req)); err != nil {
			return err
		}
	}
	if allow := r.allowed(req.URL.Path); len(allow) > 0 {
		return problem.New(problem.MethodNotAllowed, "%s is not allowed here; use %s", req.Method, strings.Join(allow, " or "))
	}
	return problem.New(problem.NotFound, "there is nothing at %s", req.URL.Path)
}

// tidy rewrites what the router would stumble over: HEAD is GET without its
// body, /json is the old name of /api, and a trailing slash means nothing (the
// router would answer a POST with a redirect that clients repeat as GET).
func (r *Router) tidy() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path := req.URL.Path
		rest, old := strings.CutPrefix(path, "/json/")
		if req.Method == http.MethodHead || old || len(path) > 1 && path[len(path)-1] == '/' {
			clone, u := *req, *req.URL
			clone.URL = &u
			if old {
				u.Path = "/api/" + rest
				u.RawPath = strings.Replace(u.RawPath, "/json/", "/api/", 1)
			}
			u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
			if req.Method == http.MethodHead {
				clone.Method = http.MethodGet
			}
			req = &clone
		}
		if err := r.router.ServeHTTPError(w, req); err != nil {
			writeError(w, req, err)
		}
	})
}

// adapter is huma's door to the router. Unlike the one that comes with huma it
// lets panics through to the log, and unescapes parameters exactly once: the
// router leaves them alone as soon as one of them holds an escaped slash.
type adapter struct{ router *bunrouter.Router }

func (a adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	path := strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
	a.router.Handle(op.Method, path, func(w http.ResponseWriter, r bunrouter.Request) error {
		ctx := humabunrouter.NewContext(op, r, w)
		if r.URL.RawPath != "" {
			ctx = escapedContext{ctx}
		}
		handler(ctx)
		return nil
	})
}

// ServeHTTP implements http.Handler for huma's own tests.
func (a adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.router.ServeHTTP(w, r) }

type humaContext huma.Context

type escapedContext struct{ humaContext }

func (c escapedContext) Param(name string) string {
	v := c.humaContext.Param(name)
	if plain, err := url.PathUnescape(v); err == nil {
		return plain
	}
	return v
}

func (c escapedContext) Unwrap() huma.Context { return c.humaContext }

// answerPanic turns a panic into a 500, unless the answer has begun.
func answerPanic(rec *recorder, r *http.Request, info *requestInfo, p any) {
	if p == http.ErrAbortHandler {
		panic(p)
	}
	info.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	if rec.status != 0 {
		rec.status = http.StatusInternalServerError // for the log; the client sees a cut answer
		return
	}
	cause := info.err
	writeError(rec, r, problem.From(cause))
}

// identify finds out who holds the token.
func (r *Router) identify(ctx context.Context, token string) (*auth.Identity, error) {
	if token == "" || r.opt.Authenticator == nil {
		return nil, problem.New(problem.Unauthenticated, "Authentication required: send a token in X-Auth-Token or Authorization: Bearer")
	}
	return r.opt.Authenticator.Authenticate(ctx, token)
}

// authorize runs before anything of the request is parsed.
func (r *Router) authorize(o *Operation) func(huma.Context, func(huma.Context)) {
	all := o.roles()
	return func(ctx huma.Context, next func(huma.Context)) {
		id, err := r.identify(ctx.Context(), tokenOf(ctx.Header))
		if err == nil {
			infoOf(ctx.Context()).user = id
			signedIn := auth.With(ctx.Context(), id)
			if err = auth.RequireRoles(signedIn, all, o.OneOf); err == nil || o.Public {
				next(huma.WithContext(ctx, signedIn))
				return
			}
		}
		if o.Public {
			next(ctx)
			return
		}
		req, w := humabunrouter.Unwrap(ctx)
		writeError(w, req.Request, err)
	}
}

func token(r *http.Request) string { return tokenOf(r.Header.Get) }

// tokenOf reads the historical header first, as old servers do.
func tokenOf(header func(string) string) string {
	if t := header("X-Auth-Token"); t != "" {
		return t
	}
	scheme, t, ok := strings.Cut(header("Authorization"), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(t)
	}
	return ""
}
