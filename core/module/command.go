package module

import (
	"context"
	"io"

	"go.uber.org/fx"
)

// Command is a command of the CLI as data; core/cli mounts it. Make it with
// Cmd.
type Command struct {
	// Use is the whole line: "user create USERNAME". The first words in lower
	// case are the path of the command.
	Use   string
	Short string
	Long  string
	Flags []Flag
	// Args is the least and the largest number of arguments; a negative
	// largest means any.
	Args [2]int

	invoke func(ctx context.Context, c *Call, result *error) fx.Option
}

// Flag is an option of a command. Default gives its type: string, bool, int,
// time.Duration or []string.
type Flag struct {
	Name    string
	Default any
	Doc     string
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
	c.invoke = func(ctx context.Context, call *Call, result *error) fx.Option {
		return fx.Invoke(func(s S) { *result = run(ctx, s, call) })
	}
	return c
}

// Invoke gives the wiring that runs the command once and leaves its error in
// result.
func (c Command) Invoke(ctx context.Context, call *Call, result *error) fx.Option {
	return c.invoke(ctx, call, result)
}
