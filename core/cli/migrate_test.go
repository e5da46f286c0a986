package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
)

func TestMigrate(t *testing.T) {
	for name, vars := range map[string]func(t *testing.T) []string{
		"sqlite": func(t *testing.T) []string { return variables(filepath.Join(t.TempDir(), "data")) },
		"postgres": func(t *testing.T) []string {
			return variables(t.TempDir(), "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()))
		},
	} {
		t.Run(name, func(t *testing.T) { migrations(t, vars(t)) })
	}
}

type migration struct {
	Module, Name string
	Applied      bool
}

func list(t *testing.T, vars []string, command string, args ...string) []migration {
	t.Helper()
	var all []migration
	if err := json.Unmarshal([]byte(must(t, vars, append([]string{"migrate", command, "--json"}, args...)...)), &all); err != nil || all == nil {
		t.Fatalf("migrate %s: %v %v", command, all, err)
	}
	return all
}

func migrations(t *testing.T, vars []string) {
	off := []string{"--set", "modules.search.enabled=false", "--set", "modules.content.enabled=false"}
	plan := list(t, vars, "plan")
	again := list(t, vars, "plan")
	if len(plan) < 4 || len(again) != len(plan) {
		t.Fatalf("planning changes nothing: %v, then %v", plan, again)
	}
	part := list(t, vars, "up", off...)
	for _, m := range part {
		if m.Module == "content" || m.Module == "search" || !m.Applied {
			t.Errorf("%+v", m)
		}
	}
	status := must(t, vars, "migrate", "status")
	if !strings.Contains(status, "applied 20") || !strings.Contains(status, "pending") || !strings.Contains(status, "MODULE") {
		t.Errorf("%s", status)
	}
	if rest := list(t, vars, "up"); len(rest) != len(plan)-len(part) || len(rest) == 0 {
		t.Errorf("%v after %v of %v", rest, part, plan)
	}
	for _, m := range list(t, vars, "status") {
		if !m.Applied {
			t.Errorf("%+v", m)
		}
	}
	if left := list(t, vars, "up"); len(left) != 0 {
		t.Errorf("a second time: %v", left)
	}
	if left := list(t, vars, "plan"); len(left) != 0 {
		t.Errorf("planned: %v", left)
	}
}
