// Package pluginhost runs the plugins: programs of others beside the server.
//
// An operator puts a plugin into the folder of plugins and enables it
// (commands.go, store.go). The host then keeps each enabled plugin running in a
// process of its own (supervisor.go, process.go), calls it for tools, resources,
// events, webhooks and commands (gate.go and the files of these names), and
// serves it what the operator granted (services.go).
//
// A plugin is a program with the rights of the user that the server runs as:
// capabilities guard the API of the server, not the machine.
package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/work"
	"github.com/quoin-cms/quoin/sdk/manifest"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// Options are what a Host works with.
type Options struct {
	Config     *Config
	DB         *db.DB
	Bus        *event.Bus
	Identities port.Identities // nil: no plugin acts outside a request
	API        http.Handler    // see module.API
	Data       string          // folder of the server
	Version    string
	Log        *slog.Logger
}

// Host keeps the enabled plugins running. It is safe for concurrent use.
type Host struct {
	Options

	config   *Config
	store    *store
	log      *slog.Logger
	version  string
	instance string

	subscribed map[string][]string // patterns by plugin

	mu      sync.Mutex
	plugins map[string]*supervised
	watch   []func()
	news    chan *supervised
	running sync.WaitGroup

	background context.Context // ends with Stop
	cancel     context.CancelFunc
}

// New makes a host; nothing runs before Start.
func New(o Options) *Host {
	name, _ := os.Hostname()
	h := &Host{
		Options: o, config: o.Config, store: &store{o.DB}, log: o.Log, version: o.Version,
		instance: fmt.Sprintf("%s/%d", name, os.Getpid()), plugins: map[string]*supervised{}, subscribed: map[string][]string{}, news: make(chan *supervised, 1000),
	}
	h.background, h.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // the start of background workers
	return h
}

// dir is the folder of plugins.
func (h *Host) dir() string {
	folder := h.config.Dir
	if folder == "" {
		folder = filepath.Join(h.Data, "plugins")
	}
	return absolute(folder)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// dataOf is the private folder of a plugin.
func (h *Host) dataOf(name string) string {
	return absolute(filepath.Join(h.Data, "plugin-data", name))
}

// lookAt is how often the decisions of operators, and in dev mode the folder,
// are looked at.
const lookAt = time.Second

// Start begins to run the enabled plugins and returns at once: they start side
// by side, and nobody waits for them.
func (h *Host) Start(ctx context.Context) error {
	sweepTemp()
	if err := h.Reconcile(ctx); err != nil {
		h.log.Warn("the plugins could not be looked up", "error", err)
	}
	h.running.Go(func() { h.follow(h.background) })
	h.running.Go(func() { h.report(h.background) })
	return nil
}

// Stop ends every plugin: each gets Stop and some seconds.
func (h *Host) Stop(context.Context) error {
	h.cancel()
	h.running.Wait()
	return nil
}

func (h *Host) follow(ctx context.Context) {
	work.Every(ctx, lookAt, func() {
		if err := h.Reconcile(ctx); err != nil && ctx.Err() == nil {
			h.log.Warn("the plugins could not be looked up", "error", err)
		}
	})
}

// Reconcile brings what runs in line with what operators decided.
func (h *Host) Reconcile(ctx context.Context) error {
	found, wishes, err := h.lookUp(ctx)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range found {
		seen[f.Name] = true
		p := h.planFor(f, wishes[f.Name])
		h.subscribe(ctx, p)
		if p != nil || h.find(f.Name) != nil {
			h.supervise(f.Name).want(p)
		}
	}
	for name, w := range wishes {
		if !seen[name] && w.Enabled {
			h.supervise(name).want(&plan{found: h.missing(name), wish: *w})
		}
	}
	for _, s := range h.all() {
		if w := wishes[s.name]; !seen[s.name] && (w == nil || !w.Enabled) {
			s.want(nil)
		}
	}
	return nil
}

// lookUp gives the plugins in the folder, and what operators decided, by name.
func (h *Host) lookUp(ctx context.Context) ([]Found, map[string]*Wish, error) {
	found, err := discover(h.dir())
	if err != nil {
		return nil, nil, err
	}
	wishes, err := h.store.wishes(ctx)
	return found, wishes, err
}

// missing stands for a plugin that is enabled and not in the folder.
func (h *Host) missing(name string) Found {
	return Found{Name: name, Problem: fmt.Errorf("there is no folder %s", filepath.Join(h.dir(), name))}
}

// DevSettings is a file beside plugin.yaml with the settings of a plugin that no
// operator enabled, in dev mode.
const DevSettings = "settings.json"

// planFor is what an operator wants of a plugin that was found; nil: nothing. An
// enabled plugin runs until its generation changes, whatever happens to its
// files, except in dev mode.
func (h *Host) planFor(f Found, w *Wish) *plan {
	if h.config.Dev {
		if w == nil {
			w = &Wish{Name: f.Name, Enabled: true, Config: []byte("{}"), RunAs: "admin"}
			if b, err := readSettings(filepath.Join(f.Dir, DevSettings), nil); err == nil {
				w.Config = b
			} else if !errors.Is(err, os.ErrNotExist) {
				f.Problem = fmt.Errorf("%s: %w", DevSettings, err)
			}
		}
		p := &plan{found: f, wish: *w}
		if f.Manifest != nil {
			p.wish.Granted = f.Manifest.Capabilities
			if prog, err := f.Manifest.Program(); err == nil {
				if info, err := os.Stat(filepath.Join(f.Dir, prog.File)); err == nil {
					p.stamp = info.ModTime()
				}
			}
		}
		return p
	}
	if w == nil || !w.Enabled {
		return nil
	}
	p := &plan{found: f, wish: *w}
	if s := h.find(f.Name); s != nil {
		if now := s.wanted(); now != nil && now.wish.Generation == w.Generation {
			p.found = now.found
		}
	}
	return p
}

// find gives the supervisor of a plugin, nil when there is none.
func (h *Host) find(name string) *supervised {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.plugins[name]
}

// supervise gives the supervisor of a plugin, started when there is none.
func (h *Host) supervise(name string) *supervised {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.plugins[name]
	if s == nil {
		s = newSupervised(h, name)
		h.plugins[name] = s
		h.running.Go(func() { s.run(h.background) })
	}
	return s
}

// all gives the supervised plugins by name.
func (h *Host) all() []*supervised {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*supervised, 0, len(h.plugins))
	for _, s := range h.plugins {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *supervised) int { return strings.Compare(a.name, b.name) })
	return list
}

// told notes that the state of a plugin changed, for the table of states.
func (h *Host) told(s *supervised) {
	select {
	case h.news <- s:
	default: // report writes all of them now and then
	}
}

// report writes the states where quoin plugin list finds them.
func (h *Host) report(ctx context.Context) {
	tick := time.NewTicker(confirmEvery)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			h.forget(ctx)
			return
		case s := <-h.news:
			err = h.store.tell(ctx, s.status(h.instance))
		case <-tick.C:
			for _, s := range h.all() {
				if err == nil {
					err = h.store.tell(ctx, s.status(h.instance))
				}
			}
		}
		if err != nil && ctx.Err() == nil {
			h.log.Warn("the state of plugins could not be written", "error", err)
		}
	}
}

// forget takes the states of this process from the table; it is done in a
// minute in any case.
func (h *Host) forget(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = h.DB.Exec(ctx, dropStatus, h.instance, int64(0))
}

func (s *supervised) status(instance string) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Name: s.name, Instance: instance, State: s.state, Reason: s.reason}
	if s.proc != nil {
		st.Version, st.PID = s.proc.about.Version, s.proc.pid
	}
	return st
}

// changed tells those who watch that the tools are others.
func (h *Host) changed() {
	h.mu.Lock()
	watch := slices.Clone(h.watch)
	h.mu.Unlock()
	for _, fn := range watch {
		fn()
	}
}

// Watch has fn called after each change of what is ready.
func (h *Host) Watch(fn func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watch = append(h.watch, fn)
}

// States gives how the plugins of this process fare, by name.
func (h *Host) States() []Status {
	var all []Status
	for _, s := range h.all() {
		all = append(all, s.status(h.instance))
	}
	return all
}

// checkDescription compares what a plugin says with its manifest.
func checkDescription(m *manifest.Manifest, d *pluginv1.Description) error {
	if d.Name != m.Name {
		return fmt.Errorf("the program says that it is %q, and its manifest %q", cut(d.Name, 60), m.Name)
	}
	for _, list := range []struct {
		what       string
		has, knows []string
	}{
		{"asks for the capability", d.Capabilities, m.Capabilities}, {"handles the event", d.Events, m.Events}, {"transforms the webhook", d.Webhooks, m.Webhooks},
	} {
		for _, v := range list.has {
			if !slices.Contains(list.knows, v) {
				return fmt.Errorf("the program %s %q, which its manifest does not name: write it again with quoin plugin pack", list.what, cut(v, 200))
			}
		}
	}
	return checkOffers(d)
}
