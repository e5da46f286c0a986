package search

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/problem"
)

// commands are the module's commands. All of them need the index and run in
// the process that holds it (see Service.Ask).
func commands() []module.Command {
	ignored := func(names ...string) (flags []module.Flag) {
		for _, name := range names {
			flags = append(flags, module.Ignored(name, false))
		}
		return append(flags, module.Ignored("bulk-size", 0))
	}
	return []module.Command{
		module.Cmd(module.Command{
			Use: "environment rebuild [NAME]", Short: "Make a new index for an environment and switch to it", Args: [2]int{0, 1},
			Aliases: []string{"ems:environment:rebuild"},
			Long:    "Builds a new index beside the old one and puts it into its place in one step. Writes and searches go on meanwhile. That a new index is wanted is remembered over a restart.",
			Flags:   append([]module.Flag{{Name: "all", Default: false, Doc: "every environment, one after the other"}}, ignored("yellow-ok", "dont-sign")...),
		}, runBuild(askRebuild)),
		module.Cmd(module.Command{
			Use: "environment reindex [NAME]", Short: "Index the documents of an environment again, in the index it has", Args: [2]int{0, 1},
			Aliases: []string{"ems:environment:reindex"},
			Flags:   append([]module.Flag{{Name: "all", Default: false, Doc: "every environment, one after the other"}}, ignored("reload-data")...),
		}, runBuild(askReindex)),
		module.Cmd(module.Command{
			Use: "orphans delete", Short: "Remove indexes that no environment refers to", Aliases: []string{"ems:delete:orphans"},
		}, runOrphans),
		module.Cmd(module.Command{
			Use: "aliases check", Short: "Compare indexes and aliases with the configuration", Aliases: []string{"ems:check:aliases"},
			Long:  "Compares what the search engine has with what the configuration says. It fails when something is wrong and was not repaired.",
			Flags: []module.Flag{{Name: "repair", Default: false, Doc: "make what is missing and set aliases right"}},
		}, runCheck),
		explainCommand(),
	}
}

// advise says an error as people read it, with what to do next.
func advise(err error) error {
	return module.Advise(err, map[string]string{
		"unknown_environment": "`quoin environment list` shows those there are",
	})
}

func runBuild(what string) func(context.Context, *Service, *module.Call) error {
	return func(ctx context.Context, s *Service, call *module.Call) error {
		ctx = module.Operator(ctx)
		names := call.Args
		switch {
		case call.Bool("all") && len(names) > 0:
			return errors.New("give either a name or --all")
		case call.Bool("all"):
			all, err := s.types.Environments(ctx)
			if err != nil {
				return err
			}
			for _, env := range all {
				names = append(names, env.Name)
			}
		case len(names) == 0:
			return errors.New("which environment? Give its name, or --all; `quoin environment list` shows those there are")
		}
		built, rows, tell := []Built{}, [][]string{}, call.TellSeldom()
		for _, name := range names {
			if err := s.known(ctx, name); err != nil {
				return advise(err)
			}
			var b Built
			if err := s.Ask(ctx, what, question{Environment: name}, &b, func(line string) { tell("%s", line) }); err != nil {
				return advise(err)
			}
			built = append(built, b)
			rows = append(rows, []string{b.Environment, b.Index, fmt.Sprint(b.Documents)})
		}
		return call.Table(built, []string{"environment", "index", "documents"}, rows)
	}
}

// known tells at once when there is no environment of the name.
func (s *Service) known(ctx context.Context, name string) error {
	all, err := s.types.Environments(ctx)
	if err != nil {
		return err
	}
	for _, env := range all {
		if env.Name == name {
			return nil
		}
	}
	return unknownEnvironment(name)
}

func unknownEnvironment(name string) error {
	return problem.New(problem.NotFound, "there is no environment %q", name).WithCode("unknown_environment")
}

func runOrphans(ctx context.Context, s *Service, call *module.Call) error {
	removed := []string{}
	if err := s.Ask(module.Operator(ctx), askOrphans, question{}, &removed, nil); err != nil {
		return advise(err)
	}
	switch {
	case call.JSON:
		return call.Table(removed, nil, nil)
	case len(removed) == 0:
		_, err := fmt.Fprintln(call.Out, "There are no orphans.")
		return err
	}
	_, err := fmt.Fprintf(call.Out, "Removed %s.\n", strings.Join(removed, ", "))
	return err
}

func runCheck(ctx context.Context, s *Service, call *module.Call) error {
	found := []Finding{}
	if err := s.Ask(module.Operator(ctx), askCheck, question{Repair: call.Bool("repair")}, &found, nil); err != nil {
		return advise(err)
	}
	rows, left := [][]string{}, 0
	for _, f := range found {
		state := "repaired"
		if !f.Repaired {
			state = "wrong"
			left++
		}
		rows = append(rows, []string{f.Subject, state, f.Problem})
	}
	if len(found) == 0 && !call.JSON {
		_, err := fmt.Fprintln(call.Out, "All indexes and aliases are as the configuration says.")
		return err
	}
	if err := call.Table(found, []string{"subject", "state", "problem"}, rows); err != nil || left == 0 {
		return err
	}
	if call.Bool("repair") {
		return fmt.Errorf("%d findings are left; the log of the server says why", left)
	}
	return fmt.Errorf("%d findings; `quoin aliases check --repair` sets right what it can", left)
}
