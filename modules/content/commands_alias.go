package content

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/module"
)

func aliasCommands() []module.Command {
	return []module.Command{
		module.Cmd(module.Command{
			Use: "managed-alias create NAME [LABEL]", Short: "Create a managed alias", Args: [2]int{1, 2}, Aliases: []string{"ems:managed-alias:create"},
			Long: "Creates an alias that stands for the indexes of several environments. It is empty until `quoin managed-alias update` adds some.",
		}, runAliasCreate),
		module.Cmd(module.Command{
			Use: "managed-alias list", Short: "List the managed aliases", Aliases: []string{"ems:managedalias:list"},
			Flags: []module.Flag{{Name: "detailed", Default: false, Doc: "with the indexes behind them"}},
		}, runAliasList),
		module.Cmd(module.Command{
			Use: "managed-alias update NAME", Short: "Put other environments behind a managed alias, in one step", Args: [2]int{1, 1},
			Flags: []module.Flag{
				{Name: "add", Default: []string{}, Doc: "an environment to add; may be repeated"},
				{Name: "remove", Default: []string{}, Doc: "an environment to take away; may be repeated"},
				{Name: "set", Default: []string{}, Doc: "exactly these environments; may be repeated"},
			},
		}, runAliasUpdate),
		module.Cmd(module.Command{
			Use: "managed-alias add-environment NAME ENVIRONMENT", Short: "Add an environment to a managed alias", Args: [2]int{2, 2},
			Aliases: []string{"emsco:managed-alias:add-environment"},
			Flags:   []module.Flag{{Name: "clear-alias", Default: false, Doc: "take away the others, in the same step"}},
		}, runAliasAdd),
		module.Cmd(module.Command{
			Use: "managed-alias align SOURCE TARGET", Short: "Give a managed alias the environments of another one", Args: [2]int{2, 2},
			Aliases: []string{"ems:managedalias:align"},
		}, runAliasAlign),
	}
}

func runAliasCreate(ctx context.Context, s *Service, call *module.Call) error {
	label := ""
	if len(call.Args) > 1 {
		label = call.Args[1]
	}
	if err := s.CreateAlias(module.Operator(ctx), call.Args[0], label); err != nil {
		return advise(err)
	}
	return showAlias(ctx, s, call, call.Args[0])
}

func runAliasList(ctx context.Context, s *Service, call *module.Call) error {
	all, err := s.Aliases(ctx)
	if err != nil {
		return err
	}
	header, rows := []string{"name", "alias", "environments"}, [][]string{}
	if call.Bool("detailed") {
		header = append(header, "indexes")
	}
	for _, a := range all {
		row := []string{a.Name, a.Alias, strings.Join(a.Environments, " ")}
		if call.Bool("detailed") {
			row = append(row, strings.Join(a.Indexes, " "))
		}
		rows = append(rows, row)
	}
	return call.Table(all, header, rows)
}

// changeAlias changes an alias and shows it.
func changeAlias(ctx context.Context, s *Service, call *module.Call, name string, change func([]string) []string) error {
	if err := s.ChangeAlias(module.Operator(ctx), name, change); err != nil {
		return advise(err)
	}
	return showAlias(ctx, s, call, name)
}

func showAlias(ctx context.Context, s *Service, call *module.Call, name string) error {
	all, err := s.Aliases(ctx)
	if err != nil {
		return err
	}
	for _, a := range all {
		switch {
		case name != a.Name && name != a.Alias:
		case call.JSON:
			return call.Table(a, nil, nil)
		case len(a.Environments) == 0:
			_, err := fmt.Fprintf(call.Out, "The managed alias %s stands for nothing.\n", a.Alias)
			return err
		default:
			_, err := fmt.Fprintf(call.Out, "The managed alias %s stands for %s.\n", a.Alias, strings.Join(a.Environments, ", "))
			return err
		}
	}
	return nil
}

func runAliasUpdate(ctx context.Context, s *Service, call *module.Call) error {
	add, remove, set := call.Strings("add"), call.Strings("remove"), call.Strings("set")
	if len(add)+len(remove)+len(set) == 0 {
		return errors.New("what is to change? Give --add, --remove or --set with the names of environments")
	}
	return changeAlias(ctx, s, call, call.Args[0], func(now []string) []string {
		if len(set) > 0 {
			now = nil
		}
		return slices.DeleteFunc(slices.Concat(now, set, add), func(name string) bool { return slices.Contains(remove, name) })
	})
}

func runAliasAdd(ctx context.Context, s *Service, call *module.Call) error {
	return changeAlias(ctx, s, call, call.Args[0], func(now []string) []string {
		if call.Bool("clear-alias") {
			now = nil
		}
		return append(now, call.Args[1])
	})
}

func runAliasAlign(ctx context.Context, s *Service, call *module.Call) error {
	all, err := s.Aliases(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(a AliasInfo) bool { return a.Name == call.Args[0] || a.Alias == call.Args[0] })
	if i < 0 {
		return advise(unknownAlias(call.Args[0]))
	}
	return changeAlias(ctx, s, call, call.Args[1], func([]string) []string { return all[i].Environments })
}
