package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// bodyTime is how long a client may take to send a body that is not streamed.
const bodyTime = time.Minute

// admit decides whether a request may go on, before anything of its body is
// read, and gives the context of the handler.
func (r *Router) admit(o *Operation, rec *recorder, req *http.Request) (context.Context, error) {
	ctx := rec.ctx
	id, err := r.identify(ctx, tokenOf(req))
	if much := r.charge(rec, id); much != nil {
		return nil, much
	}
	if err == nil {
		rec.info.user = id
		ctx = auth.With(ctx, id)
		err = auth.RequireRoles(ctx, o.roles(), o.OneOf)
	}
	if err != nil && !o.Public {
		return nil, err
	}
	if limit := o.limit(r.opt.MaxBody); limit > 0 && req.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	if token := tokenOf(req); err == nil && token != "" && auth.From(rec.ctx) == nil {
		ctx = auth.WithAgain(ctx, func(ctx context.Context) (*auth.Identity, error) {
			id, err := r.opt.Authenticator.Authenticate(ctx, token)
			if err == nil {
				err = auth.RequireRoles(auth.With(ctx, id), o.roles(), o.OneOf)
			}
			return id, err
		})
	}
	return ctx, nil
}

func tooLarge(limit int64) error {
	return problem.New(problem.TooLarge, "the request body is larger than %d bytes", limit)
}

// identify finds out who holds the token. A request that the server makes
// itself has its identity in the context; nobody outside can put one there.
func (r *Router) identify(ctx context.Context, token string) (*auth.Identity, error) {
	if id := auth.From(ctx); id != nil {
		return id, nil
	}
	if token == "" || r.opt.Authenticator == nil {
		return nil, problem.New(problem.Unauthenticated, "Authentication required: send a token in X-Auth-Token or Authorization: Bearer")
	}
	return r.opt.Authenticator.Authenticate(ctx, token)
}

// tokenOf reads the historical header first, as old servers do (contract-notes
// 0.1).
func tokenOf(req *http.Request) string {
	if t := req.Header.Get("X-Auth-Token"); t != "" {
		return t
	}
	scheme, t, ok := strings.Cut(req.Header.Get("Authorization"), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(t)
	}
	return ""
}
