package user

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
)

// roleCommands grant and take away one role, as command lines of elasticms do.
func roleCommands() []module.Command {
	super := []module.Flag{{Name: "super", Default: false, Doc: "ROLE_SUPER_ADMIN"}}
	return []module.Command{
		module.Cmd(module.Command{
			Use: "user promote USERNAME [ROLE]", Short: "Grant a role to a user", Args: [2]int{1, 2}, Aliases: []string{"emsco:user:promote"}, Flags: super,
		}, runRole(true)),
		module.Cmd(module.Command{
			Use: "user demote USERNAME [ROLE]", Short: "Take a role away from a user", Args: [2]int{1, 2}, Aliases: []string{"emsco:user:demote"}, Flags: super,
		}, runRole(false)),
	}
}

func runRole(grant bool) func(context.Context, *Service, *module.Call) error {
	return func(ctx context.Context, s *Service, call *module.Call) error {
		role := ""
		switch {
		case call.Bool("super") && len(call.Args) == 1:
			role = auth.RoleSuperAdmin
		case len(call.Args) == 2 && !call.Bool("super"):
			role = auth.CanonicalRole(call.Args[1])
		default:
			return errors.New("name a role, such as ROLE_AUTHOR, or give --super")
		}
		u, err := s.Change(module.Operator(ctx), call.Args[0], func(u *User) error {
			u.Roles = slices.DeleteFunc(u.Roles, func(r string) bool { return auth.CanonicalRole(r) == role })
			if grant {
				u.Roles = append(u.Roles, role)
			}
			return nil
		})
		if err != nil {
			return advise(err)
		}
		return call.Say(s.view(u), "The user %s has the roles %s.", u.Username, strings.Join(u.Roles, " "))
	}
}

// positional puts what elasticms takes as arguments into a call.
func positional(call *module.Call, n int) string {
	if len(call.Args) > n {
		return call.Args[n]
	}
	return ""
}
