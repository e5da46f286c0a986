package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/config"
	"github.com/quoin-cms/quoin/core/cli"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules"
)

// patience is how long a test waits for something that must come.
const patience = 3 * time.Minute

// password is the one of the first user of every server here.
const password = "correct horse"

func program() cli.Program {
	return cli.Program{Modules: modules.All(), Defaults: config.Defaults, Samples: config.Samples, Version: "v1.2.3"}
}

// variables are the environment of a command: its data folder, quick
// passwords, and whatever else.
func variables(data string, more ...string) []string {
	return append([]string{
		"QUOIN_DATA=" + data, "QUOIN_LISTEN=127.0.0.1:0", "QUOIN_ADMIN_PASSWORD=" + password,
		"QUOIN_USER__HASHING__MEMORY=8KiB", "QUOIN_USER__HASHING__PASSES=1",
	}, more...)
}

// result is what a command left behind.
type result struct {
	out, log string
	err      error
}

func run(t testing.TB, vars []string, args ...string) result {
	t.Helper()
	return runUntil(t.Context(), vars, args...)
}

func runUntil(ctx context.Context, vars []string, args ...string) result {
	var out, log bytes.Buffer
	err := cli.Run(ctx, program(), args, vars, strings.NewReader(""), &out, &log)
	return result{out.String(), log.String(), err}
}

// must runs a command that has to succeed and gives what it printed.
func must(t testing.TB, vars []string, args ...string) string {
	t.Helper()
	r := run(t, vars, args...)
	if r.err != nil {
		t.Fatalf("quoin %s: %v\n%s%s", strings.Join(args, " "), r.err, r.out, r.log)
	}
	return r.out
}

// screen is an output that several goroutines may write, and that somebody
// waits on.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newScreen() *screen { return &screen{more: make(chan struct{}, 1)} }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// server is `quoin serve`, run in this process.
type server struct {
	t        testing.TB
	vars     []string
	base     string
	out, log *screen
	stop     context.CancelFunc
	ended    chan error
}

func serve(t testing.TB, vars []string, args ...string) *server {
	t.Helper()
	s := &server{t: t, vars: vars, out: newScreen(), log: newScreen(), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() {
		s.ended <- cli.Run(ctx, program(), append([]string{"serve"}, args...), vars, strings.NewReader(""), s.out, s.log)
		close(s.ended)
	}()
	t.Cleanup(func() { _ = s.end() })
	for limit := time.After(patience); s.base == ""; {
		select {
		case <-s.log.more:
			s.base = listening(s.log.String())
		case err := <-s.ended:
			t.Fatalf("the server ended: %v\n%s", err, s.log)
		case <-limit:
			t.Fatalf("the server is not ready\n%s", s.log)
		}
	}
	return s
}

// listening finds the address in the log of a server that is ready.
func listening(log string) string {
	for text := range strings.Lines(log) {
		var line struct{ Msg, Listen string }
		if json.Unmarshal([]byte(text), &line) == nil && line.Msg == "ready" {
			return "http://" + line.Listen
		}
	}
	return ""
}

// end stops the server and gives its error.
func (s *server) end() error {
	s.t.Helper()
	s.stop()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(patience):
		s.t.Fatalf("the server does not stop\n%s", s.log)
		return nil
	}
}

// token makes a token with the command for it, while the server runs.
func (s *server) token() string {
	s.t.Helper()
	return strings.TrimSpace(must(s.t, s.vars, "token", "create", "admin"))
}

func (s *server) get(path, token string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.base+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", token)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestVersion(t *testing.T) {
	if out := must(t, nil, "version"); !strings.HasPrefix(out, "quoin v1.2.3 (go1.") {
		t.Errorf("%q", out)
	}
	var v struct{ Version, Go, OS, Arch string }
	if err := json.Unmarshal([]byte(must(t, nil, "version", "--json")), &v); err != nil || v.Version != "v1.2.3" || v.Go == "" || v.OS == "" || v.Arch == "" {
		t.Errorf("%+v %v", v, err)
	}
}

func TestModules(t *testing.T) {
	out := must(t, nil, "modules")
	for _, want := range []string{"MODULE", "user", "content", "search", "on"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	var list []struct {
		Name    string
		Enabled bool
		Needs   []string
		Summary string
	}
	if err := json.Unmarshal([]byte(must(t, []string{"QUOIN_MODULES__SEARCH__ENABLED=false"}, "modules", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Enabled != (m.Name != "search") || m.Summary == "" || m.Needs == nil {
			t.Errorf("%+v", m)
		}
	}
	r := run(t, nil, "modules", "--set", "modules.content.enabled=false")
	if r.err == nil || !strings.Contains(r.err.Error(), `module "search" needs module "content", which is switched off`) || !strings.Contains(r.out, "off") {
		t.Errorf("%+v", r)
	}
}

func TestMistakesInTheCommandLine(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{"srve", `no command "srve"; did you mean serve?`},
		{"config chek", `quoin config has no command "chek"; did you mean check?`},
		{"serve here", "usage: quoin serve"},
		{"serve --nope", "unknown flag: --nope (see quoin serve --help)"},
		{"import elasticms", "usage: quoin import elasticms DIR"},
		{"import elasticms x", "a token is needed"},
		{"user create", "usage: quoin user create"},
		{"user list --set modules.user.enabled=false", `"user" is a command of the module "user", which is switched off`},
		{"migrate plan --data", "flag needs an argument"},
	} {
		r := run(t, nil, strings.Fields(c.line)...)
		if r.err == nil || !strings.Contains(r.err.Error(), c.says) {
			t.Errorf("quoin %s: %v", c.line, r.err)
		}
	}
}

func TestACommandOfAModuleThatIsOffIsNotListed(t *testing.T) {
	if on, off := must(t, nil, "--help"), must(t, nil, "--help", "--set", "modules.user.enabled=false"); !strings.Contains(on, "Manage users") || strings.Contains(off, "Manage users") {
		t.Errorf("%s\n%s", on, off)
	}
}

// TestNamesOfElasticms: a command answers to its name in elasticms, wherever
// that stands among the flags, unless its module is off.
func TestNamesOfElasticms(t *testing.T) {
	own, theirs := must(t, nil, "environment", "rebuild", "--help"), must(t, nil, "--json", "ems:environment:rebuild", "--help")
	if own != theirs || !strings.Contains(own, "ems:environment:rebuild") {
		t.Errorf("%s\n%s", own, theirs)
	}
	if r := run(t, nil, "ems:environment:rebuild", "--set", "modules.search.enabled=false"); r.err == nil || !strings.Contains(r.err.Error(), `module "search", which is switched off`) {
		t.Errorf("%v", r.err)
	}
}

// TestMain lets the test binary be quoin, for tests of a whole process.
func TestMain(m *testing.M) {
	if os.Getenv("QUOIN_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	os.Exit(cli.Main(context.Background(), program(), os.Args[1:], os.Environ()))
}

func child(t *testing.T, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(variables(filepath.Join(t.TempDir(), "data")), "QUOIN_TEST_CHILD=1", "PATH="+os.Getenv("PATH"), "GOCOVERDIR="+t.TempDir())
	return c
}

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		line   string
		status int
		stderr string
	}{
		{"version", 0, ""},
		{"--help", 0, ""},
		{"config check --set server.listen=nonsense", 1, "quoin: "},
		{"import elasticms /nowhere --token x", 1, "quoin: "},
		{"files hide nope", 1, "quoin: there is no file nope"},
		{"nope", 2, "quoin: quoin has no command"},
		{"version --nope", 2, "quoin: unknown flag"},
		{"version now", 2, "quoin: usage: quoin version"},
	} {
		cmd := child(t, strings.Fields(c.line)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		status := 0
		if errors.As(err, &exit) {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if status != c.status || !strings.Contains(stderr.String(), c.stderr) || c.stderr == "" && stderr.Len() > 0 {
			t.Errorf("quoin %s: status %d, %s", c.line, status, stderr.String())
		}
	}
}

func TestSIGTERMEndsTheServerInGoodOrder(t *testing.T) {
	cmd := child(t, "serve")
	log := newScreen()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return listening(log.String()) != "" })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	if !strings.Contains(log.String(), `"msg":"stopped"`) {
		t.Errorf("%s", log)
	}
}
