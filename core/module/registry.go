package module

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/problem"
)

// Commands are the commands of all enabled modules, to be run inside the
// server as jobs.
type Commands struct {
	list []Command // sorted by path
	runs []Run     // filled by Wiring
}

// NewCommands collects the commands of modules.
func NewCommands(specs []Spec) *Commands {
	c := &Commands{}
	for _, s := range specs {
		c.list = append(c.list, s.Commands...)
	}
	slices.SortFunc(c.list, func(a, b Command) int { return cmp.Compare(a.name(), b.name()) })
	c.runs = make([]Run, len(c.list))
	for i, cmd := range c.list {
		c.runs[i] = cmd.plain
	}
	return c
}

// Wiring finds what each command works with. Before that, lines can be parsed
// but not run.
func (c *Commands) Wiring() fx.Option {
	var options []fx.Option
	for i, cmd := range c.list {
		if !cmd.Local {
			options = append(options, cmd.bind(&c.runs[i]))
		}
	}
	return fx.Options(options...)
}

// List gives the commands that can be run as jobs, by name.
func (c *Commands) List() []Command {
	return slices.DeleteFunc(slices.Clone(c.list), func(cmd Command) bool { return cmd.Local })
}

// For gives the commands that somebody may run as jobs, by name.
func (c *Commands) For(who *auth.Identity) []Command {
	return slices.DeleteFunc(c.List(), func(cmd Command) bool { return cmd.lacks(who) != "" })
}

func (c Command) name() string { return strings.Join(c.Path(), " ") }

// NeededRoles are all needed to run the command as a job.
func (c Command) NeededRoles() []string {
	if c.Roles == nil {
		return []string{auth.RoleAdmin}
	}
	return c.Roles
}

// lacks gives a role that somebody lacks for running the command, or "".
func (c Command) lacks(who *auth.Identity) string {
	for _, role := range c.NeededRoles() {
		if !who.Has(role) {
			return role
		}
	}
	return ""
}

// Line is a command line that was understood.
type Line struct {
	Command Command
	Args    []string
	JSON    bool // --json was given

	flags map[string]any
	run   Run
}

// Parse understands a command line, such as `environment rebuild live --all`,
// under the command's own name or one of its aliases, and checks that who may
// run it. Errors: Invalid with the codes unknown_command, local_command and
// bad_command; Forbidden.
func (c *Commands) Parse(line string, who *auth.Identity) (*Line, error) {
	words, err := Words(line)
	if err != nil {
		return nil, bad("bad_command", "%v", err)
	}
	i, rest := c.find(words)
	if i < 0 {
		return nil, c.unknown(words)
	}
	l := &Line{Command: c.list[i], run: c.runs[i]}
	if l.Command.Local {
		return nil, bad("local_command", "%s can only be run on the command line of the server", l.Command.name())
	}
	if role := l.Command.lacks(who); role != "" {
		return nil, problem.Field(problem.Forbidden, "command", "%s needs %s", l.Command.name(), role).WithCode("command_role")
	}
	if err := l.parse(rest); err != nil {
		return nil, bad("bad_command", "%s: %v", l.Command.name(), err)
	}
	return l, nil
}

func bad(code, format string, args ...any) error {
	return problem.Field(problem.Invalid, "command", format, args...).WithCode(code)
}

// find gives the number of the command with the longest path that the words
// begin with, and the words behind it; below 0 when there is none.
func (c *Commands) find(words []string) (found int, rest []string) {
	found = -1
	length := 0
	for i, cmd := range c.list {
		path := cmd.Path()
		if len(words) > 0 && slices.Contains(cmd.Aliases, words[0]) {
			return i, words[1:]
		}
		if len(path) > length && len(words) >= len(path) && slices.Equal(path, words[:len(path)]) {
			found, length = i, len(path)
		}
	}
	return found, words[length:]
}

// unknown names the command that was probably meant.
func (c *Commands) unknown(words []string) error {
	said := strings.Join(words[:min(2, len(words))], " ")
	var names []string
	for _, cmd := range c.List() {
		names = append(append(names, cmd.name()), cmd.Aliases...)
	}
	for n := min(3, len(words)); n > 0; n-- {
		if near := conf.Nearest(strings.Join(words[:n], " "), names); near != "" {
			return bad("unknown_command", "there is no command %.100q; did you mean %q?", strings.Join(words[:n], " "), near)
		}
	}
	var same []string
	for _, name := range names {
		if len(words) > 0 && strings.HasPrefix(name, words[0]+" ") {
			same = append(same, name)
		}
	}
	if same != nil {
		return bad("unknown_command", "there is no command %.100q; there are %s", said, strings.Join(same, ", "))
	}
	return bad("unknown_command", "there is no command %.100q: the command `commands` lists those there are, and a job for a worker outside needs a tag", said)
}

// parse reads arguments and flags: --name value, --name=value, --name for a
// boolean; everything behind -- is an argument.
func (l *Line) parse(words []string) error {
	l.flags = map[string]any{}
	for _, f := range l.Command.Flags {
		l.flags[f.Name] = f.Default
	}
	given := map[string]bool{}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case word == "--":
			l.Args = append(l.Args, words...)
			words = nil
		case word == "--json":
			l.JSON = true
		case strings.HasPrefix(word, "-") && word != "-" && !number(word):
			var err error
			if words, err = l.flag(word, words, given); err != nil {
				return err
			}
		default:
			l.Args = append(l.Args, word)
		}
	}
	if n, want := len(l.Args), l.Command.Args; n < want[0] || want[1] >= 0 && n > want[1] {
		return fmt.Errorf("it was given %d arguments; usage: %s", n, l.Command.Use)
	}
	return nil
}

// Run runs the command once. What it prints goes to out; who runs it is the
// identity of ctx.
func (l *Line) Run(ctx context.Context, out io.Writer) error {
	if l.run == nil {
		return errors.New("this process does not run commands")
	}
	call := &Call{
		Args: l.Args, JSON: l.JSON, In: strings.NewReader(""), Out: out,
		Flags:    func(name string) any { return l.flags[name] },
		Progress: func(line string) { _, _ = fmt.Fprintln(out, line) },
		Table: func(value any, header []string, rows [][]string) error {
			return PrintTable(out, l.JSON, value, header, rows)
		},
	}
	return l.run(ctx, call)
}
