package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "quoin.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestConfigCheck(t *testing.T) {
	if out := must(t, nil, "config", "check"); out != "The configuration is valid.\n" {
		t.Errorf("%q", out)
	}
	if out := must(t, nil, "config", "check", "--json"); strings.TrimSpace(out) == "" || !json.Valid([]byte(out)) {
		t.Errorf("%q", out)
	}
	file := write(t, "server:\n  lisen: 127.0.0.1:1\n  max_body: much\nlog:\n  level: loud\nmodules:\n  serch:\n    enabled: true\n")
	r := run(t, []string{"QUOIN_SERVER__LISTENN=x"}, "config", "check", "--config", file)
	if r.err == nil {
		t.Fatal("a wrong configuration is valid")
	}
	for _, want := range []string{
		"lisen", "listen", "max_body", "loud", "serch", "search", // each key with the near one
		file + ":2", "QUOIN_SERVER__LISTENN",
	} {
		if !strings.Contains(r.err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, r.err)
		}
	}
	r = run(t, nil, "config", "check", "--set", "modules.content.enabled=false")
	if r.err == nil || !strings.Contains(r.err.Error(), "modules.search.enabled to false") {
		t.Errorf("%v", r.err)
	}
	if r := run(t, nil, "config", "check", "--config", "/nowhere/quoin.yaml"); r.err == nil || !strings.Contains(r.err.Error(), "/nowhere/quoin.yaml") {
		t.Errorf("%v", r.err)
	}
}

func TestConfigPrintTellsWhereValuesComeFromAndHidesSecrets(t *testing.T) {
	file := write(t, "log:\n  level: warn\n")
	out := must(t, []string{"QUOIN_ADMIN_PASSWORD=top secret", "QUOIN_DATABASE_URL=postgres://u:hidden@h/d", "QUOIN_CONFIG=" + file},
		"config", "print", "--set", "server.max_body=1MiB", "--data", "/srv/quoin")
	for _, want := range []string{"level: warn", file, "max_body: 1MiB", "--set", "QUOIN_ADMIN_PASSWORD", "/srv/quoin", "--data"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	for _, secret := range []string{"top secret", "hidden"} {
		if strings.Contains(out, secret) {
			t.Errorf("%q is printed", secret)
		}
	}
}

func TestFlagsWinOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	file := write(t, "server:\n  data: /file\n  listen: 127.0.0.1:1\n")
	vars := []string{"QUOIN_CONFIG=" + file, "QUOIN_DATA=/env"}
	if out := must(t, vars, "config", "print"); !strings.Contains(out, "data: /env") || !strings.Contains(out, "127.0.0.1:1") {
		t.Error(out)
	}
	if out := must(t, vars, "config", "print", "--data", "/flag"); !strings.Contains(out, "data: /flag") {
		t.Error(out)
	}
}

func TestTheDefaultFileIsAConfiguration(t *testing.T) {
	file := write(t, must(t, nil, "config", "defaults"))
	if out := must(t, nil, "config", "check", "--config", file); !strings.Contains(out, "valid") {
		t.Errorf("%s", out)
	}
	var schema struct {
		Schema     string `json:"$schema"`
		Properties map[string]any
	}
	if err := json.Unmarshal([]byte(must(t, nil, "config", "schema")), &schema); err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"server", "database", "log", "instance", "modules", "user", "content"} {
		if schema.Properties[section] == nil {
			t.Errorf("the schema lacks %s", section)
		}
	}
}

// TestConfigAsJSON reads what every command with --json gives: JSON.
func TestConfigAsJSON(t *testing.T) {
	for _, name := range []string{"print", "defaults", "schema"} {
		var got map[string]json.RawMessage
		if out := must(t, []string{"QUOIN_DATABASE_URL=postgres://a:hidden@b/c"}, "config", name, "--json"); json.Unmarshal([]byte(out), &got) != nil || len(got) < 2 || strings.Contains(out, "hidden@") {
			t.Errorf("config %s: %.300s", name, out)
		}
	}
}

func TestConfigCheckLooksAtTheAddressOfTheDatabase(t *testing.T) {
	for address, right := range map[string]bool{
		"postgres://a:b@c/d": true, "postgresql://a:b@c:1,d:2/e?sslmode=disable": true, "host=/run/postgresql dbname=quoin": true,
		"mysql://a:hidden@c/d": false, "postgres://a:hid%zz@c/d": false,
	} {
		r := run(t, []string{"QUOIN_DATABASE_URL=" + address}, "config", "check")
		if (r.err == nil) != right || r.err != nil && (strings.Contains(r.err.Error(), "hid") || !strings.Contains(r.err.Error(), "QUOIN_DATABASE_URL")) {
			t.Errorf("%s: %v", address, r.err)
		}
	}
}
