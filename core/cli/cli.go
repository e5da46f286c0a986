// Package cli is the command line: cobra on the outside, the commands of the
// modules inside.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/pluginhost"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// Program is what main hands over.
type Program struct {
	Modules  []module.Spec
	Defaults []byte // the embedded configuration
	Samples  fs.FS  // the embedded sample content types
	Examples []byte // the embedded examples of the API document
	Version  string // empty takes what the build knows
}

// env is what a run of a command works with; tests fill it with their own.
type env struct {
	Program
	in        io.Reader
	out, err  io.Writer
	vars      []string
	file      string
	json      bool
	set       []string
	overrides []conf.Flag
}

// Main runs the command line of the process and gives its exit status: 0, or 1
// after an error, or 2 when the command line itself is wrong. The first SIGINT
// or SIGTERM ends it in good order, the second at once.
func Main(ctx context.Context, p Program, args, vars []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err := Run(ctx, p, args, vars, os.Stdin, os.Stdout, os.Stderr)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(os.Stderr, "quoin: "+sentence(err))
	if errors.As(err, new(usage)) {
		return 2
	}
	return 1
}

// sentence says an error without the kind of a problem, which is for the log.
func sentence(err error) string {
	var p *problem.Problem
	if !errors.As(err, &p) {
		return err.Error()
	}
	return strings.TrimPrefix(err.Error(), p.Kind.Name()+": ")
}

// Run runs one command line with its own environment and streams.
func Run(ctx context.Context, p Program, args, vars []string, in io.Reader, out, errw io.Writer) error {
	if p.Version == "" {
		p.Version = buildVersion()
	}
	p.Modules = append(slices.Clone(p.Modules), pluginhost.Spec())
	e := &env{Program: p, in: in, out: out, err: errw, vars: vars}
	enabled := e.enabled(args)
	root := e.root(enabled)
	root.SetArgs(e.spell(args, enabled))
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	return root.ExecuteContext(ctx)
}

// usage marks a mistake in the command line itself.
type usage struct{ error }

// root makes the tree of commands. enabled tells which modules take part.
func (e *env) root(enabled func(module string) bool) *cobra.Command {
	root := group("quoin", "Quoin is a content administration back office over HTTP")
	root.SilenceUsage, root.SilenceErrors = true, true
	root.CompletionOptions = cobra.CompletionOptions{HiddenDefaultCmd: true}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage{fmt.Errorf("%w (see %s --help)", err, c.CommandPath())}
	})
	flags := root.PersistentFlags()
	flags.StringVar(&e.file, "config", "", "configuration `file` (QUOIN_CONFIG)")
	flags.StringArrayVar(&e.set, "set", nil, "set a key of the configuration, as in `a.b=value`")
	flags.BoolVar(&e.json, "json", false, "answer JSON for programs instead of tables for people")
	flags.Func("data", "`folder` for everything that is stored (QUOIN_DATA)", func(v string) error {
		e.overrides = append(e.overrides, conf.Flag{Name: "--data", Path: "server.data", Value: v})
		return nil
	})
	root.AddCommand(e.serveCommand(), e.workerCommand(), e.versionCommand(), e.modulesCommand(), e.configCommand(), e.migrateCommand(), e.importCommand(),
		e.backupCommand(), e.doctorCommand(), e.eventsCommand())
	off := map[string]string{} // first words of commands that are not there → module
	for _, m := range e.Modules {
		for _, c := range m.Commands {
			if enabled(m.Name) {
				e.mount(root, c)
				continue
			}
			word, _, _ := strings.Cut(c.Use, " ")
			for _, name := range append([]string{word}, c.Aliases...) {
				off[name] = m.Name
			}
		}
	}
	if enabled("plugins") {
		subgroup(root, "plugin").AddCommand(e.pluginDevCommand())
	}
	ask := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 && off[args[0]] != "" {
			return fmt.Errorf("%q is a command of the module %q, which is switched off (modules.%s.enabled)", args[0], off[args[0]], off[args[0]])
		}
		return ask(c, args)
	}
	strict(root)
	return root
}

// group is a command that only holds others.
func group(use, short string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, SuggestionsMinimumDistance: 2, RunE: func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return fmt.Errorf("%s has no command %q; did you mean %s?", c.CommandPath(), args[0], strings.Join(near, " or "))
		}
		return fmt.Errorf("%s has no command %q (see %s --help)", c.CommandPath(), args[0], c.CommandPath())
	}, Args: cobra.ArbitraryArgs, Annotations: map[string]string{isGroup: ""}}
}

const isGroup = "group"

// strict makes wrong arguments of every command a mistake in the command line.
func strict(c *cobra.Command) {
	if _, yes := c.Annotations[isGroup]; yes {
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if err := run(c, args); err != nil {
				return usage{err}
			}
			return nil
		}
	} else if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usage{fmt.Errorf("usage: %s", c.UseLine())}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
}

// enabled reads the configuration before the command line is understood, only
// to know which modules take part. When it is broken all do: the command that
// runs tells what is wrong.
func (e *env) enabled(args []string) func(module string) bool {
	early := pflag.NewFlagSet("", pflag.ContinueOnError)
	early.ParseErrorsAllowlist.UnknownFlags = true
	early.Usage = func() {}
	early.SetOutput(io.Discard)
	file, set := early.String("config", "", ""), early.StringArray("set", nil, "")
	early.BoolP("help", "h", false, "") // without it the parser stops there
	_ = early.Parse(args)               // the real parser tells
	c, err := app.Load(e.Modules, conf.Options{Defaults: e.Defaults, File: *file, Env: e.vars, Set: *set, OtherVariables: otherVariables()})
	if err != nil {
		return func(string) bool { return true }
	}
	return c.Enabled
}

// otherVariables are QUOIN_… variables that are no keys of the configuration.
func otherVariables() []string { return []string{"QUOIN_SERVER", "QUOIN_TOKEN"} }

// load reads the configuration as the flags and the environment say.
func (e *env) load() (*app.Config, error) {
	return app.Load(e.Modules, conf.Options{
		Defaults: e.Defaults, File: e.file, Env: e.vars, Flags: e.overrides, Set: e.set, OtherVariables: otherVariables(),
	})
}

// open assembles nothing, but opens the database of the configuration.
func (e *env) open(ctx context.Context) (*app.App, error) {
	c, err := e.load()
	if err != nil {
		return nil, err
	}
	if c.Unborn() {
		_, _ = fmt.Fprintf(e.err, "A new database begins in %s; --data and QUOIN_DATA choose the folder.\n", c.Server.Data)
	}
	log := telemetry.New(e.err, telemetry.Config{Level: "warn", Format: "text"})
	return app.Open(ctx, c, app.Options{Log: log, Samples: e.Samples, Examples: e.Examples, Version: e.Version})
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}

func (e *env) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}{e.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
			if e.json {
				return e.printJSON(v)
			}
			_, err := fmt.Fprintf(e.out, "quoin %s (%s %s/%s)\n", v.Version, v.Go, v.OS, v.Arch)
			return err
		},
	}
}
