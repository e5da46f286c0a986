package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
)

func serverCommands() []module.Command {
	return []module.Command{
		module.Cmd(module.Command{
			Use: "commands [NAME]", Short: "List the commands that can be run as jobs, or tell about one", Args: [2]int{0, -1}, Roles: []string{},
		}, runCommands),
		module.Cmd(module.Command{
			Use: "instance status", Short: "Tell whether the server has what it needs", Aliases: []string{"ems:status", "emsch:health-check"}, Roles: []string{},
		}, runStatus),
		module.Cmd(module.Command{
			Use: "instance version", Short: "Print the version", Aliases: []string{"ems:version"}, Roles: []string{},
		}, runVersion),
		module.Cmd(module.Command{
			Use: "logs clear", Short: "Remove the records of old jobs", Aliases: []string{"ems:logs:clear"},
			Long: "Removes jobs that are over, with their output. The server does so by itself for those older than job.retention.",
			Flags: []module.Flag{
				{Name: "before", Default: "", Doc: "a day or time such as 2026-05-04 or 2026-05-04T10:00:00Z; 30 days ago when empty"},
				{Name: "channel", Default: "", Doc: "taken from elasticms's command lines; only job, or nothing, is known"},
			},
		}, runClear),
	}
}

func runCommands(ctx context.Context, s *Service, call *module.Call) error {
	who := auth.From(module.Operator(ctx))
	if len(call.Args) > 0 {
		name := strings.Join(call.Args, " ")
		for _, v := range s.commandList(who) {
			if v.Name == name || strings.Contains(" "+strings.Join(v.Aliases, " ")+" ", " "+name+" ") {
				return tellCommand(call, v)
			}
		}
		return fmt.Errorf("there is no command %q that you may run", name)
	}
	list, rows := s.commandList(who), [][]string{}
	for _, v := range list {
		rows = append(rows, []string{v.Usage, v.Short, strings.Join(v.Aliases, " ")})
	}
	return call.Table(list, []string{"command", "what it does", "in elasticms"}, rows)
}

func tellCommand(call *module.Call, v jobCommand) error {
	if call.JSON {
		return call.Table(v, nil, nil)
	}
	long := v.Long
	if long == "" {
		long = v.Short + "."
	}
	_, _ = fmt.Fprintf(call.Out, "%s\n\n%s\n\n", v.Usage, long)
	rows := [][]string{}
	for _, f := range v.Options {
		rows = append(rows, []string{"--" + f.Name, f.Type, f.Default, f.Doc})
	}
	return call.Table(v, []string{"option", "type", "default", "what it does"}, rows)
}

func runStatus(ctx context.Context, s *Service, call *module.Call) error {
	type state struct {
		Name  string `json:"name"`
		State string `json:"state"`
	}
	results := s.checks.Ready(ctx)
	all, rows := []state{}, [][]string{}
	for _, r := range results {
		one := state{r.Name, "ok"}
		if r.Err != nil {
			one.State = "failing" // the reason may hold addresses: it is for the log
			s.log.WarnContext(ctx, "a check fails", "check", r.Name, "error", r.Err)
		}
		all = append(all, one)
		rows = append(rows, []string{one.Name, one.State})
	}
	if err := call.Table(all, []string{"check", "state"}, rows); err != nil {
		return err
	}
	if !telemetry.Healthy(results) {
		return errors.New("not all checks are well; the log tells more")
	}
	return nil
}

func runVersion(_ context.Context, s *Service, call *module.Call) error {
	if call.JSON {
		return call.Table(map[string]string{"version": s.version}, nil, nil)
	}
	_, err := fmt.Fprintln(call.Out, "quoin "+s.version)
	return err
}

func runClear(ctx context.Context, s *Service, call *module.Call) error {
	if c := call.String("channel"); c != "" && c != "job" {
		return fmt.Errorf("there are no records of %q here: the log of the server goes to standard error", c)
	}
	before := s.now().Add(-30 * 24 * time.Hour)
	if text := call.String("before"); text != "" {
		var err error
		if before, err = time.Parse(time.RFC3339, text); err != nil {
			if before, err = time.Parse(time.DateOnly, text); err != nil {
				return fmt.Errorf("--before: %q is neither a day such as 2026-05-04 nor a time such as 2026-05-04T10:00:00Z", text)
			}
		}
	}
	n, err := s.clearBefore(ctx, before)
	if err != nil {
		return err
	}
	if call.JSON {
		return call.Table(map[string]int{"removed": n}, nil, nil)
	}
	_, err = fmt.Fprintf(call.Out, "%d jobs removed.\n", n)
	return err
}
