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
	"syscall"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// Program is what main hands over.
type Program struct {
	Modules  []module.Spec
	Defaults []byte // the embedded configuration
	Samples  fs.FS  // the embedded sample content types
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
	_, _ = fmt.Fprintln(os.Stderr, "quoin: "+err.Error())
	if errors.As(err, new(usage)) {
		return 2
	}
	return 1
}

// Run runs one command line with its own environment and streams.
func Run(ctx context.Context, p Program, args, vars []string, in io.Reader, out, errw io.Writer) error {
	if p.Version == "" {
		p.Version = buildVersion()
	}
	e := &env{Program: p, in: in, out: out, err: errw, vars: vars}
	root := e.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	return root.ExecuteContext(ctx)
}

// usage marks a mistake in the command line itself.
type usage struct{ error }

func (e *env) root() *cobra.Command {
	root := &cobra.Command{
		Use: "quoin", Short: "Quoin is a content administration back office over HTTP",
		SilenceUsage: true, SilenceErrors: true, Args: cobra.NoArgs,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage{fmt.Errorf("%w (see %s --help)", err, c.CommandPath())}
	})
	flags := root.PersistentFlags()
	flags.StringVar(&e.file, "config", "", "configuration file (QUOIN_CONFIG)")
	flags.StringArrayVar(&e.set, "set", nil, "set a key of the configuration: --set a.b=value")
	flags.BoolVar(&e.json, "json", false, "answer JSON for programs instead of tables for people")
	flags.Func("data", "folder for everything that is stored (QUOIN_DATA)", func(v string) error {
		e.overrides = append(e.overrides, conf.Flag{Name: "--data", Path: "server.data", Value: v})
		return nil
	})
	root.AddCommand(e.serveCommand(), e.versionCommand(), e.modulesCommand(), e.configCommand(), e.migrateCommand(), e.importCommand())
	e.addModuleCommands(root)
	return root
}

// load reads the configuration as the flags and the environment say.
func (e *env) load() (*app.Config, error) {
	return app.Load(e.Modules, conf.Options{
		Defaults: e.Defaults, File: e.file, Env: e.vars, Flags: e.overrides, Set: e.set, OtherVariables: []string{"QUOIN_SERVER", "QUOIN_TOKEN"},
	})
}

// open assembles nothing, but opens the database of the configuration.
func (e *env) open(ctx context.Context) (*app.App, error) {
	c, err := e.load()
	if err != nil {
		return nil, err
	}
	log := telemetry.New(e.err, telemetry.Config{Level: "warn", Format: "text"})
	return app.Open(ctx, c, app.Options{Log: log, Samples: e.Samples, Version: e.Version})
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
