package user

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/module"
)

func tokenCommands() []module.Command {
	return []module.Command{
		module.Cmd(module.Command{
			Use: "token create USERNAME", Local: true, Short: "Create a token of a user and print it, this once", Args: [2]int{1, 1},
			Long: "Prints nothing but the token, so that it can be used as TOKEN=$(quoin token create NAME).",
			Flags: []module.Flag{
				{Name: "name", Default: "command line", Doc: "what it is for"},
				{Name: "expires", Default: time.Duration(0), Doc: "how long it is valid, such as 720h; 0 takes the configured lifetime"},
			},
		}, runTokenCreate),
		module.Cmd(module.Command{Use: "token list [USERNAME]", Short: "List the tokens of a user, or all", Args: [2]int{0, 1}}, runTokenList),
		module.Cmd(module.Command{Use: "token revoke ID", Short: "End a token at once", Args: [2]int{1, 1}}, runTokenRevoke),
	}
}

func runTokenCreate(ctx context.Context, s *Service, call *module.Call) error {
	lifetime, _ := call.Flags("expires").(time.Duration)
	switch {
	case lifetime < 0:
		return errors.New("--expires must be positive, such as 720h")
	case lifetime == 0:
		lifetime = DefaultLifetime
	}
	secret, t, err := s.CreateToken(module.Operator(ctx), call.Args[0], call.String("name"), lifetime)
	if err != nil {
		return advise(err)
	}
	return call.Say(struct {
		tokenView
		Token string `json:"token"`
	}{viewToken(t, 0), secret}, "%s", secret)
}

func runTokenList(ctx context.Context, s *Service, call *module.Call) error {
	username := ""
	if len(call.Args) > 0 {
		username = call.Args[0]
	}
	tokens, err := s.Tokens(module.Operator(ctx), username)
	if err != nil {
		return advise(err)
	}
	views, rows := []tokenView{}, [][]string{}
	for _, t := range tokens {
		v := viewToken(t, 0)
		views = append(views, v)
		rows = append(rows, []string{v.ID, v.Username, v.Name, v.Hint + "…", v.Actor, *v.CreatedAt, orNever(v.ExpiresAt), orNever(v.LastUsedAt)})
	}
	return call.Table(views, []string{"ID", "USERNAME", "NAME", "BEGINS", "ACTOR", "CREATED", "EXPIRES", "LAST USED"}, rows)
}

func runTokenRevoke(ctx context.Context, s *Service, call *module.Call) error {
	id, err := strconv.ParseInt(call.Args[0], 10, 64)
	if err != nil {
		return errors.New("the ID of a token is a number: `quoin token list` shows it")
	}
	t, err := s.Revoke(module.Operator(ctx), id)
	if err != nil {
		return advise(err)
	}
	return call.Say(viewToken(t, 0), "Token %d of %s is revoked. A running server knows within a second.", t.ID, t.Username)
}
