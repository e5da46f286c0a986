package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/quoin-cms/quoin/config"
	"github.com/quoin-cms/quoin/core/cli"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/modules"
	"github.com/quoin-cms/quoin/sdk/plugin"
)

const (
	childVariable = "QUOIN_TEST_CHILD"
	password      = "correct horse battery staple"
)

// TestMain lets the test binary be the program itself, with one module more
// that writes down which events reached it.
func TestMain(m *testing.M) {
	if os.Getenv(plugin.Handshake().MagicCookieKey) != "" {
		playPlugin(filepath.Base(os.Args[0])).Serve()
		return
	}
	if os.Getenv(clientVariable) != "" {
		os.Exit(runUploader(os.Args[1:]))
	}
	if addresses := os.Getenv(workerVariable); addresses != "" {
		os.Exit(runWorker(addresses))
	}
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	release := cli.Program{Modules: append(modules.All(), witness()), Defaults: config.Defaults, Samples: config.Samples, Version: "test"}
	if which := os.Getenv(nextVariable); which != "" {
		release.Modules, release.Version = nextRelease(release.Modules, which), "test-"+which
	}
	os.Exit(cli.Main(context.Background(), release, os.Args[1:], os.Environ()))
}

var insertSeen = db.SQL(`INSERT INTO witness_seen (subject, n) VALUES (?, ?)`)

// witness subscribes durably, and transactionally: an event that took effect
// twice would break its primary key.
func witness() module.Spec {
	table := &fstest.MapFile{Data: []byte("CREATE TABLE witness_seen (subject text NOT NULL, n bigint NOT NULL, PRIMARY KEY (subject, n));")}
	return module.Spec{
		Name: "witness", Summary: "Writes down which events reached it.",
		Migrations: fstest.MapFS{"sqlite/001_init.tx.up.sql": table, "postgres/001_init.tx.up.sql": table},
		Wiring: func() module.Wiring {
			return module.Subscribe(func(d *db.DB) []event.Subscription {
				return []event.Subscription{{Name: "witness", Patterns: []string{"content.finalize"}, Transactional: true, Handle: func(ctx context.Context, events []event.Event) error {
					for _, ev := range events {
						var data struct {
							Raw struct{ N int64 } `json:"raw_data"`
						}
						if err := json.Unmarshal(ev.Data, &data); err != nil {
							return err
						}
						if err := d.Queue(ctx, insertSeen, ev.Subject, data.Raw.N); err != nil {
							return err
						}
					}
					return nil
				}}}
			})
		},
	}
}

// server is the program in a process of its own.
type server struct {
	t     testing.TB
	cmd   *exec.Cmd
	base  string
	token string
	api   *webtest.Document // what it says that it answers
	log   *logbook
	done  chan struct{}
}

// logbook is the log of a server, without what is no trouble. It may be read
// while it is written.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(line + "\n")
}

// String implements fmt.Stringer.
func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start runs `quoin serve` with the variables and waits until it is ready.
func start(t testing.TB, vars ...string) *server {
	t.Helper()
	return startBinary(t, os.Args[0], vars...)
}

// startBinary is start for another program than this one.
func startBinary(t testing.TB, binary string, vars ...string) *server {
	t.Helper()
	s := &server{t: t, log: &logbook{}, done: make(chan struct{})}
	s.cmd = exec.Command(binary, "serve")
	s.cmd.Env = append([]string{childVariable + "=1", "PATH=" + os.Getenv("PATH"), "QUOIN_LISTEN=127.0.0.1:0", "QUOIN_EVENTS__LEASE=2s", "QUOIN_ADMIN_PASSWORD=" + password}, vars...)
	s.begin()
	return s
}

// begin starts the process and waits until it is ready.
func (s *server) begin() {
	t := s.t
	t.Helper()
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go s.read(stderr, ready)
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			s.complaints()
		}
	})
	select {
	case addr := <-ready:
		s.base = "http://" + addr
	case <-s.done:
		t.Fatalf("the server did not start:\n%s", s.log)
	case <-time.After(3 * time.Minute):
		t.Fatalf("the server was not ready within three minutes:\n%s", s.log)
	}
	_, doc, err := s.call(http.MethodGet, "/openapi.json", "")
	if err != nil {
		t.Fatal(err)
	}
	if s.api, err = webtest.Read(doc); err != nil {
		t.Fatal(err)
	}
}

// read follows the log until the process ends.
func (s *server) read(r io.Reader, ready chan<- string) {
	defer close(s.done)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Msg, Level, Listen string }
		_ = json.Unmarshal(lines.Bytes(), &line)
		if line.Msg == "ready" {
			ready <- line.Listen
		}
		if line.Level != "INFO" {
			s.log.add(lines.Text())
		}
	}
	_ = s.cmd.Wait()
}

// complaints shows the errors of the log, the first ones of many.
func (s *server) complaints() {
	s.t.Helper()
	left := 20
	for line := range strings.Lines(s.log.String()) {
		if left > 0 && strings.Contains(line, `"level":"ERROR"`) {
			s.t.Logf("the server says: %.2000s", line)
			left--
		}
	}
}

// kill is kill -9, and waits for the end.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

func (s *server) login() {
	s.t.Helper()
	_, body := s.must(http.MethodPost, "/auth-token", fmt.Sprintf(`{"username":"admin","password":%q}`, password))
	var answer struct{ AuthToken string }
	if err := json.Unmarshal(body, &answer); err != nil || answer.AuthToken == "" {
		s.t.Fatalf("no token: %s", body)
	}
	s.token = answer.AuthToken
}

// call makes a request; the error is one of the connection.
func (s *server) call(method, path, body string) (int, []byte, error) {
	return s.callAs("application/json", method, path, body)
}

func (s *server) callAs(typ, method, path, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", typ)
	req.Header.Set("X-Auth-Token", s.token)
	resp, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test of the whole program is an ordinary client
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && s.api != nil && path != "/readyz" && path != "/status.json" { // health checks are no operations
		if lie := s.api.Check(method, req.URL.EscapedPath(), resp.StatusCode, resp.Header, answer); lie != nil {
			s.t.Errorf("%s %s: the API document lies: %v\n%.1000s", method, path, lie, answer)
		}
	}
	return resp.StatusCode, answer, err
}

// upload stores a file.
func (s *server) upload(name string, content []byte) (int, []byte) {
	s.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("upload", name)
	if err == nil {
		_, err = part.Write(content)
	}
	if err != nil || w.Close() != nil {
		s.t.Fatal(err)
	}
	return s.mustAs(w.FormDataContentType(), http.MethodPost, "/api/file/upload", b.String())
}

// must is call for what has to succeed.
func (s *server) must(method, path, body string) (int, []byte) {
	s.t.Helper()
	return s.mustAs("application/json", method, path, body)
}

func (s *server) mustAs(typ, method, path, body string) (int, []byte) {
	s.t.Helper()
	status, answer, err := s.callAs(typ, method, path, body)
	if err != nil || status != http.StatusOK {
		text := s.log.String()
		s.t.Fatalf("%s %s: %d %v %s\n%s", method, path, status, err, answer, text[max(0, len(text)-8<<10):])
	}
	return status, answer
}
