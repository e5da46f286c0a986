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
	return s.ensureAdmin(ctx, func(username, generated string) { say(howToSignIn(username, generated)) })
}

func howToSignIn(username, generated string) string {
	if generated == "" {
		return fmt.Sprintf("Sign in as %s with the password that you configured.", username)
	}
	return fmt.Sprintf("Sign in as %s with the password %s (shown only now).", username, generated)
}

// ensureAdmin calls created when it created the user; generated is empty for a
// password that was configured.
func (s *Service) ensureAdmin(ctx context.Context, created func(username, generated string)) error {
	n, err := s.store.count(ctx)
	if err != nil || n > 0 {
		return err
	}
	password, generated := s.config.AdminPassword.Reveal(), ""
	if password == "" {
		generated = auth.NewPassword()
		password = generated
	}
	u := &User{Username: s.config.AdminUsername, Roles: auth.AllRoles(), Enabled: true}
	err = s.Create(auth.With(ctx, auth.System("start")), u, password)
	if problem.Is(err, problem.Conflict) { // another instance started at the same moment and was first
		return nil
	}
	if err == nil {
		created(u.Username, generated)
	}
	return err
}
