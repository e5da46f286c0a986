package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/problem"
)

// commands are the module's commands: here those of environments, in
// commands_alias.go those of managed aliases, in commands_documents.go and
// commands_types.go those of documents and content types.
func commands() []module.Command {
	one := [2]int{1, 1}
	many := []module.Flag{
		{Name: "force", Default: false, Doc: "do it; without it the command only says what it would do, and fails"},
		{Name: "dry-run", Default: false, Doc: "only say what would be done"},
		{Name: "search-query", Default: "", Doc: "only documents that match this query (JSON, as in a search)"},
		{Name: "user", Default: "", Doc: "the name that the documents are published under"},
		module.Ignored("scroll-size", 0), module.Ignored("scroll-timeout", ""),
	}
	return append([]module.Command{
		module.Cmd(module.Command{
			Use: "environment create NAME", Short: "Create an environment", Args: one, Aliases: []string{"ems:environment:create"},
			Flags: []module.Flag{
				{Name: "label", Default: "", Doc: "what people read; the name when empty"},
				{Name: "strict", Default: false, Doc: "fail when there is one of the name"},
				module.Ignored("update-referrers", false),
			},
		}, runCreate),
		module.Cmd(module.Command{
			Use: "environment list", Short: "List the environments with their indexes", Aliases: []string{"ems:environment:list"},
			Flags: []module.Flag{{Name: "all", Default: false, Doc: "also those that are not managed here"}},
		}, runList),
		module.Cmd(module.Command{
			Use: "environment align SOURCE TARGET", Short: "Publish in one environment what is in another", Args: [2]int{2, 2},
			Aliases: []string{"emsco:environment:align"},
			Long:    "Publishes every document of SOURCE in TARGET, in the revision that SOURCE has. Documents that are only in TARGET stay, and so do those whose default environment TARGET is.",
			Flags:   append([]module.Flag{{Name: "snapshot", Default: false, Doc: "make TARGET a snapshot afterwards, which nobody can publish to"}}, many...),
		}, runAlign),
		module.Cmd(module.Command{
			Use: "environment unpublish NAME", Short: "Take documents out of an environment", Args: one, Aliases: []string{"emsco:environment:unpublish"},
			Long:  "Takes documents out of an environment, but for those whose default environment it is.",
			Flags: many,
		}, runUnpublish),
	}, append(aliasCommands(), append(documentCommands(), typeCommands()...)...)...)
}

// writingAs is the context of who runs a command and writes under another name;
// an empty one is no other. The name gives no other rights.
func writingAs(ctx context.Context, name string) context.Context {
	switch id := auth.From(ctx); {
	case name == "":
		return module.Operator(ctx)
	case id == nil:
		return auth.With(ctx, auth.System(name))
	case name != id.Username:
		other := *id
		other.Actor, other.Username = id.Username, name
		return auth.With(ctx, &other)
	}
	return ctx
}

// advise says an error as people read it, with what to do next.
func advise(err error) error {
	return module.Advise(err, map[string]string{
		"unknown_environment": "`quoin environment list` shows those there are",
		"unknown_alias":       "`quoin managed-alias list` shows those there are",
	})
}

func runCreate(ctx context.Context, s *Service, call *module.Call) error {
	name := call.Args[0]
	err := s.CreateEnvironment(module.Operator(ctx), name, call.String("label"))
	said := "Created the environment %s."
	if problem.Is(err, problem.Conflict) && !call.Bool("strict") {
		said, err = "There is an environment %s already.", nil
	}
	if err != nil {
		return advise(err)
	}
	if !call.JSON {
		_, err = fmt.Fprintf(call.Out, said+"\n", name)
		return err
	}
	all, err := s.Environments(ctx)
	if i := slices.IndexFunc(all, func(e EnvironmentInfo) bool { return e.Name == name }); err == nil && i >= 0 {
		err = call.Table(all[i], nil, nil)
	}
	return err
}

func runList(ctx context.Context, s *Service, call *module.Call) error {
	all, err := s.Environments(ctx)
	if err != nil {
		return err
	}
	if !call.Bool("all") {
		all = slices.DeleteFunc(all, func(e EnvironmentInfo) bool { return !e.Managed })
	}
	rows := [][]string{}
	for _, e := range all {
		rows = append(rows, []string{e.Name, e.Alias, e.Index, fmt.Sprint(e.Documents), yes(e.Managed), yes(e.Snapshot), e.State, strings.Join(e.Aliases, " ")})
	}
	return call.Table(all, []string{"name", "alias", "index", "documents", "managed", "snapshot", "state", "managed aliases"}, rows)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// selection reads the flags of a command that treats many documents.
func selection(call *module.Call) (Selection, error) {
	sel := Selection{DryRun: call.Bool("dry-run") || !call.Bool("force")}
	if q := call.String("search-query"); q != "" {
		if sel.Query = []byte(q); !json.Valid(sel.Query) {
			return sel, errors.New("--search-query is not JSON: give a query such as '{\"term\":{\"_contenttype\":\"page\"}}'")
		}
	}
	return sel, nil
}

func runAlign(ctx context.Context, s *Service, call *module.Call) error {
	ctx = writingAs(ctx, call.String("user"))
	sel, err := selection(call)
	if err != nil {
		return err
	}
	source, target := call.Args[0], call.Args[1]
	m, err := s.Align(ctx, source, target, sel, counting(call))
	if err != nil {
		return advise(err)
	}
	if err := report(call, m, "published in "+target); err != nil || !call.Bool("snapshot") || sel.DryRun {
		return err
	}
	return advise(s.Freeze(ctx, target))
}

func runUnpublish(ctx context.Context, s *Service, call *module.Call) error {
	ctx = writingAs(ctx, call.String("user"))
	sel, err := selection(call)
	if err != nil {
		return err
	}
	m, err := s.UnpublishAll(ctx, call.Args[0], sel, counting(call))
	if err != nil {
		return advise(err)
	}
	return report(call, m, "taken out of "+call.Args[0])
}

// counting tells the progress.
func counting(call *module.Call) func(Moved) {
	tell := call.TellSeldom()
	return func(m Moved) { tell("%d documents so far", m.Changed+m.Failed) }
}

// report tells the outcome; it fails where something has failed or was not
// done for want of --force.
func report(call *module.Call, m *Moved, done string) error {
	pretended := !call.Bool("force") || call.Bool("dry-run")
	if pretended {
		done = "would be " + done
	}
	if call.JSON {
		if err := call.Table(m, nil, nil); err != nil {
			return err
		}
	} else {
		_, _ = fmt.Fprintf(call.Out, "%d documents %s.\n", m.Changed, done)
		if m.Default > 0 {
			_, _ = fmt.Fprintf(call.Out, "%d documents were left alone: it is their default environment.\n", m.Default)
		}
		for _, f := range m.Failures {
			_, _ = fmt.Fprintf(call.Out, "failed: %s\n", f)
		}
	}
	switch {
	case m.Failed > 0:
		return fmt.Errorf("%d documents failed", m.Failed)
	case pretended && !call.Bool("dry-run"):
		return errors.New("nothing was changed: add --force to do it")
	}
	return nil
}
