package pluginhost_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/pluginhost"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/work"
	"github.com/quoin-cms/quoin/sdk/manifest"
)

// TestMain lets the test program be a plugin as well: a host that starts a link
// to it gets the plugin that the name of the link says (plugins_test.go).
func TestMain(m *testing.M) {
	if os.Getenv("QUOIN_PLUGIN") != "" {
		playPlugin(filepath.Base(os.Args[0]))
		return
	}
	os.Exit(m.Run())
}

// kit is a host on a database of its own.
type kit struct {
	t    testing.TB
	host *pluginhost.Host
	bus  *event.Bus
	db   *db.DB
	dir  string
	log  *logBuffer
	conf *pluginhost.Config
}

type people struct{}

// Identity implements port.Identities.
func (people) Identity(_ context.Context, name string) (*auth.Identity, error) {
	if name != "admin" && name != "robot" {
		return nil, problem.New(problem.NotFound, "there is no user %q", name)
	}
	return auth.New(auth.Identity{Username: name, DisplayName: "The " + name, Granted: []string{auth.RoleAdmin}}), nil
}

// newKit makes a host that has not started.
func newKit(t testing.TB, change func(*pluginhost.Config)) *kit {
	t.Helper()
	folder := t.TempDir()
	d, err := db.Open(t.Context(), db.Config{Path: filepath.Join(folder, "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	spec := pluginhost.Spec()
	if _, err := d.Migrate(t.Context(), []db.Source{work.Migrations(), event.Migrations(), {Module: spec.Name, Files: spec.Migrations}}); err != nil {
		t.Fatal(err)
	}
	k := &kit{t: t, db: d, dir: filepath.Join(folder, "plugins"), log: &logBuffer{}, conf: pluginhost.Defaults()}
	k.conf.Backoff, k.conf.Health = 10*time.Millisecond, 3*time.Second
	k.conf.StartWithin, k.conf.CallTimeout = 2*time.Minute, 2*time.Minute // on a busy machine everything takes its time
	if change != nil {
		change(k.conf)
	}
	log := slog.New(slog.NewTextHandler(k.log, nil))
	k.bus = event.New(d, event.Options{Log: log, Poll: 20 * time.Millisecond})
	k.host = pluginhost.New(pluginhost.Options{
		Config: k.conf, DB: d, Bus: k.bus, Identities: people{}, API: http.HandlerFunc(api), Data: folder, Version: "test", Log: log,
	})
	return k
}

// api stands for the server's API: it tells who asks.
func api(w http.ResponseWriter, r *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]any{"id": 7, "ouuid": "x", "revision": map[string]string{"by": auth.From(r.Context()).Username, "path": r.URL.Path}})
}

// start runs the host and the bus until the test ends.
func (k *kit) start() {
	k.t.Helper()
	subs, err := k.host.Subscriptions(k.t.Context())
	if err == nil {
		err = k.bus.Register(subs, nil)
	}
	if err == nil {
		err = k.host.Start(k.t.Context())
	}
	if err == nil {
		err = k.bus.Start(k.t.Context())
	}
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		_ = k.bus.Stop(context.Background())
		_ = k.host.Stop(context.Background())
	})
}

// install puts a plugin into the folder: the test program under its name.
func (k *kit) install(name string, change func(*manifest.Manifest)) {
	k.t.Helper()
	folder := filepath.Join(k.dir, name)
	self, err := os.Executable()
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.Link(self, filepath.Join(folder, name))
		if err != nil {
			err = copyFile(self, filepath.Join(folder, name))
		}
	}
	if err != nil {
		k.t.Fatal(err)
	}
	m := &manifest.Manifest{
		Name: name, Version: "1.0.0", Protocol: 1,
		Programs: map[string]manifest.Program{runtime.GOOS + "/" + runtime.GOARCH: {File: name, SHA256: selfSum()}},
	}
	if change != nil {
		change(m)
	}
	text, err := m.Write()
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, manifest.File), text, 0o600)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}

// selfSum is the sum of the test program.
var selfSum = sync.OnceValue(func() string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
})

// wish enables a plugin without trying it.
func (k *kit) wish(name string, granted ...string) {
	k.t.Helper()
	if granted == nil {
		granted = []string{}
	}
	err := k.host.Decide(k.t.Context(), &pluginhost.Wish{Name: name, Enabled: true, SHA256: selfSum(), Granted: granted, Config: []byte("{}"), RunAs: "robot"})
	if err != nil {
		k.t.Fatal(err)
	}
}

// until waits for a state of a plugin.
func (k *kit) until(name string, want pluginhost.State) pluginhost.Status {
	k.t.Helper()
	var last pluginhost.Status
	waitFor(k.t, fmt.Sprintf("%s becomes %s", name, want), func() bool {
		for _, st := range k.host.States() {
			if st.Name == name {
				last = st
				return st.State == want
			}
		}
		return false
	}, func() string { return fmt.Sprintf("it is %+v\n%s", last, k.log) })
	return last
}

// waitFor polls a condition that other processes bring about.
func waitFor(t testing.TB, what string, ok func() bool, told func() string) {
	t.Helper()
	end := time.Now().Add(10 * time.Minute) // only a failing test waits so long
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("%s does not happen: %s", what, told())
		}
		<-time.After(5 * time.Millisecond)
	}
}

func (k *kit) as(name string) context.Context {
	id, err := people{}.Identity(k.t.Context(), name)
	if err != nil {
		k.t.Fatal(err)
	}
	return auth.With(k.t.Context(), id)
}

// run runs a command line of the module.
func (k *kit) run(c string, args []string, flags map[string]any) (string, error) {
	k.t.Helper()
	for _, cmd := range pluginhost.Spec().Commands {
		if fmt.Sprint(cmd.Path()) != fmt.Sprint(append([]string{"plugin"}, c)) {
			continue
		}
		var out bytes.Buffer
		call := &module.Call{Args: args, Out: &out, In: &bytes.Buffer{}, Flags: func(name string) any {
			if v, ok := flags[name]; ok {
				return v
			}
			for _, f := range cmd.Flags {
				if f.Name == name {
					return f.Default
				}
			}
			return nil
		}}
		call.Table = func(v any, header []string, rows [][]string) error {
			return module.PrintTable(&out, true, v, header, rows)
		}
		err := k.host.RunLine(k.t.Context(), c, call)
		return out.String(), err
	}
	k.t.Fatalf("there is no command plugin %s", c)
	return "", nil
}

// logBuffer keeps a log; safe for concurrent use.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String gives the log.
func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	return s[max(0, len(s)-6000):]
}

func (l *logBuffer) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Len()
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// count tells how often a text is in the log.
func (l *logBuffer) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.b.Bytes(), []byte(text))
}

var countValues = db.SQL(`SELECT count(*) FROM plugins_kv WHERE plugin = ? AND key >= ?`)

// values counts what a plugin keeps from a key on.
func (k *kit) values(name, from string) (n int) {
	k.t.Helper()
	if err := k.db.Row(k.t.Context(), countValues, name, from).Scan(&n); err != nil {
		k.t.Fatal(err)
	}
	return n
}
