package user

import (
	"context"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// maxLifetime bounds what a caller may ask for: ten years.
const maxLifetime = 10 * 365 * 24 * time.Hour

// Lifetime values of CreateToken besides a duration.
const (
	// DefaultLifetime takes the configured one.
	DefaultLifetime time.Duration = -1
	// Unlimited makes a token that is valid until it is revoked.
	Unlimited time.Duration = 0
)

// loginName is the name of the tokens of those who sign in with their password.
const loginName = "login"

// CreateToken makes a named token of a user and gives it, this once. A token
// that acts for somebody else cannot make more of them: Forbidden. One with an
// end makes none that outlasts it, or its end would be none; who has signed in
// with the password may.
func (s *Service) CreateToken(ctx context.Context, username, name string, lifetime time.Duration) (string, *Token, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return "", nil, err
	}
	if id.Actor != "" {
		return "", nil, problem.New(problem.Forbidden, "a token that acts for another user cannot create tokens").WithCode("acting")
	}
	if name == "" {
		return "", nil, problem.Field(problem.Invalid, "name", "must not be empty")
	}
	if err := checkText("name", name, maxName); err != nil {
		return "", nil, err
	}
	if name == loginName {
		return "", nil, problem.Field(problem.Invalid, "name", "is the name of the tokens of those who sign in")
	}
	if lifetime == DefaultLifetime {
		lifetime = s.config.TokenLifetime
	}
	if lifetime > maxLifetime || lifetime < 0 || lifetime > 0 && lifetime < time.Second {
		return "", nil, problem.Field(problem.Invalid, "expires_in", "must be between 1 second and 10 years")
	}
	u, err := s.Get(ctx, username)
	if err != nil {
		return "", nil, err
	}
	if u.ID != id.UserID {
		if err := mayRule(ctx, u.Roles); err != nil {
			return "", nil, err
		}
	}
	t := &Token{UserID: u.ID, Username: u.Username, Name: name, CreatedBy: id.Username, ExpiresAt: after(s.now(), lifetime)}
	if err := s.inheritEnd(ctx, id, t); err != nil {
		return "", nil, err
	}
	as := "own"
	if u.ID != id.UserID {
		as = "other"
	}
	secret, err := s.issue(ctx, t, nil, s.created(t, as))
	if err != nil {
		return "", nil, err
	}
	s.audit(ctx, "token created", "token", t.ID, "user", u.Username)
	return secret, t, nil
}

// Tokens lists the tokens of a user; an empty name means everybody's. Others'
// tokens need ROLE_USER_MANAGEMENT.
func (s *Service) Tokens(ctx context.Context, username string) ([]*Token, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	if canonical(username) == canonical(id.Username) && id.UserID != 0 {
		return s.store.tokens(ctx, id.UserID)
	}
	if err := auth.RequireRoles(ctx, []string{auth.RoleUserManagement}, nil); err != nil {
		return nil, err
	}
	if username == "" {
		return s.store.tokens(ctx, 0)
	}
	u, err := s.Get(ctx, username)
	if err != nil {
		return nil, err
	}
	return s.store.tokens(ctx, u.ID)
}

// Revoke ends a token at once. Without ROLE_USER_MANAGEMENT the tokens of
// others are NotFound, as those that do not exist.
func (s *Service) Revoke(ctx context.Context, tokenID int64) (*Token, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.store.token(ctx, tokenID)
	if err != nil {
		return nil, err
	}
	if t == nil || t.UserID != id.UserID && !id.Has(auth.RoleUserManagement) {
		return nil, problem.New(problem.NotFound, "there is no token %d", tokenID).WithCode("token_unknown")
	}
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.store.deleteToken(ctx, tokenID); err != nil {
			return err
		}
		return s.tellToken(ctx, "token.revoked", t, map[string]any{})
	})
	s.authn.forgetToken(tokenID)
	if err != nil {
		return nil, err
	}
	s.audit(ctx, "token revoked", "token", t.ID, "user", t.Username)
	return t, nil
}

// ProxyAuthenticate gives a short-lived token with which the caller acts as
// another user, found by e-mail address or else by name. Either may be empty:
// who signs people in elsewhere does not always learn both. NotFound when there is
// no such user, Forbidden when that user is disabled or expired, or holds ROLE_ADMIN or
// ROLE_SUPER_ADMIN and the caller does not. The token ends with the account of
// either.
func (s *Service) ProxyAuthenticate(ctx context.Context, username, email string) (string, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return "", err
	}
	if canonical(username) == "" && canonical(email) == "" {
		return "", problem.Field(problem.Invalid, "username", "is required, unless there is an e-mail address")
	}
	var u *User
	if canonical(email) != "" { // accounts without an address have an empty one
		u, err = s.store.byEmail(ctx, email)
	}
	if err == nil && u == nil && canonical(username) != "" {
		u, err = s.store.byName(ctx, username)
	}
	if err != nil {
		return "", err
	}
	if u == nil {
		return "", problem.New(problem.NotFound, "there is no user with this e-mail address or name").WithCode("user_unknown")
	}
	now := s.now()
	if status := u.status(now); status != "enabled" {
		return "", problem.New(problem.Forbidden, "the account of the user is %s", status).WithCode("account_" + status)
	}
	if err := mayRule(ctx, u.Roles); err != nil {
		return "", err
	}
	t := &Token{
		UserID: u.ID, Username: u.Username, Name: "proxy-authenticate", CreatedBy: id.Username,
		ExpiresAt: after(now, s.config.ProxyTokenLifetime), Actor: id.Username, ActorID: id.UserID,
	}
	if err := s.inheritActor(ctx, id, t); err != nil {
		return "", err
	}
	if err := s.inheritEnd(ctx, id, t); err != nil {
		return "", err
	}
	signedIn := func(ctx context.Context) error { return s.store.touchLogin(ctx, u.ID, now) }
	secret, err := s.issue(ctx, t, signedIn, s.created(t, "acting"))
	if err != nil {
		return "", err
	}
	s.audit(ctx, "acts as another user", "token", t.ID, "user", u.Username)
	return secret, nil
}

// created tells of a token, once it has its number.
func (s *Service) created(t *Token, as string) func(context.Context) error {
	return func(ctx context.Context) error {
		return s.tellToken(ctx, "token.created", t, map[string]any{"as": as})
	}
}

// inheritEnd ends a token with the one that it is made with.
func (s *Service) inheritEnd(ctx context.Context, id *auth.Identity, t *Token) error {
	if id.TokenID == 0 {
		return nil
	}
	with, err := s.store.token(ctx, id.TokenID)
	if err != nil {
		return err
	}
	if with == nil {
		return problem.New(problem.Unauthenticated, "Authentication failed")
	}
	if with.Name != loginName && !with.ExpiresAt.IsZero() && (t.ExpiresAt.IsZero() || with.ExpiresAt.Before(t.ExpiresAt)) {
		t.ExpiresAt = with.ExpiresAt
	}
	return nil
}

// inheritActor keeps the person behind a token that acts already, and its end.
func (s *Service) inheritActor(ctx context.Context, id *auth.Identity, t *Token) error {
	if id.Actor == "" {
		return nil
	}
	acting, err := s.store.token(ctx, id.TokenID)
	if err != nil {
		return err
	}
	if acting == nil {
		return problem.New(problem.Unauthenticated, "Authentication failed")
	}
	t.Actor, t.ActorID = acting.Actor, acting.ActorID
	if !acting.ExpiresAt.IsZero() && acting.ExpiresAt.Before(t.ExpiresAt) {
		t.ExpiresAt = acting.ExpiresAt
	}
	return nil
}
