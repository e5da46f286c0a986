// Package module says what a module is: a value that describes itself, and one
// function that returns its wiring. Everything that can be told without
// constructing anything (name, needs, configuration, migrations, event types,
// commands) is data; behaviour is contributed through helpers that hide fx's
// groups.
package module

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/event"
)

// Spec is a module as the list in modules.go holds it.
type Spec struct {
	// Name is lower case: the key under `modules`, the name of its section of
	// the configuration, and the prefix of its tables.
	Name    string
	Summary string
	// Needs are modules that must be enabled as well.
	Needs []string
	// Config gives a pointer to a fresh config struct that holds its defaults;
	// nil when the module has none. The decoded value is provided to Wiring.
	Config func() any
	// Migrations has the folders sqlite and postgres; nil for no tables.
	Migrations fs.FS
	// Passing names tables whose rows mean nothing to another process, such as
	// uploads that are under way: backups leave them out.
	Passing []string
	// Blobs are queries, of both databases, for the keys of all blobs that the
	// module's rows name.
	Blobs []string
	// Events are the event types the module emits.
	Events []event.Type
	// Commands are the module's commands of the CLI.
	Commands []Command
	// Wiring returns the module's constructors. It may only use fx.Provide and
	// the helpers of this package.
	Wiring func() Wiring
}

// Wiring is the constructors of a module, as fx takes them.
type Wiring = fx.Option

// Resolve gives the enabled modules in the order of the list, or every problem
// in the operator's words.
func Resolve(all []Spec, enabled func(name string) bool) ([]Spec, error) {
	var on []Spec
	var problems []string
	for _, s := range all {
		if !enabled(s.Name) {
			continue
		}
		on = append(on, s)
		for _, need := range s.Needs {
			switch {
			case !slices.ContainsFunc(all, func(o Spec) bool { return o.Name == need }):
				problems = append(problems, fmt.Sprintf("module %q needs a module %q, which does not exist", s.Name, need))
			case !enabled(need):
				problems = append(problems, fmt.Sprintf(
					"module %q needs module %q, which is switched off: set modules.%s.enabled to true, or modules.%s.enabled to false", s.Name, need, need, s.Name))
			}
		}
	}
	if problems != nil {
		return nil, fmt.Errorf("%s", strings.Join(problems, "\n"))
	}
	return on, nil
}
