package user_test

import (
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/modules/user"
)

// TestIdentity: who an account is now, with what it may do now.
func TestIdentity(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("pub", nil, auth.RolePublisher)
		s.user("off", func(u *user.User) { u.Enabled = false })
		s.user("late", func(u *user.User) { u.ExpiresAt = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) })
		id, err := s.Service.Identity(t.Context(), "PUB")
		if err != nil || id.Username != "pub" || !id.Has(auth.RoleAuthor) || id.Has(auth.RoleAdmin) {
			t.Errorf("%+v %v", id, err)
		}
		for name, kind := range map[string]problem.Kind{"off": problem.Forbidden, "late": problem.Forbidden, "nobody": problem.NotFound} {
			if _, err := s.Service.Identity(t.Context(), name); !problem.Is(err, kind) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
