package webhook_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/webhook"
	sdk "github.com/quoin-cms/quoin/sdk/webhook"
)

// The package standardwebhooks of npm takes our calls, with the secret as the
// API gives it, and with the old one after a change.
func TestNodeReceiver(t *testing.T) {
	dir := testkit.Node(t, "standardwebhooks@1.1.1")
	script, err := filepath.Abs("testdata/receiver.mjs")
	if err != nil {
		t.Fatal(err)
	}
	s := serveAt(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}), time.Now(), func(c *webhook.Config) { c.ValidationDelay = time.Hour })
	sub := s.register("http://127.0.0.1:1/", "", "content.*")
	lines := node(t, dir, script, sub.Secret)
	s.want(200, "PATCH", base+"/"+sub.ID, "ann", `{"endpointUrl":"http://127.0.0.1:`+<-lines+`/"}`, nil)
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-lines:
			if got != want {
				t.Errorf("%q instead of %q", got, want)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("no %q", want)
		}
	}
	s.emit("page:1 content.finalize")
	expect("verified content.finalize content.finalize")
	s.want(200, "POST", base+"/"+sub.ID+"/test", "ann", "", nil)
	expect("verified webhook_test webhook_test")
	s.want(200, "POST", base+"/"+sub.ID+"/rotate-secret", "ann", "", nil)
	s.emit("page:2 content.delete")
	expect("verified content.delete content.delete")
}

// node runs a script in a folder and gives the lines that it prints.
func node(t *testing.T, dir string, args ...string) <-chan string {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	lines := make(chan string, 16)
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
		close(lines)
	}()
	return lines
}

// The helper for receivers in Go takes our calls, and nobody else's.
func TestGoReceiver(t *testing.T) {
	s := serveAt(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}), time.Now(), func(c *webhook.Config) { c.ValidationDelay = time.Hour })
	secrets := map[string]string{}
	v := &sdk.Verifier{RequireTime: true, Secrets: func(id string) []string {
		if secret, ok := secrets[id]; ok {
			return []string{secret}
		}
		return nil
	}}
	heard := make(chan string, 16)
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e, err := v.Verify(r)
		switch {
		case errors.Is(err, sdk.ErrUnknown):
			w.WriteHeader(http.StatusGone)
			heard <- "unknown"
		case err != nil:
			w.WriteHeader(http.StatusUnauthorized)
			heard <- err.Error()
		default:
			heard <- e.Type + " " + e.ID
		}
	}))
	t.Cleanup(r.Close)
	sub := s.register(r.URL, "", "content.*")
	secrets[sub.ID] = sub.Secret
	s.emit("page:1 content.finalize")
	if got := <-heard; len(got) < len("content.finalize msg_1") || got[:16] != "content.finalize" {
		t.Error(got)
	}
	delete(secrets, sub.ID)
	s.emit("page:1 content.delete")
	if got := <-heard; got != "unknown" {
		t.Error(got)
	}
	testkit.Eventually(t, func() bool { return s.status(sub.ID).Status == "disabled" })
}
