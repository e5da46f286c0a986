package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/module"
)

// mount adds a command below its path, making the groups on the way.
func (e *env) mount(root *cobra.Command, c module.Command) {
	words, path := strings.Fields(c.Use), c.Path()
	parent := root
	for _, word := range path[:len(path)-1] {
		parent = subgroup(parent, word)
	}
	long := c.Long
	if len(c.Aliases) > 0 {
		long = cmp.Or(long, c.Short+".") + "\n\nIts name in elasticms works as well: " + strings.Join(c.Aliases, ", ") + "."
	}
	cmd := &cobra.Command{
		Use: strings.Join(words[len(path)-1:], " "), Short: c.Short, Long: long,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < c.Args[0] || c.Args[1] >= 0 && len(args) > c.Args[1] {
				return fmt.Errorf("wrong number of arguments")
			}
			return nil
		},
	}
	for _, f := range c.Flags {
		addFlag(cmd, f)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return e.runModuleCommand(cmd, c, args) }
	parent.AddCommand(cmd)
}

// spell replaces the alias of a command, which is the first word of a command
// line that is no option, by its path.
func (e *env) spell(args []string, enabled func(module string) bool) []string {
	for i := 0; i < len(args); i++ {
		word := args[i]
		if strings.HasPrefix(word, "-") {
			if slices.Contains([]string{"--config", "--set", "--data"}, word) {
				i++ // its value
			}
			continue
		}
		for _, m := range e.Modules {
			for _, c := range m.Commands {
				if enabled(m.Name) && slices.Contains(c.Aliases, word) {
					return slices.Concat(args[:i], c.Path(), args[i+1:])
				}
			}
		}
		break
	}
	return args
}

// subgroup finds the group of a name, or makes it.
func subgroup(parent *cobra.Command, name string) *cobra.Command {
	for _, c := range parent.Commands() {
		if c.Name() == name {
			return c
		}
	}
	c := group(name, "Manage "+plural(name))
	parent.AddCommand(c)
	return c
}

func plural(name string) string {
	name = strings.ReplaceAll(name, "-", " ")
	switch {
	case strings.HasSuffix(name, "alias"), strings.HasSuffix(name, "ch"):
		return name + "es"
	case strings.HasSuffix(name, "s"):
		return name
	}
	return name + "s"
}

func addFlag(cmd *cobra.Command, f module.Flag) {
	switch d := f.Default.(type) {
	case string:
		cmd.Flags().String(f.Name, d, f.Doc)
	case bool:
		cmd.Flags().Bool(f.Name, d, f.Doc)
	case int:
		cmd.Flags().Int(f.Name, d, f.Doc)
	case time.Duration:
		cmd.Flags().Duration(f.Name, d, f.Doc)
	case []string:
		cmd.Flags().StringSlice(f.Name, d, f.Doc)
	default:
		panic(fmt.Sprintf("flag --%s: a default of type %T is not supported", f.Name, f.Default))
	}
}

func flagValue(cmd *cobra.Command, f module.Flag) any {
	switch f.Default.(type) {
	case string:
		v, _ := cmd.Flags().GetString(f.Name)
		return v
	case bool:
		v, _ := cmd.Flags().GetBool(f.Name)
		return v
	case int:
		v, _ := cmd.Flags().GetInt(f.Name)
		return v
	case time.Duration:
		v, _ := cmd.Flags().GetDuration(f.Name)
		return v
	default:
		v, _ := cmd.Flags().GetStringSlice(f.Name)
		return v
	}
}

func (e *env) runModuleCommand(cmd *cobra.Command, c module.Command, args []string) (err error) {
	ctx := cmd.Context()
	call := e.moduleCall(cmd, c, args)
	if run := c.Alone(); run != nil {
		return run(ctx, call)
	}
	a, err := e.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Migrate(ctx); err != nil {
		return err
	}
	return a.Run(ctx, c, call)
}

func (e *env) moduleCall(cmd *cobra.Command, c module.Command, args []string) *module.Call {
	call := &module.Call{Args: args, JSON: e.json, In: e.in, Out: e.out, Table: e.table}
	call.Progress = func(line string) { _, _ = fmt.Fprintln(e.err, line) }
	call.Flags = func(name string) any {
		for _, f := range c.Flags {
			if f.Name == name {
				return flagValue(cmd, f)
			}
		}
		return nil
	}
	return call
}
