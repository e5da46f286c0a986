package cli_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pasted runs the commands of the greeting in one shell.
func pasted(t *testing.T, greeting string, env ...string) string {
	t.Helper()
	_, list, ok := strings.Cut(greeting, "Try next")
	if !ok {
		t.Fatalf("no commands in %q", greeting)
	}
	_, list, _ = strings.Cut(list, "\n")
	for _, tool := range []string{"sh", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: there is no %s to paste the commands for", tool)
		}
	}
	sh := exec.CommandContext(t.Context(), "sh", "-e", "-c", list)
	sh.Env = append(sh.Environ(), env...)
	out, err := sh.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, list, out)
	}
	return string(out)
}

func TestTheFirstStartTellsWhatToTry(t *testing.T) {
	vars := variables(filepath.Join(t.TempDir(), "data"), "QUOIN_ADMIN_USERNAME=d'artagnan", "QUOIN_ADMIN_PASSWORD=")
	if r := run(t, vars, "config", "check"); r.err != nil { // not every name is allowed
		vars = append(vars, "QUOIN_ADMIN_USERNAME=dartagnan")
	}
	s := serve(t, vars, "--samples")
	greeting := s.out.String()
	for _, want := range []string{"listens on " + s.base, "SQLite in ", "artagnan with the password", "Created the sample content type page"} {
		if !strings.Contains(greeting, want) {
			t.Errorf("%q is not in\n%s", want, greeting)
		}
	}
	if n := strings.Count(greeting, "\n  "); n != 3 {
		t.Errorf("%d commands in\n%s", n, greeting)
	}
	out := pasted(t, greeting)
	if !strings.Contains(out, `"ready"`) || !strings.Contains(out, `artagnan"`) {
		t.Errorf("%s", out)
	}
	secret := regexp.MustCompile(`with the password (\w+)`).FindStringSubmatch(greeting)[1]
	if strings.Contains(s.log.String(), secret) {
		t.Error("the password is in the log")
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	if again := serve(t, vars); again.out.String() != "" {
		t.Errorf("a second start greets: %s", again.out)
	}
}

func TestAPasswordOfTheOperatorIsNotRepeated(t *testing.T) {
	s := serve(t, variables(filepath.Join(t.TempDir(), "data"), "QUOIN_ADMIN_USERNAME=ada"))
	if got := s.out.String(); strings.Contains(got, password) || !strings.Contains(got, "Sign in as ada with the password that you configured") {
		t.Errorf("%s", got)
	}
	if out := pasted(t, s.out.String(), "QUOIN_ADMIN_PASSWORD="+password); !strings.Contains(out, `"ada"`) {
		t.Errorf("%s", out)
	}
}

func TestAServerThatListensEverywhereIsFoundHere(t *testing.T) {
	s := serve(t, variables(filepath.Join(t.TempDir(), "data")), "--listen", "0.0.0.0:0")
	if got := s.out.String(); !strings.Contains(got, "listens on http://127.0.0.1:") {
		t.Errorf("%s", got)
	}
}

func TestServeSaysWhatItCannotDo(t *testing.T) {
	vars := variables(filepath.Join(t.TempDir(), "data"))
	s := serve(t, vars)
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "another quoin runs on"},
		{[]string{"--data", filepath.Join(t.TempDir(), "other"), "--listen", strings.TrimPrefix(s.base, "http://")}, "choose another address with --listen"},
		{[]string{"--set", "modules.content.enabled=false"}, `module "search" needs module "content", which is switched off`},
		{[]string{"--set", "database.url=postgres://nobody@127.0.0.1:1/none"}, "the database does not answer"},
		{[]string{"--set", "database.url=mysql://x"}, "must be like postgres://"},
	} {
		r := run(t, vars, append([]string{"serve"}, c.args...)...)
		if r.err == nil || !strings.Contains(r.err.Error(), c.says) {
			t.Errorf("%v: %v", c.args, r.err)
		}
	}
}

func TestTheAPIDocumentIsServedToAll(t *testing.T) {
	s := serve(t, variables(filepath.Join(t.TempDir(), "data")))
	status, body := s.get("/openapi.json", "")
	if status != 200 || !strings.HasPrefix(body, `{"`) {
		t.Fatalf("%d %.100s", status, body)
	}
	if status, _ := s.get("/api/test", ""); status != 401 {
		t.Errorf("without a token: %d", status)
	}
	if status, _ := s.get("/api/test", s.token()); status != 200 {
		t.Errorf("with a token: %d", status)
	}
}
