package user

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
)

// Commands are the module's commands of the command line; those of tokens are
// in commands_token.go.
func Commands() []module.Command {
	password := []module.Flag{
		{Name: "password", Default: "", Doc: "the password; others on this machine may see it, prefer --password-stdin"},
		{Name: "password-stdin", Default: false, Doc: "read the password from the first line of standard input"},
	}
	one := [2]int{1, 1}
	return append([]module.Command{
		module.Cmd(module.Command{
			Use: "user create USERNAME [EMAIL] [PASSWORD]", Short: "Create a user", Args: [2]int{1, 3}, Aliases: []string{"emsco:user:create"},
			Long: "Creates a user. Without a password one is generated and shown once.\nUsing the API needs ROLE_API; `quoin user roles` lists the roles there are.",
			Flags: append([]module.Flag{
				{Name: "email", Default: "", Doc: "e-mail address"},
				{Name: "role", Default: []string{}, Doc: "a role, such as ROLE_API or author; may be repeated"},
				{Name: "display-name", Default: "", Doc: "name to show; the user name when empty"},
				{Name: "locale", Default: "en", Doc: "locale, such as en or fr_BE"},
				{Name: "disabled", Default: false, Doc: "create the account disabled"},
				{Name: "inactive", Default: false, Doc: "the same"},
				{Name: "super-admin", Default: false, Doc: "grant ROLE_SUPER_ADMIN and ROLE_API"},
			}, password...),
		}, runCreate),
		module.Cmd(module.Command{Use: "user list", Short: "List users"}, runList),
		module.Cmd(module.Command{Use: "user show USERNAME", Short: "Show a user", Args: one}, runShow),
		module.Cmd(module.Command{
			Use: "user enable USERNAME", Short: "Let a user work again", Args: one, Aliases: []string{"emsco:user:activate"},
		}, runEnabled(true)),
		module.Cmd(module.Command{
			Use: "user disable USERNAME", Short: "Lock a user out at once, with all tokens", Args: one, Aliases: []string{"emsco:user:deactivate"},
		}, runEnabled(false)),
		module.Cmd(module.Command{
			Use: "user password USERNAME [PASSWORD]", Short: "Set the password of a user", Args: [2]int{1, 2}, Aliases: []string{"emsco:user:change-password"},
			Long:  "Sets the password. Without one it is generated and shown once. Tokens stay valid unless --revoke-tokens is given.",
			Flags: append([]module.Flag{{Name: "revoke-tokens", Default: false, Doc: "end all tokens of the user as well"}}, password...),
		}, runPassword),
		module.Cmd(module.Command{
			Use: "user roles [USERNAME]", Short: "Show or change the roles of a user", Args: [2]int{0, 1},
			Long: "Without a user it lists the roles there are; without flags it shows those of the user.",
			Flags: []module.Flag{
				{Name: "add", Default: []string{}, Doc: "grant a role; may be repeated"},
				{Name: "remove", Default: []string{}, Doc: "take a role away; may be repeated"},
				{Name: "set", Default: []string{}, Doc: "grant exactly these roles; may be repeated"},
			},
		}, runRoles),
	}, append(tokenCommands(), roleCommands()...)...)
}

// advise says an error as people read it, with what to do next.
func advise(err error) error {
	return module.Advise(err, map[string]string{
		"user_unknown":  "`quoin user list` shows the users there are",
		"user_exists":   "choose another, or change that one with `quoin user password` and `quoin user roles`",
		"token_unknown": "`quoin token list` shows the tokens there are",
	})
}

// givenPassword is the password of the flags or the input, or a generated one.
func givenPassword(call *module.Call, argument int) (password string, generated bool, err error) {
	switch given := cmp.Or(call.String("password"), positional(call, argument)); {
	case given != "" && call.Bool("password-stdin"):
		return "", false, errors.New("give either --password or --password-stdin")
	case given != "":
		return given, false, nil
	case call.Bool("password-stdin"):
		line, err := bufio.NewReader(io.LimitReader(call.In, auth.MaxPassword+2)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", false, fmt.Errorf("read the password: %w", err)
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			return "", false, errors.New("standard input has no password: pipe it in, as in `quoin user password NAME --password-stdin < file`")
		}
		return line, false, nil
	}
	return auth.NewPassword(), true, nil
}

// userView is a user as the command line shows it.
type userView struct {
	Profile
	Status   string `json:"status"`
	Password string `json:"password,omitempty"` // only one that was generated
}

func (s *Service) view(u *User) userView {
	return userView{Profile: u.profile(), Status: u.status(s.now())}
}

func runCreate(ctx context.Context, s *Service, call *module.Call) error {
	password, generated, err := givenPassword(call, 2)
	if err != nil {
		return err
	}
	u := &User{
		Username: call.Args[0], Email: cmp.Or(call.String("email"), positional(call, 1)), DisplayName: call.String("display-name"),
		Roles: call.Strings("role"), Locale: call.String("locale"), Enabled: !call.Bool("disabled") && !call.Bool("inactive"),
	}
	if call.Bool("super-admin") {
		u.Roles = append(u.Roles, auth.RoleSuperAdmin, auth.RoleAPI)
	}
	if err := s.Create(module.Operator(ctx), u, password); err != nil {
		return advise(err)
	}
	v, text := s.view(u), fmt.Sprintf("Created the user %s.", u.Username)
	if generated {
		v.Password = password
		text += fmt.Sprintf(" The password is %s (shown only now).", password)
	}
	return call.Say(v, "%s%s", text, unusual(u))
}

// unusual points at what the operator probably did not mean.
func unusual(u *User) (hints string) {
	if !slices.Contains(u.Roles, auth.RoleAPI) {
		hints = fmt.Sprintf("\nThe user cannot use the API yet: quoin user roles %s --add ROLE_API", u.Username)
	}
	for _, r := range u.Roles {
		if !auth.Known(r) {
			hints += fmt.Sprintf("\n%s is not one of the built-in roles (quoin user roles lists them); it only means something where a content type asks for it.", r)
		}
	}
	return hints
}

func runList(ctx context.Context, s *Service, call *module.Call) error {
	users, err := s.List(ctx)
	if err != nil {
		return err
	}
	views, rows := []userView{}, [][]string{}
	for _, u := range users {
		v := s.view(u)
		views = append(views, v)
		rows = append(rows, []string{u.Username, u.Email, v.Status, orNever(v.LastLogin), orNever(v.ExpirationDate), strings.Join(u.Roles, " ")})
	}
	return call.Table(views, []string{"USERNAME", "EMAIL", "STATUS", "LAST LOGIN", "EXPIRES", "ROLES"}, rows)
}

func orNever(date *string) string {
	if date == nil {
		return "never"
	}
	return *date
}

func runShow(ctx context.Context, s *Service, call *module.Call) error {
	u, err := s.Get(ctx, call.Args[0])
	if err != nil {
		return advise(err)
	}
	tokens, err := s.Tokens(module.Operator(ctx), u.Username)
	if err != nil {
		return err
	}
	v := s.view(u)
	return call.Table(v, []string{"FIELD", "VALUE"}, [][]string{
		{"id", fmt.Sprint(u.ID)}, {"username", u.Username}, {"name", u.Name()}, {"email", u.Email}, {"status", v.Status},
		{"roles", strings.Join(u.Roles, " ")}, {"circles", strings.Join(u.Circles, " ")}, {"locale", u.Locale},
		{"last login", orNever(v.LastLogin)}, {"expires", orNever(v.ExpirationDate)}, {"tokens", fmt.Sprint(len(tokens))},
	})
}

func runEnabled(on bool) func(context.Context, *Service, *module.Call) error {
	return func(ctx context.Context, s *Service, call *module.Call) error {
		u, err := s.SetEnabled(module.Operator(ctx), call.Args[0], on)
		if err != nil {
			return advise(err)
		}
		return call.Say(s.view(u), "The user %s is %s. A running server knows within a second.", u.Username, s.view(u).Status)
	}
}

func runPassword(ctx context.Context, s *Service, call *module.Call) error {
	password, generated, err := givenPassword(call, 1)
	if err != nil {
		return err
	}
	u, err := s.SetPassword(module.Operator(ctx), call.Args[0], password, call.Bool("revoke-tokens"))
	if err != nil {
		return advise(err)
	}
	v, text := s.view(u), fmt.Sprintf("The user %s has a new password.", u.Username)
	if generated {
		v.Password = password
		text = fmt.Sprintf("The user %s has the new password %s (shown only now).", u.Username, password)
	}
	return call.Say(v, "%s", text)
}

func runRoles(ctx context.Context, s *Service, call *module.Call) error {
	add, remove, set := call.Strings("add"), call.Strings("remove"), call.Strings("set")
	changes := len(add)+len(remove)+len(set) > 0
	if len(call.Args) == 0 {
		if changes {
			return errors.New("whose roles? quoin user roles USERNAME --add ROLE_API")
		}
		return listRoles(call)
	}
	if !changes {
		u, err := s.Get(ctx, call.Args[0])
		if err != nil {
			return advise(err)
		}
		if len(u.Roles) == 0 {
			return call.Say([]string{}, "The user %s has no role: quoin user roles %s --add ROLE_API", u.Username, u.Username)
		}
		return call.Say(u.Roles, "%s", strings.Join(u.Roles, "\n"))
	}
	u, err := s.Change(module.Operator(ctx), call.Args[0], func(u *User) error {
		if len(set) > 0 {
			u.Roles = nil
		}
		u.Roles = slices.DeleteFunc(slices.Concat(u.Roles, set, add), func(r string) bool {
			return slices.ContainsFunc(remove, func(x string) bool { return auth.CanonicalRole(x) == auth.CanonicalRole(r) })
		})
		return nil
	})
	if err != nil {
		return advise(err)
	}
	return call.Say(s.view(u), "The user %s has the roles %s.%s", u.Username, strings.Join(u.Roles, " "), unusual(u))
}

func listRoles(call *module.Call) error {
	var rows [][]string
	for _, r := range auth.Roles() {
		rows = append(rows, []string{r.Name, r.Doc, strings.Join(r.Implies, " ")})
	}
	return call.Table(auth.Roles(), []string{"ROLE", "WHO HAS IT", "IMPLIES"}, rows)
}
