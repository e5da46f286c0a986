package pluginhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/pluginhost/author"
	"github.com/quoin-cms/quoin/sdk/plugin"
)

func commands() []module.Command {
	one := [2]int{1, 1}
	return []module.Command{
		module.Cmd(module.Command{Use: "plugin list", Short: "List the plugins with their states and reasons"}, runList),
		module.Cmd(module.Command{
			Use: "plugin show NAME", Short: "Show what a plugin is and may, and its settings without secrets", Args: one, Local: true,
			Long: "An enabled plugin is started for a moment, for only its program knows which settings are secrets.",
		}, runShow),
		module.Cmd(module.Command{
			Use: "plugin enable NAME", Short: "Run a plugin of the folder, now and whenever the server runs", Args: one, Local: true,
			Long: "Pins the sum of the program: one that is replaced afterwards does not run before it is enabled again. A server that runs notices within seconds. " +
				"What the plugin asks for must be granted by name, or with --grant all.",
			Flags: []module.Flag{
				{Name: "grant", Default: []string{}, Doc: "capabilities, such as kv,documents:read, or all that it asks for; kept when left out"},
				{Name: "settings", Default: "", Doc: "file with the settings of the plugin as JSON, or - for standard input; kept when left out"},
				{Name: "run-as", Default: "", Doc: "user whose rights it has outside a request, such as for events; kept when left out, none with -"},
			},
		}, runEnable),
		module.Cmd(module.Command{Use: "plugin disable NAME", Short: "End a plugin; what it stored stays", Args: one}, runChange("disabled", true)),
		module.Cmd(module.Command{Use: "plugin reload NAME", Short: "Start a plugin again, also one that stays down", Args: one}, runChange("reloaded", false)),
		module.Cmd(module.Command{
			Use: "plugin run NAME COMMAND [ARG...]", Short: "Run a command of a plugin", Args: [2]int{2, -1},
			Long: "In a job the plugin that runs is asked. On the command line the plugin is started for this command alone; the server's API is not there, so it can read and write its own values only.",
		}, runRun),
		module.Plain(module.Command{
			Use: "plugin new NAME [DIR]", Short: "Write the source of a new plugin", Args: [2]int{1, 2}, Local: true,
			Long: "Writes a plugin that works into the folder DIR, or one called like the plugin: it needs nothing but Go. The kit it is built with is a copy from this binary, in " + author.Kit + ".",
		}, runNew),
		module.Plain(module.Command{
			Use: "plugin pack DIR", Short: "Build a plugin into the folder that operators install", Args: one, Local: true,
			Flags: []module.Flag{
				{Name: "out", Default: "", Doc: "where to write; DIR/dist when left out"},
				{Name: "platform", Default: []string{}, Doc: "such as linux/amd64,darwin/arm64; that of this machine when left out"},
				{Name: "key", Default: "", Doc: "file with the base64 of a private ed25519 key (64 bytes) to sign with"},
			},
		}, runPack),
		module.Plain(module.Command{
			Use: "plugin verify DIR", Short: "Check a folder that operators install: manifest, sums, start, settings", Args: one, Local: true,
			Flags: []module.Flag{{Name: "settings", Default: "", Doc: "file with settings as JSON to try"}},
		}, runVerify),
		module.Plain(module.Command{Use: "plugin test DIR", Short: "Run the tests of a plugin's source", Args: one, Local: true}, runTest),
	}
}

type listed struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	State    State    `json:"state"`
	Reason   string   `json:"reason"`
	Instance string   `json:"instance"`
	Asks     []string `json:"asks"`
	Granted  []string `json:"granted"`
	RunAs    string   `json:"run_as"`
}

func runList(ctx context.Context, h *Host, call *module.Call) error {
	list, err := h.list(ctx)
	if err != nil {
		return err
	}
	rows := make([][]string, len(list))
	for i, l := range list {
		rows[i] = []string{l.Name, l.Version, string(l.State), l.Instance, strings.Join(l.Granted, ","), l.Reason}
	}
	return call.Table(list, []string{"NAME", "VERSION", "STATE", "ON", "GRANTED", "REASON"}, rows)
}

// list joins what is in the folder, what operators decided and what the
// processes tell.
func (h *Host) list(ctx context.Context) ([]listed, error) {
	found, wishes, err := h.lookUp(ctx)
	if err != nil {
		return nil, err
	}
	statuses, err := h.store.statuses(ctx)
	if err != nil {
		return nil, err
	}
	for name, w := range wishes {
		if w.Enabled && !slices.ContainsFunc(found, func(f Found) bool { return f.Name == name }) {
			found = append(found, h.missing(name))
		}
	}
	slices.SortFunc(found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	list := []listed{}
	for _, f := range found {
		list = append(list, h.entries(f, wishes[f.Name], statuses)...)
	}
	return list, nil
}

func (h *Host) entries(f Found, w *Wish, statuses []Status) []listed {
	one := listed{Name: f.Name, State: Disabled, Asks: []string{}, Granted: []string{}}
	if f.Manifest != nil {
		one.Version, one.Asks = f.Manifest.Version, f.Manifest.Capabilities
	}
	if f.Problem != nil {
		one.Reason = f.Problem.Error()
	}
	if w != nil && w.Enabled {
		one.Granted, one.RunAs, one.State = w.Granted, w.RunAs, Stopped
		if _, _, err := f.verify(h.config, w.SHA256); err != nil {
			one.Reason = err.Error()
		}
	}
	var list []listed
	for _, st := range statuses {
		if st.Name == f.Name && (st.State != Disabled || w != nil && w.Enabled) {
			l := one
			l.State, l.Instance = st.State, st.Instance
			if st.Reason != "" {
				l.Reason = st.Reason
			}
			list = append(list, l)
		}
	}
	if list == nil {
		return []listed{one}
	}
	return list
}

func runEnable(ctx context.Context, h *Host, call *module.Call) error {
	if !filepath.IsLocal(call.Args[0]) {
		return fmt.Errorf("the plugin %q cannot be enabled: that is not the name of a folder of plugins.dir", call.Args[0])
	}
	f := read(filepath.Join(h.dir(), call.Args[0]))
	if f.Problem != nil {
		return fmt.Errorf("the plugin %q cannot be enabled: %w", call.Args[0], f.Problem)
	}
	path, _, err := f.verify(h.config, "")
	if err != nil {
		return err
	}
	w, err := h.store.wish(ctx, f.Name)
	if err != nil {
		return err
	}
	if w == nil {
		w = &Wish{Name: f.Name, Config: json.RawMessage("{}"), Granted: []string{}}
	}
	w.Enabled = true
	if w.SHA256, err = sumFile(path); err != nil {
		return err
	}
	if err := w.apply(call, f.Manifest.Capabilities); err != nil {
		return err
	}
	if err := h.try(ctx, f, w); err != nil {
		return err
	}
	err = h.DB.InTx(ctx, func(ctx context.Context) error {
		if err := h.store.put(ctx, w); err != nil {
			return err
		}
		return h.decided(ctx, "enabled", w.Name, map[string]any{"version": f.Manifest.Version, "sha256": w.SHA256, "granted": append([]string{}, w.Granted...), "run_as": w.RunAs})
	})
	if err != nil {
		return err
	}
	if lacks := without(f.Manifest.Capabilities, w.Granted); len(lacks) > 0 {
		call.Tell("%s asks for %s, which it does not get: quoin plugin enable %s --grant %s", f.Name, strings.Join(lacks, ", "), f.Name, strings.Join(f.Manifest.Capabilities, ","))
	}
	_, err = fmt.Fprintf(call.Out, "%s %s is enabled.\n", f.Name, f.Manifest.Version)
	return err
}

// apply takes what the command line says.
func (w *Wish) apply(call *module.Call, asks []string) error {
	if grant := call.Strings("grant"); len(grant) > 0 {
		if slices.Equal(grant, []string{"all"}) {
			grant = asks
		}
		for _, g := range grant {
			if !slices.Contains(plugin.Capabilities(), g) {
				return fmt.Errorf("there is no capability %q; there are %s", g, strings.Join(plugin.Capabilities(), ", "))
			}
			if !slices.Contains(asks, g) {
				return fmt.Errorf("the plugin does not ask for %s", g)
			}
		}
		w.Granted = grant
	}
	w.Granted = slices.DeleteFunc(w.Granted, func(g string) bool { return !slices.Contains(asks, g) })
	if as := call.String("run-as"); as == "-" {
		w.RunAs = ""
	} else if as != "" {
		w.RunAs = as
	}
	if file := call.String("settings"); file != "" {
		b, err := readSettings(file, call.In)
		if err != nil {
			return err
		}
		w.Config = b
	}
	return nil
}

func readSettings(file string, in io.Reader) ([]byte, error) {
	var b []byte
	var err error
	if file == "-" {
		b, err = io.ReadAll(io.LimitReader(in, 1<<20))
	} else {
		b, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil {
		return nil, fmt.Errorf("the settings must be a JSON object: %w", err)
	}
	if object == nil {
		return nil, errors.New("the settings must be a JSON object, and not null")
	}
	return b, nil
}

func without(list, gone []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(gone, s) })
}

// try starts the plugin with its settings once, so that what is wrong is said
// to the operator and not to the log.
func (h *Host) try(ctx context.Context, f Found, w *Wish) error {
	return h.once(ctx, f, w, func(*process) error { return nil })
}

// once starts a plugin for one purpose. The thread stays until it has ended: see
// guard.
func (h *Host) once(ctx context.Context, f Found, w *Wish, fn func(*process) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	proc, err := h.start(ctx, &plan{found: f, wish: *w}, h.log.With("plugin", f.Name))
	if err != nil {
		return err
	}
	defer proc.stop()
	return fn(proc)
}

func runChange(done string, off bool) func(context.Context, *Host, *module.Call) error {
	return func(ctx context.Context, h *Host, call *module.Call) error {
		what, word := reload, "reloaded"
		if off {
			what, word = disable, "disabled"
		}
		err := h.DB.InTx(ctx, func(ctx context.Context) error {
			if err := h.store.change(ctx, what, call.Args[0]); err != nil {
				return err
			}
			return h.decided(ctx, word, call.Args[0], map[string]any{})
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(call.Out, "%s is %s.\n", call.Args[0], done)
		return err
	}
}

func runRun(ctx context.Context, h *Host, call *module.Call) error {
	name, command, args := call.Args[0], call.Args[1], call.Args[2:]
	line := func(s string) error {
		_, err := fmt.Fprintln(call.Out, s)
		return err
	}
	if h.find(name) != nil {
		return h.RunCommand(ctx, name, command, args, line)
	}
	w, err := h.store.wish(ctx, name)
	if err != nil {
		return err
	}
	if w == nil || !w.Enabled {
		return fmt.Errorf("the plugin %q is not enabled (quoin plugin list shows those there are)", name)
	}
	return h.once(ctx, read(filepath.Join(h.dir(), name)), w, func(p *process) error {
		return fromPlugin(name, runCommand(ctx, p, command, args, line))
	})
}
