package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
)

type finding struct{ Check, Level, Says, Do string }

// diagnose runs the doctor and gives what it found by check; the worst counts.
func diagnose(t *testing.T, vars []string, args ...string) (map[string]finding, error) {
	t.Helper()
	r := run(t, vars, append([]string{"doctor", "--json"}, args...)...)
	var list []finding
	if err := json.Unmarshal([]byte(r.out), &list); err != nil {
		t.Fatalf("%v in %s", err, r.out)
	}
	found := map[string]finding{}
	worse := map[string]int{"": 0, "ok": 1, "warn": 2, "fail": 3}
	for _, f := range list {
		if f.Level != "ok" && f.Do == "" && f.Check != "index" {
			t.Errorf("%+v does not tell what to do", f)
		}
		if worse[f.Level] > worse[found[f.Check].Level] {
			found[f.Check] = f
		}
	}
	return found, r.err
}

func TestDoctor(t *testing.T) {
	for name, vars := range map[string]func(t *testing.T) []string{
		"sqlite": func(t *testing.T) []string { return variables(filepath.Join(t.TempDir(), "data")) },
		"postgres": func(t *testing.T) []string {
			return variables(filepath.Join(t.TempDir(), "data"), "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()))
		},
	} {
		t.Run(name, func(t *testing.T) { examine(t, vars(t)) })
	}
}

func examine(t *testing.T, vars []string) {
	before, err := diagnose(t, vars)
	if err == nil || before["migrations"].Level != "fail" && before["database"].Level != "fail" || before["configuration"].Level != "ok" {
		t.Errorf("before the first start: %v %+v", err, before)
	}
	s := serve(t, vars, "--samples")
	token := s.token()
	hash := s.upload(token, "a.txt", []byte("a file"))
	s.send(token, "POST", "/api/data/page/index?refresh=true", `{"label":"a"}`, nil)
	healthy, err := diagnose(t, vars)
	if err != nil || len(healthy) < 8 {
		t.Errorf("%v, %+v", err, healthy)
	}
	for _, f := range healthy {
		if f.Level != "ok" {
			t.Errorf("%+v", f)
		}
	}
	if f := healthy["index"]; !strings.Contains(f.Says, "the 1 documents of") {
		t.Errorf("%+v", f)
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	data := strings.TrimPrefix(vars[0], "QUOIN_DATA=")
	err = filepath.WalkDir(filepath.Join(data, "files"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == hash {
			return os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o755); err != nil { //nolint:gosec // what is to be found
		t.Fatal(err)
	}
	ill, err := diagnose(t, vars)
	if err == nil || !strings.Contains(err.Error(), "one check failed") {
		t.Errorf("%v", err)
	}
	if f := ill["files"]; f.Level != "fail" || !strings.Contains(f.Says, hash) {
		t.Errorf("%+v", f)
	}
	if f := ill["data folder"]; f.Level != "warn" || !strings.Contains(f.Do, "chmod") {
		t.Errorf("%+v", f)
	}
	if f := ill["index"]; f.Level != "warn" || !strings.Contains(f.Says, "no server runs") {
		t.Errorf("%+v", f)
	}
}

func TestTheDoctorMakesNoDatabase(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	found, err := diagnose(t, variables(folder))
	if err == nil || found["database"].Level != "fail" {
		t.Errorf("%v %+v", err, found)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the doctor made %s: %v", folder, err)
	}
	if r := run(t, variables(folder), "user", "list"); !strings.Contains(r.log, "A new database begins") {
		t.Errorf("%s", r.log)
	}
}

func TestTheDoctorTellsOfAConfigurationThatIsWrong(t *testing.T) {
	found, err := diagnose(t, nil, "--set", "server.listen=nonsense")
	if f := found["configuration"]; err == nil || f.Level != "fail" || !strings.Contains(f.Says, "nonsense") {
		t.Errorf("%v %+v", err, found)
	}
}
