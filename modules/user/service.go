package user

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/problem"
)

// Service holds the rules about users and their tokens. Its methods that
// change something look at the identity of their context: the command line
// calls them as auth.System.
type Service struct {
	store     *store
	bus       *event.Bus // nil tells nobody
	config    *Config
	log       *slog.Logger
	now       func() time.Time
	passwords *auth.Passwords
	accounts  *auth.Throttle // by canonical username
	addresses *auth.Throttle
	refusals  *refusals
	authn     *Authenticator
}

// Options are what a Service is made from.
type Options struct {
	DB     *db.DB
	Bus    *event.Bus // nil: nobody is told of changes
	Config *Config
	Log    *slog.Logger
	Now    func() time.Time // nil means time.Now
}

// New makes the service. Nothing runs yet.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	c, st, refusals := o.Config, &store{db: o.DB}, newRefusals(o.Now)
	return &Service{
		store: st, bus: o.Bus, config: c, log: o.Log, now: o.Now,
		passwords: auth.NewPasswords(c.Hashing.params(), c.Hashing.Concurrent),
		accounts:  auth.NewThrottle(auth.ThrottleOptions{Burst: c.Throttle.AccountBurst, Every: c.Throttle.AccountEvery, Now: o.Now}),
		addresses: auth.NewThrottle(auth.ThrottleOptions{Burst: c.Throttle.AddressBurst, Every: c.Throttle.AddressEvery, Now: o.Now}),
		refusals:  refusals,
		authn:     newAuthenticator(st, c.CachedTokens, o.Now, refusals),
	}
}

// List gives every user, by name.
func (s *Service) List(ctx context.Context) ([]*User, error) { return s.store.list(ctx) }

// Get finds a user by name; NotFound when there is none.
func (s *Service) Get(ctx context.Context, username string) (*User, error) {
	u, err := s.store.byName(ctx, username)
	if err == nil && u == nil {
		err = problem.New(problem.NotFound, "there is no user %q", username).WithCode("user_unknown")
	}
	return u, err
}

// Create checks and stores a new user and sets its ID. An empty password makes
// an account that cannot sign in with one. Conflict when the name or the
// address is taken, Forbidden when the caller may not give these roles.
func (s *Service) Create(ctx context.Context, u *User, password string) error {
	if u.Locale == "" {
		u.Locale = "en"
	}
	if err := u.check(""); err != nil {
		return err
	}
	if err := mayRule(ctx, u.Roles); err != nil {
		return err
	}
	if password != "" {
		hash, err := s.hash(ctx, password)
		if err != nil {
			return err
		}
		u.PasswordHash = hash
	}
	u.CreatedAt = s.now()
	u.ModifiedAt = u.CreatedAt
	err := s.store.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.store.insert(ctx, u); err != nil {
			return err
		}
		return s.tell(ctx, "user.created", u.Username, standing(u))
	})
	if err != nil {
		return err
	}
	s.audit(ctx, "user created", "user", u.Username)
	return nil
}

// Change lets fn change a user and stores it, if the caller may rule over the
// user before and after. It takes effect on live tokens at once.
func (s *Service) Change(ctx context.Context, username string, fn func(u *User) error) (*User, error) {
	known, err := s.Get(ctx, username)
	if err != nil {
		return nil, err
	}
	u, err := s.store.change(ctx, known.ID, func(ctx context.Context, u *User) error {
		if err := mayRule(ctx, u.Roles); err != nil {
			return err
		}
		before := *u
		before.Roles, before.Circles = slices.Clone(u.Roles), slices.Clone(u.Circles)
		if err := fn(u); err != nil {
			return err
		}
		if err := u.check(""); err != nil {
			return err
		}
		u.ModifiedAt = s.now()
		if err := mayRule(ctx, u.Roles); err != nil {
			return err
		}
		changed := changes(&before, u)
		if len(changed) == 0 {
			return nil
		}
		data := standing(u)
		data["changed"] = changed
		return s.tell(ctx, "user.changed", u.Username, data)
	})
	s.authn.forget(known.ID)
	if err != nil {
		return nil, err
	}
	s.audit(ctx, "user changed", "user", u.Username)
	return u, nil
}

// SetEnabled enables or disables a user.
func (s *Service) SetEnabled(ctx context.Context, username string, enabled bool) (*User, error) {
	return s.Change(ctx, username, func(u *User) error { u.Enabled = enabled; return nil })
}

// SetPassword gives a user a new password; revoke ends all tokens as well, also
// those that the user obtained to act as others.
func (s *Service) SetPassword(ctx context.Context, username, password string, revoke bool) (*User, error) {
	hash, err := s.hash(ctx, password)
	if err != nil {
		return nil, err
	}
	u, err := s.Change(ctx, username, func(u *User) error { u.PasswordHash = hash; return nil })
	if err != nil || !revoke {
		return u, err
	}
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.store.deleteTokens(ctx, u.ID); err != nil {
			return err
		}
		return s.tell(ctx, "token.revoked", u.Username, map[string]any{"token": "*", "name": ""})
	})
	s.authn.forget(u.ID)
	return u, err
}

// Delete removes a user with all tokens, also those the user obtained to act
// as others.
func (s *Service) Delete(ctx context.Context, username string) (*User, error) {
	u, err := s.Get(ctx, username)
	if err != nil {
		return nil, err
	}
	if err := mayRule(ctx, u.Roles); err != nil {
		return nil, err
	}
	if id := auth.From(ctx); id.UserID == u.ID {
		return nil, problem.New(problem.Conflict, "nobody can delete the own account").WithCode("own_account")
	}
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.store.delete(ctx, u.ID); err != nil {
			return err
		}
		return s.tell(ctx, "user.deleted", u.Username, map[string]any{})
	})
	s.authn.forget(u.ID)
	if err == nil {
		s.audit(ctx, "user deleted", "user", u.Username)
	}
	return u, err
}

func (s *Service) hash(ctx context.Context, password string) (string, error) {
	if err := auth.CheckPassword(password); err != nil {
		return "", err
	}
	return s.passwords.Hash(ctx, password)
}

// audit writes who did what to whom into the log.
func (s *Service) audit(ctx context.Context, what string, attrs ...any) {
	if id := auth.From(ctx); id != nil {
		attrs = append(attrs, "by", id.Username)
		if id.Actor != "" {
			attrs = append(attrs, "actor", id.Actor)
		}
	}
	s.log.InfoContext(ctx, what, attrs...)
}

// mayRule answers Forbidden unless the identity of the context may make, change
// or become somebody with these roles: it needs ROLE_USER_MANAGEMENT, and
// cannot reach ROLE_ADMIN or ROLE_SUPER_ADMIN without holding them.
func mayRule(ctx context.Context, roles []string) error {
	id, err := auth.Require(ctx)
	if err != nil {
		return err
	}
	return mayRuleAs(id, roles)
}

// mayRuleAs is mayRule for an identity.
func mayRuleAs(id *auth.Identity, roles []string) error {
	if !id.Has(auth.RoleUserManagement) {
		return problem.New(problem.Forbidden, "Access Denied: this needs %s", auth.RoleUserManagement)
	}
	all := auth.Expand(roles)
	for _, high := range []string{auth.RoleSuperAdmin, auth.RoleAdmin} {
		if all[high] && !id.Has(high) {
			return problem.New(problem.Forbidden, "Access Denied: this concerns a user with %s, which you do not hold", high).WithCode("outranked")
		}
	}
	return nil
}
