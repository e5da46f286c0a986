package user_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/cli"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/user"
)

// shell runs command lines on one installation.
type shell struct {
	testing.TB
	vars []string
}

func newShell(t testing.TB, more ...string) *shell {
	return &shell{t, append([]string{"QUOIN_DATA=" + t.TempDir(), "QUOIN_USER__HASHING__MEMORY=8KiB"}, more...)}
}

func (s *shell) run(in string, args ...string) (string, error) {
	s.Helper()
	var out, errw strings.Builder
	err := cli.Run(s.Context(), cli.Program{Modules: []module.Spec{user.Spec()}}, args, s.vars, strings.NewReader(in), &out, &errw)
	if log := errw.String(); log != "" && !strings.HasPrefix(log, "A new database begins in ") {
		s.Errorf("quoin %v: the log says %s", args, log)
	}
	return out.String(), err
}

func (s *shell) must(in string, args ...string) string {
	s.Helper()
	out, err := s.run(in, args...)
	if err != nil {
		s.Fatalf("quoin %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func TestCommands(t *testing.T) {
	databases := map[string]func(t *testing.T) []string{
		"sqlite": func(*testing.T) []string { return nil },
		"postgres": func(t *testing.T) []string {
			return []string{"QUOIN_DATABASE_URL=" + testkit.Postgres(t, testkit.WithoutFsync())}
		},
	}
	for name, vars := range databases {
		t.Run(name, func(t *testing.T) {
			s := newShell(t, vars(t)...)
			out := s.must("", "user", "create", "jane", "--email", "jane@example.org", "--role", "author", "--role", "ROLE_X", "--display-name", "Jane D")
			if !regexp.MustCompile(`^Created the user jane\. The password is \S{20} \(shown only now\)\.\n.*--add ROLE_API\nROLE_X is not one of the built-in roles.*\n$`).MatchString(out) {
				t.Errorf("%s", out)
			}
			var v map[string]any
			if err := json.Unmarshal([]byte(s.must("a password\n", "--json", "user", "create", "bob", "--password-stdin", "--disabled")), &v); err != nil ||
				v["username"] != "bob" || v["status"] != "disabled" || v["password"] != nil {
				t.Errorf("%v %v", v, err)
			}
			if out := s.must("", "user", "roles", "jane", "--add", "api,publisher", "--remove", "role_x"); out != "The user jane has the roles ROLE_AUTHOR ROLE_API ROLE_PUBLISHER.\n" {
				t.Errorf("%s", out)
			}
			if out := s.must("", "user", "roles", "jane", "--set", "ROLE_API"); out != "The user jane has the roles ROLE_API.\n" {
				t.Errorf("%s", out)
			}
			if out := s.must("", "user", "roles", "jane"); out != "ROLE_API\n" {
				t.Errorf("%s", out)
			}
			if out := s.must("", "user", "roles"); !strings.Contains(out, "ROLE_SUPER_ADMIN") || !strings.HasPrefix(out, "ROLE ") {
				t.Errorf("%s", out)
			}
			s.must("", "user", "enable", "bob")
			if out := s.must("", "user", "disable", "BOB"); !strings.HasPrefix(out, "The user bob is disabled.") {
				t.Errorf("%s", out)
			}
			list := strings.Split(s.must("", "user", "list"), "\n")
			if len(list) != 4 || !regexp.MustCompile(`^USERNAME +EMAIL +STATUS +LAST LOGIN +EXPIRES +ROLES$`).MatchString(list[0]) ||
				!regexp.MustCompile(`^jane +jane@example.org +enabled +never +never +ROLE_API$`).MatchString(list[2]) {
				t.Errorf("%q", list)
			}
			if out := s.must("", "user", "show", "jane"); !regexp.MustCompile(`(?m)^name +Jane D$`).MatchString(out) {
				t.Errorf("%s", out)
			}
			if out := s.must("", "user", "password", "jane"); !regexp.MustCompile(`new password \S{20} \(shown only now\)`).MatchString(out) {
				t.Errorf("%s", out)
			}
			token := strings.TrimSpace(s.must("", "token", "create", "jane", "--name", "deploy", "--expires", "720h"))
			if !strings.HasPrefix(token, "qn_") || len(token) != 46 {
				t.Errorf("%q", token)
			}
			if out := s.must("", "token", "list", "jane"); strings.Contains(out, token) || !strings.Contains(out, token[:8]) || !strings.Contains(out, "deploy") {
				t.Errorf("%s", out)
			}
			if out := s.must("", "--json", "token", "list"); !strings.Contains(out, `"username": "jane"`) {
				t.Errorf("%s", out)
			}
			if out := s.must("", "token", "revoke", "1"); !strings.HasPrefix(out, "Token 1 of jane is revoked.") {
				t.Errorf("%s", out)
			}
			if out := s.must("", "--json", "token", "list"); strings.TrimSpace(out) != "[]" {
				t.Errorf("%s", out)
			}
		})
	}
}

func TestCommandsSayWhatToDo(t *testing.T) {
	s := newShell(t)
	s.must("", "user", "create", "jane", "--password", "a password")
	for _, c := range []struct{ in, line, says string }{
		{"", "user show nobody", "`quoin user list`"},
		{"", "user disable nobody", "`quoin user list`"},
		{"", "user password nobody --password 12345678", "`quoin user list`"},
		{"", "user create JANE", "`quoin user password`"},
		{"", "user create x --password short", "password: must have at least 8 characters"},
		{"", "user create x --password 12345678 --password-stdin", "either"},
		{"", "user create x --password-stdin", "pipe it in"},
		{"\n", "user password jane --password-stdin", "pipe it in"},
		{"", "user create x --role a.b", "ROLE_SUPER_ADMIN"},
		{"", "user create x --email nobody", "jane@example.org"},
		{"", "user create", "usage: quoin user create USERNAME"},
		{"", "user roles --add x", "whose roles"},
		{"", "token create nobody", "`quoin user list`"},
		{"", "token create jane --expires -1h", "720h"},
		{"", "token create jane --expires 1000000h", "10 years"},
		{"", "token list nobody", "`quoin user list`"},
		{"", "token revoke x", "`quoin token list`"},
		{"", "token revoke 7", "`quoin token list`"},
	} {
		out, err := s.run(c.in, strings.Fields(c.line)...)
		if err == nil || !strings.Contains(err.Error(), c.says) || out != "" {
			t.Errorf("quoin %s\n  says:  %v\n  wants: %s\n  out:   %s", c.line, err, c.says, out)
		}
	}
	if out := s.must("", "user", "list"); strings.Count(out, "\n") != 2 {
		t.Errorf("a refused command has written something:\n%s", out)
	}
}

// The module as core/app assembles it, from the first start on.
func TestAssembled(t *testing.T) {
	c, err := app.Load([]module.Spec{user.Spec()}, conf.Options{Env: []string{
		"QUOIN_DATA=" + t.TempDir(), "QUOIN_ADMIN_USERNAME=root", "QUOIN_ADMIN_PASSWORD=let me in please", "QUOIN_USER__HASHING__MEMORY=8KiB"}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(c.Print()), "let me in") {
		t.Error("the configuration shows the password")
	}
	for start, said := range []int{1, 0} {
		a, err := app.Open(t.Context(), c, app.Options{Log: telemetry.Discard(), Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []func() error{
			func() error { return a.Migrate(t.Context()) }, func() error { return a.Assemble("test") }, func() error { return a.Start(t.Context()) },
		} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		if lines := a.Welcome.Lines(); len(lines) != said || said == 1 && lines[0] != "Sign in as root with the password that you configured." {
			t.Errorf("start %d says %q", start, lines)
		}
		w := httptest.NewRecorder()
		a.Router.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/auth-token", strings.NewReader(login("root", "let me in please"))))
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"authToken":"qn_`) {
			t.Errorf("start %d: %d %s", start, w.Code, w.Body)
		}
		if _, err := a.Router.OpenAPI(); err != nil {
			t.Error(err)
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for set, says := range map[string]string{
		"QUOIN_ADMIN_PASSWORD=short":                    "at least 8 characters",
		"QUOIN_ADMIN_USERNAME=ad\u200bmin":              "control or invisible",
		"QUOIN_USER__PROXY_TOKEN_LIFETIME=0s":           "at least 1s",
		"QUOIN_USER__LOGIN_TOKEN_LIFETIME=-1s":          "must not be negative",
		"QUOIN_USER__HASHING__MEMORY=1GiB":              "between 8KiB and 256MiB",
		"QUOIN_USER__HASHING__PASSES=0":                 "between 1 and 16",
		"QUOIN_USER__HASHING__CONCURRENT=0":             "between 1 and 64",
		"QUOIN_USER__CACHED_TOKENS=0":                   "at least 1",
		"QUOIN_USER__THROTTLE__ACCOUNT_BURST=-1":        "must not be negative",
		"QUOIN_USER__THROTTLE__ACCOUNT_EVERY=-1m":       "must not be negative",
		"QUOIN_USER__THROTTLE__ADDRESS_EVERY=yesterday": "duration",
	} {
		_, err := app.Load([]module.Spec{user.Spec()}, conf.Options{Env: []string{set}})
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "short") {
			t.Errorf("%s: %v", set, err)
		}
	}
	if _, err := app.Load([]module.Spec{user.Spec()}, conf.Options{}); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}
