// Package archtest proves that the packages import one another only in the
// directions the architecture allows. It consists of tests only. A failure
// names the edge, the rule it breaks, and what to do instead.
package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

const home = "github.com/quoin-cms/quoin"

// edge is one import of one file. Paths inside the repository are relative to
// it ("core/db", "." for main); others are as written.
type edge struct {
	from string // package
	file string // base name
	to   string
	ours bool // to is inside the repository
	test bool // file ends in _test.go
}

func (e edge) String() string { return path.Join(e.from, e.file) + " imports " + e.to }

// first gives the first n elements of a path.
func first(p string, n int) string {
	parts := strings.Split(p, "/")
	return strings.Join(parts[:min(n, len(parts))], "/")
}

func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

func withinAny(p string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return within(p, f) })
}

// levels are the packages of core from low to high. A package imports lower
// levels only; its subpackages count as itself.
func levels() [][]string {
	return [][]string{
		{"problem", "apidoc"},
		{"rawjson", "telemetry"},
		{"conf", "auth"},
		{"port", "db", "web", "blob", "search"},
		{"work", "backup"},
		{"event"},
		{"module"},
		{"pluginhost"},
		{"app"},
		{"cli"},
	}
}

func levelOf(pkg string) int {
	name := strings.TrimPrefix(first(pkg, 2), "core/")
	return slices.IndexFunc(levels(), func(names []string) bool { return slices.Contains(names, name) })
}

// moduleMayImport is what a module sees of core.
func moduleMayImport() []string {
	names := []string{"module", "port", "auth", "web", "problem", "rawjson", "conf", "db", "work", "event", "blob", "search", "telemetry"}
	for i, name := range names {
		names[i] = "core/" + name
	}
	return names
}

// judge gives the broken rule with what to do instead, or "".
func judge(e edge) string {
	if !e.ours {
		return judgeLibrary(e)
	}
	if within(e.to, "core/archtest") {
		return "core/archtest holds tests only; nothing to import there"
	}
	if within(e.to, "core/testkit") && !within(e.from, "core/testkit") {
		if e.test {
			return ""
		}
		return "core/testkit is for tests; move the code that needs it into a _test.go file"
	}
	if double := "core/search/typesense/double"; within(e.to, double) && !e.test && !within(e.from, double) {
		return double + " answers in the place of a server; only tests import it"
	}
	if traces := "core/telemetry/tracetest"; within(e.to, traces) && !e.test && !within(e.from, traces) {
		return traces + " is for tests; move the code that needs it into a _test.go file"
	}
	if kit := "core/web/webtest"; within(e.to, kit) && !e.test && !within(e.from, kit) {
		return kit + " checks answers; only tests import it"
	}
	switch top := first(e.from, 1); top {
	case ".":
		return judgeMain(e)
	case "core":
		return judgeCore(e)
	case "modules":
		return judgeModule(e)
	case "config":
		return "config holds files and embeds them; main hands them to core, so it imports nothing of ours"
	case "sdk":
		return only(e, "sdk stands alone, so that plugin authors stay light: copy the little type you need into sdk", "sdk")
	case "plugins":
		return only(e, "a plugin sees sdk only, as a stranger's would: ask for a host service in sdk/host", "sdk", first(e.from, 2))
	default:
		return fmt.Sprintf("the folder %s is not in the architecture; put the package under core, modules, sdk, plugins or config", top)
	}
}

func only(e edge, rule string, allowed ...string) string {
	if withinAny(e.to, allowed...) {
		return ""
	}
	return rule
}

func judgeMain(e edge) string {
	if e.test || e.to == "core/cli" || e.to == "modules" || e.to == "config" {
		return ""
	}
	return "main hands the modules and the defaults to core/cli and knows nothing else: move the code into core/cli or core/app"
}

func judgeCore(e edge) string {
	from, to := first(e.from, 2), first(e.to, 2)
	assembles := e.test && withinAny(from, "core/app", "core/cli")
	switch {
	case from == to || withinAny(from, "core/archtest"):
		return ""
	case from == "core/testkit":
		return only(e, "everybody's tests import core/testkit, so it may import core/problem only", "core/problem")
	case first(to, 1) == "sdk" && withinAny(from, "core/pluginhost", "core/cli"):
		return ""
	case first(to, 1) == "sdk":
		return "only core/pluginhost and core/cli may see sdk: take what you need through a port"
	case withinAny(e.to, "modules", "config") && assembles:
		return ""
	case first(to, 1) != "core":
		return "core must not know " + first(to, 1) + ": declare what you need in core/port and let the module provide it, or take it as an argument from main"
	case levelOf(from) < 0:
		return from + " has no level yet; give it one in core/archtest"
	case levelOf(to) < 0:
		return to + " has no level yet; give it one in core/archtest"
	case levelOf(to) >= levelOf(from):
		return fmt.Sprintf("%s is on level %d and %s on level %d; core imports lower levels only: take an interface or a function from the caller", from, levelOf(from), to, levelOf(to))
	}
	return ""
}

func judgeModule(e edge) string {
	if e.from == "modules" { // the list
		if e.to == "core/module" || within(e.to, "modules") || e.test {
			return ""
		}
		return "modules.go is the list of modules and imports them and core/module only"
	}
	switch {
	case within(e.to, first(e.from, 2)) || withinAny(e.to, moduleMayImport()...):
		return ""
	case e.test && (withinAny(e.to, "core/app", "core/cli", "config") || e.to == "modules"):
		return "" // a scenario test runs the whole server
	case e.test && within(e.to, "sdk"):
		return "" // what strangers use is tried on us
	case within(e.to, "modules"):
		return "modules do not import one another: declare what you need in core/port, or subscribe to the event"
	case withinAny(e.to, "core/app", "core/cli"):
		return "a module is assembled by core/app and does not see it: contribute through core/module"
	case within(e.to, "core/pluginhost"):
		return "plugins reach modules through core/port and events: declare the port there"
	}
	return "a module may import core/{module,port,auth,web,problem,rawjson,conf,db,work,event,blob,search,telemetry} and its own packages"
}
