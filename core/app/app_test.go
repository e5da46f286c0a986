package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/config"
	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// patience is how long a test waits for something that must come.
const patience = 3 * time.Minute

// load gives the configuration of a test with its own data folder.
func load(t testing.TB, all []module.Spec, data string, set ...string) *app.Config {
	t.Helper()
	set = append([]string{
		"server.data=" + data, "server.listen=127.0.0.1:0", "server.stop_within=1m",
	}, set...)
	c, err := app.Load(all, conf.Options{Defaults: config.Defaults, Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cheap makes sign-ins of the user module quick.
func cheap() []string {
	return []string{"user.admin_password=correct horse", "user.hashing.memory=8KiB", "user.hashing.passes=1"}
}

// logs collects the log of a server.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// running is a server that was started by a test.
type running struct {
	t     testing.TB
	app   *app.App
	base  string
	log   *logs
	stop  context.CancelFunc
	ended chan error
}

// start runs a server until the test ends and waits until it is ready.
func start(t testing.TB, c *app.Config) *running {
	t.Helper()
	r := &running{t: t, log: &logs{}, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	ready := make(chan struct{})
	go func() {
		r.ended <- app.Serve(ctx, c, app.Options{Log: telemetry.New(r.log, telemetry.Config{}), Samples: config.Samples, Version: "test"}, func(a *app.App, addr string) {
			r.app, r.base = a, "http://"+addr
			close(ready)
		})
	}()
	select {
	case <-ready:
	case err := <-r.ended:
		t.Fatalf("the server does not start: %v\n%s", err, r.log)
	case <-time.After(patience):
		t.Fatalf("the server is not ready\n%s", r.log)
	}
	t.Cleanup(func() { _ = r.end() }) // a test that wants to know the error calls end itself
	return r
}

// end stops the server, once, and gives the error of Serve.
func (r *running) end() error {
	r.t.Helper()
	r.stop()
	select {
	case err, first := <-r.ended:
		if first {
			close(r.ended)
		}
		return err
	case <-time.After(patience):
		r.t.Fatalf("the server does not stop\n%s", r.log)
		return nil
	}
}

// get sends a request and gives the status and the body.
func (r *running) send(method, path, token, body string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", token)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.log)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// login gives a token of the first user.
func (r *running) login() string {
	r.t.Helper()
	status, body := r.send("POST", "/auth-token", "", `{"username":"admin","password":"correct horse"}`)
	var a struct{ AuthToken string }
	if err := json.Unmarshal([]byte(body), &a); err != nil || status != 200 || a.AuthToken == "" {
		r.t.Fatalf("sign in: %d %s", status, body)
	}
	return a.AuthToken
}

func folder(t testing.TB) string { return filepath.Join(t.TempDir(), "data") }

func switches(all []module.Spec, on func(i int) bool) []string {
	var set []string
	for i, s := range all {
		set = append(set, fmt.Sprintf("modules.%s.enabled=%t", s.Name, on(i)))
	}
	return set
}
