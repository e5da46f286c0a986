package user

import (
	"context"
	"strconv"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// Entity serves users as configuration under /api/admin/user. It needs
// ROLE_USER_MANAGEMENT. It implements port.Entity.
type Entity struct{ service *Service }

// NewEntity makes the entity of the users.
func NewEntity(s *Service) *Entity { return &Entity{s} }

// Names implements port.Entity.
func (*Entity) Names() []string { return []string{"user", "users"} }

// List implements port.Entity: the user names.
func (e *Entity) List(ctx context.Context) ([]string, error) {
	if err := mayRule(ctx, nil); err != nil {
		return nil, err
	}
	users, err := e.service.List(ctx)
	names := []string{}
	for _, u := range users {
		names = append(names, u.Username)
	}
	return names, err
}

// Get implements port.Entity.
func (e *Entity) Get(ctx context.Context, name string) ([]byte, error) {
	if err := mayRule(ctx, nil); err != nil {
		return nil, err
	}
	u, err := e.service.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return exportUser(u), nil
}

// Put implements port.Entity. Properties that the export does not have stay as
// they are. `plainPassword` sets a password; hashes are neither read nor given.
func (e *Entity) Put(ctx context.Context, name string, export []byte) (string, error) {
	if err := mayRule(ctx, nil); err != nil {
		return "", err
	}
	in, err := parseExport(export)
	if err != nil {
		return "", err
	}
	told := in.username != ""
	switch {
	case name == "" && in.username == "":
		return "", problem.Field(problem.Invalid, "properties.username", "is required")
	case name == "":
		name = in.username
	case in.username == "":
		in.username = name
	case canonical(name) != canonical(in.username):
		return "", problem.Field(problem.Invalid, "properties.username", "is %q, but the path says %q", in.username, name)
	}
	hash := ""
	if in.password != "" {
		if err := auth.CheckPassword(in.password); err != nil {
			return "", problem.Field(problem.Invalid, "properties.plainPassword", "%s", detail(err))
		}
		if hash, err = e.service.passwords.Hash(ctx, in.password); err != nil {
			return "", err
		}
	}
	u, err := e.service.Change(ctx, name, func(u *User) error {
		known := u.Username
		in.apply(u, hash)
		if !told { // the path finds it in any spelling, and jobs and subscriptions know it by its own
			u.Username = known
		}
		return u.check("properties.")
	})
	if problem.Is(err, problem.NotFound) {
		u = &User{Enabled: true, Locale: "en"}
		in.apply(u, hash)
		if err = u.check("properties."); err == nil {
			err = e.service.Create(ctx, u, "")
		}
	}
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(u.ID, 10), nil
}

// Delete implements port.Entity. Nobody deletes the own account: Conflict.
func (e *Entity) Delete(ctx context.Context, name string) (string, error) {
	u, err := e.service.Delete(ctx, name)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(u.ID, 10), nil
}
