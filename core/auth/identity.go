// Package auth knows who is asking and what they may do. It is the one place
// where rights are decided, below every door: REST, search, MCP, jobs and
// plugins carry the same Identity in their context.
package auth

import (
	"context"

	"github.com/quoin-cms/quoin/core/problem"
)

// Identity is the user on whose behalf something happens. It is immutable and
// shared between requests.
type Identity struct {
	UserID      int64
	Username    string
	DisplayName string
	Email       string
	Circles     []string
	// Granted are the roles given to the user, without what they imply.
	Granted []string
	// TokenID is the token in use, 0 inside the server.
	TokenID int64
	// Actor is who obtained the token when it acts for somebody else
	// (proxy-authenticate), else empty.
	Actor string

	roles map[string]bool // granted and implied
}

// New makes an identity and works out the roles that the granted ones imply.
func New(id Identity) *Identity {
	id.roles = Expand(id.Granted)
	return &id
}

// System is the server itself: it has every role. name says which part, for
// logs and the `_finalized_by` of documents.
func System(name string) *Identity {
	return New(Identity{Username: name, Granted: AllRoles()})
}

// Has reports whether the identity holds the role, by grant or implication.
func (i *Identity) Has(role string) bool { return i != nil && i.roles[role] }

// HasAny reports whether the identity holds one of the roles; true for none.
func (i *Identity) HasAny(roles ...string) bool {
	for _, r := range roles {
		if i.Has(r) {
			return true
		}
	}
	return len(roles) == 0
}

type identityKey struct{}

// With puts the identity into the context.
func With(ctx context.Context, id *Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// From gives the identity of the context, nil when nobody signed in.
func From(ctx context.Context) *Identity {
	id, _ := ctx.Value(identityKey{}).(*Identity)
	return id
}

type againKey struct{}

// WithAgain puts into the context how to find out anew who the caller is, for
// Again: with the error of somebody who may not call any more.
func WithAgain(ctx context.Context, who func(context.Context) (*Identity, error)) context.Context {
	return context.WithValue(ctx, againKey{}, who)
}

// Again gives the context with what the caller is by now, or the error of one
// who has lost the token or the role since the request was admitted. What lasts
// longer than a moment, a stream or a wait, asks before each thing that it does.
// Where nothing can have changed, as inside the server, it gives ctx back.
func Again(ctx context.Context) (context.Context, error) {
	who, _ := ctx.Value(againKey{}).(func(context.Context) (*Identity, error))
	if who == nil {
		return ctx, nil
	}
	id, err := who(ctx)
	if err != nil {
		return ctx, err
	}
	return With(ctx, id), nil
}

// Username gives the name of the caller of ctx; empty when there is none.
func Username(ctx context.Context) string {
	if id := From(ctx); id != nil {
		return id.Username
	}
	return ""
}

// Require gives the identity of the context, or Unauthenticated.
func Require(ctx context.Context) (*Identity, error) {
	if id := From(ctx); id != nil {
		return id, nil
	}
	return nil, problem.New(problem.Unauthenticated, "Authentication required")
}

// Authenticator turns a token into an identity. It answers Unauthenticated for
// a token that is unknown, expired, revoked or of an expired user, and
// Forbidden for one of a disabled user. It is called on every request and must
// not query the database each time.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (*Identity, error)
}
