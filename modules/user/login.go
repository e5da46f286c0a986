package user

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// SignIn gives a token for a name (or e-mail address) and a password. Every
// failure is the same Unauthenticated after the same work, whether there is
// such an account or not; after too many of them from one address or for one
// account it is TooManyRequests. address is an IP address without port.
//
// The password must still be that of the account when the token is stored: one
// that is changed while it is checked, which may take seconds when many sign in,
// gives no token.
func (s *Service) SignIn(ctx context.Context, name, password, address string) (token string, err error) {
	for range 3 { // a hash may also change because somebody else signs in: see rehash
		if token, err = s.signIn(ctx, name, password, address); !errors.Is(err, errPasswordChanged) {
			return token, err
		}
	}
	return "", noSignIn()
}

// errPasswordChanged is that another password was stored while one was checked.
var errPasswordChanged = errors.New("user: the password was changed meanwhile")

func noSignIn() error { return problem.New(problem.Unauthenticated, "Login authentication failed") }

func (s *Service) signIn(ctx context.Context, name, password, address string) (token string, err error) {
	account, from := throttleKey(name), network(address)
	u, err := s.store.forLogin(ctx, name)
	if err != nil {
		return "", err
	}
	hash := ""
	if u != nil {
		hash = u.PasswordHash
	}
	ok, stale, err := s.passwords.Verify(ctx, hash, password, func() error {
		if err := s.addresses.Allow(from); err != nil {
			return err
		}
		return s.accounts.Allow(account)
	})
	if err != nil {
		return "", err
	}
	now := s.now()
	if !ok || !u.Enabled || u.Expired(now) {
		s.accounts.Failed(account)
		s.addresses.Failed(from)
		s.refuse(ctx, u, ok, address)
		return "", noSignIn()
	}
	s.accounts.Succeeded(account)
	if stale {
		s.rehash(ctx, u, password)
	}
	t := &Token{UserID: u.ID, Username: u.Username, Name: loginName, CreatedBy: u.Username, ExpiresAt: after(now, s.config.LoginTokenLifetime)}
	signedIn := func(ctx context.Context) error { return s.store.touchSignIn(ctx, u, now) }
	return s.issue(ctx, t, signedIn, func(ctx context.Context) error {
		return s.tellToken(ctx, "user.login", t, map[string]any{"actor": u.Username})
	})
}

// refuse notes a refused sign-in, with the same work for every one. The name is
// that of an account: what else was typed as a name may be a password.
func (s *Service) refuse(ctx context.Context, u *User, rightPassword bool, address string) {
	name, reason := "", forUnknown
	switch {
	case u == nil:
	case !rightPassword:
		name, reason = u.Username, forPassword
	case !u.Enabled:
		name, reason = u.Username, forDisabled
	default:
		name, reason = u.Username, forExpired
	}
	s.log.WarnContext(ctx, "sign-in failed", "user", name, "reason", reason, "remote", address)
	s.refusals.note(ctx, name, byPassword, reason, address)
}

// rehash stores the password with today's costs. It is not worth failing for.
func (s *Service) rehash(ctx context.Context, u *User, password string) {
	fresh, err := s.passwords.Hash(ctx, password)
	if err == nil {
		err = s.store.replaceHash(ctx, u, fresh)
	}
	if err != nil {
		s.log.WarnContext(ctx, "a password hash was not renewed", "user", u.Username, "error", err)
	}
}

// issue makes a token, stores its hash and gives it. first, unless it is nil, and
// told, which tells of the token, run in the same transaction.
func (s *Service) issue(ctx context.Context, t *Token, first, told func(ctx context.Context) error) (string, error) {
	secret := auth.NewToken()
	t.Hint, t.CreatedAt = secret[:8], s.now()
	err := s.store.db.InTx(ctx, func(ctx context.Context) error {
		if first != nil {
			if err := first(ctx); err != nil {
				return err
			}
		}
		if err := s.store.insertToken(ctx, t, auth.HashToken(secret)); err != nil {
			return err
		}
		return told(ctx)
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

func after(now time.Time, lifetime time.Duration) time.Time {
	if lifetime <= 0 {
		return time.Time{}
	}
	return now.Add(lifetime)
}

// throttleKey is the account as throttled, bounded whatever was sent.
func throttleKey(name string) string {
	c := canonical(name)
	return c[:min(len(c), maxEmail)]
}

// network is what one caller can easily choose among: the address itself, or
// the /64 of an IPv6 address.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap(); ip.Is6() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}
