package auth_test

import (
	"testing"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

func identity(roles ...string) *auth.Identity { return auth.New(auth.Identity{Granted: roles}) }

func TestRolesImplyOthersButNeverTheFlags(t *testing.T) {
	for _, c := range []struct {
		granted, asked string
		want           bool
	}{
		{auth.RoleAuthor, auth.RoleUser, true},
		{auth.RoleAuthor, auth.RoleReviewer, false},
		{auth.RoleWebmaster, auth.RoleTraductor, true},
		{auth.RoleAuditor, auth.RoleAuthor, true},
		{auth.RoleAuditor, auth.RolePublisher, false},
		{auth.RoleAdmin, auth.RoleUserManagement, true},
		{auth.RoleSuperAdmin, auth.RoleAdmin, true},
		{auth.RoleSuperAdmin, auth.RoleAPI, false},
		{auth.RoleSuperAdmin, auth.RoleUserRead, false},
		{"ROLE_OF_THE_SITE", "ROLE_OF_THE_SITE", true},
	} {
		if got := identity(c.granted).Has(c.asked); got != c.want {
			t.Errorf("%s has %s: %v", c.granted, c.asked, got)
		}
	}
	var nobody *auth.Identity
	if nobody.Has(auth.RoleUser) || nobody.HasAny(auth.RoleUser) {
		t.Error("nobody has no role")
	}
}

func TestRightsOfAContentType(t *testing.T) {
	rights := auth.ContentRights{Type: "page", Roles: map[string]string{"view": "ROLE_AUTHOR", "create": "not-defined", "edit": ""}}
	for _, c := range []struct {
		who   *auth.Identity
		right auth.Right
		kind  problem.Kind
		ok    bool
	}{
		{identity(auth.RoleAuthor), auth.View, 0, true},
		{identity(), auth.View, problem.Forbidden, false},
		{nil, auth.View, problem.Unauthenticated, false},
		{identity(auth.RoleAdmin), auth.Create, problem.Forbidden, false},
		{identity(auth.RoleSuperAdmin), auth.Create, 0, true},
		{identity(auth.RoleAuthor), auth.Edit, 0, true},
		{identity(auth.RoleAuthor), auth.Delete, problem.Forbidden, false},
	} {
		ctx := t.Context()
		if c.who != nil {
			ctx = auth.With(ctx, c.who)
		}
		err := rights.Check(ctx, c.right)
		if (err == nil) != c.ok || err != nil && !problem.Is(err, c.kind) {
			t.Errorf("%v %s: %v", c.who, c.right, err)
		}
	}
}

func TestCanonicalRole(t *testing.T) {
	for _, s := range []string{"admin", "ROLE_ADMIN", " role_admin "} {
		if got := auth.CanonicalRole(s); got != auth.RoleAdmin || !auth.Known(got) {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}
