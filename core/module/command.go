package module

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"go.uber.org/fx"
)

// Command is a command of the CLI as data; core/cli mounts it. Make it with
// Cmd.
type Command struct {
	// Use is the whole line: "user create USERNAME". The first words in lower
	// case are the path of the command.
	Use string
	// Aliases are single words that stand for the path: the names of the same
	// command in elasticms, such as "ems:environment:rebuild".
	Aliases []string
	Short   string
	Long    string
	Flags   []Flag
	// Args is the least and the largest number of arguments; a negative
	// largest means any.
	Args [2]int
	// Roles are all needed to run it as a job; nil means ROLE_ADMIN.
	Roles []string
	// Local commands cannot be run as jobs: they read or write files of this
	// machine or standard input, print secrets, or manage jobs themselves.
	Local bool

	bind  func(run *Run) fx.Option
	plain Run
}

// Run runs a command that has found the value it works with.
type Run func(ctx context.Context, call *Call) error

// Path is the words that call the command, without its arguments.
func (c Command) Path() []string {
	words := strings.Fields(c.Use)
	for i, w := range words {
		if w != strings.ToLower(w) || strings.ContainsAny(w, "[<.") {
			return words[:i]
		}
	}
	return words
}

// Flag is an option of a command. Default gives its type: string, bool, int,
// time.Duration or []string.
type Flag struct {
	Name    string
	Default any
	Doc     string
}

// Ignored is an option that command lines of elasticms have and that does
// nothing here: they work unchanged.
func Ignored(name string, value any) Flag {
	return Flag{Name: name, Default: value, Doc: "taken from elasticms's command lines; has no effect"}
}

// Call is one run of a command.
type Call struct {
	Args  []string
	Flags func(name string) any // the value, of the type of the default
	JSON  bool
	In    io.Reader
	Out   io.Writer
	// Table prints rows for people, or the value as JSON under --json.
	Table func(value any, header []string, rows [][]string) error
	// Progress takes lines that tell how far a long command is; they are no
	// part of its answer. It may be nil.
	Progress func(line string)
}

// Tell hands a line to Progress.
func (c *Call) Tell(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}

// TellSeldom gives a Tell that hands on one line a second at most, and drops
// the others. It is for one goroutine.
func (c *Call) TellSeldom() func(format string, args ...any) {
	last := time.Now()
	return func(format string, args ...any) {
		if time.Since(last) > time.Second {
			last = time.Now()
			c.Tell(format, args...)
		}
	}
}

// String gives a string flag.
func (c *Call) String(name string) string { s, _ := c.Flags(name).(string); return s }

// Bool gives a boolean flag.
func (c *Call) Bool(name string) bool { b, _ := c.Flags(name).(bool); return b }

// Strings gives a list flag.
func (c *Call) Strings(name string) []string { s, _ := c.Flags(name).([]string); return s }

// Cmd makes a command that runs with a value of the module's wiring, such as
// its service.
func Cmd[S any](c Command, run func(ctx context.Context, s S, call *Call) error) Command {
	c.bind = func(to *Run) fx.Option {
		return fx.Invoke(func(s S) {
			*to = func(ctx context.Context, call *Call) error { return run(ctx, s, call) }
		})
	}
	return c
}

// Plain makes a command that needs nothing of the wiring. On the command line it
// runs without data and configuration.
func Plain(c Command, run Run) Command {
	c.plain = run
	c.bind = func(to *Run) fx.Option {
		*to = run
		return fx.Options()
	}
	return c
}

// Alone gives how a command of Plain runs, with no data and no configuration;
// nil for others.
func (c Command) Alone() Run { return c.plain }

// Invoke gives the wiring that runs the command once and leaves its error in
// result.
func (c Command) Invoke(ctx context.Context, call *Call, result *error) fx.Option {
	var run Run
	return fx.Options(c.bind(&run), fx.Invoke(func() { *result = run(ctx, call) }))
}
