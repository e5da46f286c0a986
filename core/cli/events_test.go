package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestEventsOfTheBus(t *testing.T) {
	vars := variables(filepath.Join(t.TempDir(), "data"))
	s := serve(t, vars, "--samples")
	s.send(s.token(), "POST", "/api/data/page/index", `{"label":"a"}`, nil)
	if out := must(t, vars, "events", "status"); !strings.Contains(out, "webhook") || !strings.Contains(out, "GIVEN UP") {
		t.Errorf("%s", out)
	}
	if out := must(t, vars, "events", "buried", "webhook", "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("%s", out)
	}
	if out := must(t, vars, "events", "retry", "webhook"); out != "0 events that webhook had given up are tried again.\n" {
		t.Errorf("%s", out)
	}
	if r := run(t, vars, "events", "retry", "nobody"); r.err == nil || !strings.Contains(r.err.Error(), "quoin events status") {
		t.Errorf("%v", r.err)
	}
}

// TestEventsOfANewDatabase asks where no server has run yet.
func TestEventsOfANewDatabase(t *testing.T) {
	vars := variables(filepath.Join(t.TempDir(), "data"))
	if r := run(t, vars, "events", "status"); r.err != nil {
		t.Error(r.err)
	}
}
