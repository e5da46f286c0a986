package user

import (
	"context"
	"fmt"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// howToSignIn is the sentence that the person who starts a server for the first
// time reads. A generated password is said in it once and nowhere else.
func howToSignIn(username, generated string) string {
	if generated == "" {
		return fmt.Sprintf("Sign in as %s with the password that you configured.", username)
	}
	return fmt.Sprintf("Sign in as %s with the password %s (shown only now).", username, generated)
}

// ensureAdmin creates the first user, with every role, when there is no user at
// all, and calls created when it did; generated is empty for a password that was
// configured.
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
