package auth

import (
	"context"

	"github.com/quoin-cms/quoin/core/problem"
)

// Right is what somebody may do with the documents of a content type.
type Right string

// The rights per content type (contract-notes 0.2).
const (
	View    Right = "view"
	Create  Right = "create"
	Edit    Right = "edit"
	Publish Right = "publish"
	Delete  Right = "delete"
	Trash   Right = "trash"
	Archive Right = "archive"
)

// undefined is how an export says that nobody holds a right.
const undefined = "not-defined"

// ContentRights are the roles that a content type asks for each right.
type ContentRights struct {
	Type  string
	Roles map[string]string
}

// role is what the right needs. A type that says nothing about a right gets a
// sensible role; a right that is "not-defined" is for super administrators.
func (c ContentRights) role(r Right) string {
	role, given := c.Roles[string(r)]
	switch {
	case role == undefined:
		return RoleSuperAdmin
	case given && role != "":
		return role
	}
	switch r {
	case View:
		return RoleUser
	case Create, Edit:
		return RoleAuthor
	case Publish, Delete:
		return RolePublisher
	default:
		return RoleWebmaster
	}
}

// Allows reports whether the identity holds the right on the content type.
func (c ContentRights) Allows(id *Identity, r Right) bool {
	return id.Has(RoleSuperAdmin) || id.Has(c.role(r))
}

// Check gives Forbidden unless the identity of the context holds the right.
func (c ContentRights) Check(ctx context.Context, r Right) error {
	id, err := Require(ctx)
	if err != nil {
		return err
	}
	if !c.Allows(id, r) {
		return problem.New(problem.Forbidden, "the right %q on content type %q needs %s", r, c.Type, c.role(r))
	}
	return nil
}

// RequireRoles gives Unauthenticated without an identity and Forbidden unless
// it holds all of the roles and, if any are named, one of the alternatives.
func RequireRoles(ctx context.Context, all []string, oneOf []string) error {
	id, err := Require(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		if !id.Has(r) {
			return problem.New(problem.Forbidden, "Access Denied: this needs %s", r)
		}
	}
	if !id.HasAny(oneOf...) {
		return problem.New(problem.Forbidden, "Access Denied: this needs one of %v", oneOf)
	}
	return nil
}
