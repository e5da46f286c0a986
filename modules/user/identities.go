package user

import (
	"context"
	"encoding/json"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// Identity implements port.Identities.
func (s *Service) Identity(ctx context.Context, username string) (*auth.Identity, error) {
	u, err := s.store.byName(ctx, username)
	switch {
	case err != nil:
		return nil, err
	case u == nil:
		return nil, problem.New(problem.NotFound, "there is no user %q", username).WithCode("user_unknown")
	case !u.Enabled || u.Expired(s.now()):
		return nil, problem.New(problem.Forbidden, "the account %q is disabled or expired", username).WithCode("account_disabled")
	}
	return auth.New(auth.Identity{
		UserID: u.ID, Username: u.Username, DisplayName: u.DisplayName, Email: u.Email, Circles: u.Circles, Granted: u.Roles,
	}), nil
}

// Profile implements port.Profiles.
func (s *Service) Profile(ctx context.Context) ([]byte, error) {
	reply, err := s.opProfile(ctx, nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(reply.Body)
}
