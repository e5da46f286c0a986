package user

import (
	"context"
	"fmt"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// EnsureAdmin creates the first user, with every role, when there is no user
// at all, and tells through say how to sign in. A generated password is said
// once and nowhere else.
func (s *Service) EnsureAdmin(ctx context.Context, say func(line string)) error {
	n, err := s.store.count(ctx)
	if err != nil || n > 0 {
		return err
	}
	password := s.config.AdminPassword.Reveal()
	if password == "" {
		password = auth.NewPassword()
	}
	u := &User{Username: s.config.AdminUsername, Roles: auth.AllRoles(), Enabled: true}
	err = s.Create(auth.With(ctx, auth.System("start")), u, password)
	switch {
	case problem.Is(err, problem.Conflict): // another instance started at the same moment and was first
		return nil
	case err != nil:
		return err
	case s.config.AdminPassword.Set():
		say(fmt.Sprintf("Sign in as %s with the password that you configured.", u.Username))
	default:
		say(fmt.Sprintf("Sign in as %s with the password %s (shown only now).", u.Username, password))
	}
	return nil
}
