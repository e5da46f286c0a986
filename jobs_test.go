package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
)

// TestTheWorkerOfTheREADME runs the script in the README of jobs on two of them.
func TestTheWorkerOfTheREADME(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED LOUDLY: the worker of the README needs %s", tool)
		}
	}
	readme, err := os.ReadFile(filepath.Join("modules", "job", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(string(readme), "```sh worker\n")
	script, _, closed := strings.Cut(script, "```\n")
	if !found || !closed {
		t.Fatal("the README of jobs has no worker")
	}
	s := start(t, "QUOIN_DATA="+t.TempDir())
	s.login()
	work := func() {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(script, "http://127.0.0.1:8080", s.base))
		cmd.Env = append(os.Environ(), "TOKEN="+s.token, "ONCE=1")
		out, err := os.Create(filepath.Join(t.TempDir(), "out")) // a pipe would wait for the heartbeat's last sleep
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = out.Close() }()
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			said, _ := os.ReadFile(out.Name())
			t.Fatalf("%v\n%s", err, said)
		}
	}
	id := s.job(`printf 'one\n  two "2" \\ é\n'`, "shell")
	work()
	if j := s.status(id); j.Status != "completed" || j.Output != "one\n  two \"2\" \\ é\n" {
		t.Errorf("%+v", j)
	}
	id = s.job(`echo hm; exit 7`, "shell")
	work()
	if j := s.status(id); j.Status != "failed" || j.Exit != 7 || !strings.Contains(j.Output, "hm\n\nexit status 7") {
		t.Errorf("%+v", j)
	}
}

// job creates a job and gives its number.
func (s *server) job(command, tag string) string {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"command": command, "tag": tag})
	if err != nil {
		s.t.Fatal(err)
	}
	_, answer := s.must(http.MethodPost, "/api/admin/job/create", string(body))
	var j struct{ ID string }
	if err := json.Unmarshal(answer, &j); err != nil {
		s.t.Fatal(err)
	}
	return j.ID
}

type jobStatus struct {
	Status, Output, State string
	Done                  bool
	Exit                  int `json:"exit_code"`
}

func (s *server) status(id string) (j jobStatus) {
	s.t.Helper()
	_, answer := s.must(http.MethodGet, "/api/admin/job/"+id+"/status", "")
	if err := json.Unmarshal(answer, &j); err != nil {
		s.t.Fatal(err)
	}
	return j
}

// TestCommandsAsJobs runs commands of every module inside a server.
func TestCommandsAsJobs(t *testing.T) {
	s := start(t, "QUOIN_DATA="+t.TempDir(), "QUOIN_CONTENT__SAMPLES=true")
	s.login()
	for i := range 5 {
		s.must(http.MethodPost, fmt.Sprintf("/api/data/page/index/d%d", i), fmt.Sprintf(`{"label":"Page %d"}`, i))
	}
	s.must(http.MethodPost, "/api/data/page/index/d0?refresh=true", `{"label":"Again"}`)
	s.must(http.MethodPost, "/api/data/page/create/draft", `{"label":"Draft"}`)
	for _, c := range []struct{ line, want, not string }{
		{"ems:version", "quoin test", ""},
		{"ems:status", "database", ""},
		{"commands", "emsco:revision:delete", ""},
		{"commands environment rebuild", "--all", ""},
		{"ems:environment:list --all", "quoin_preview", ""},
		{"ems:environment:create staging --label 'A place'", "Created the environment staging", ""},
		{"emsco:environment:align preview staging --force --search-query '{\"ids\":{\"values\":[\"d1\",\"d2\"]}}'", "2 documents published in staging", ""},
		{"ems:environment:rebuild preview", "", ""},
		{"ems:managed-alias:create site Site", "", ""},
		{"ems:check:aliases", "", ""},
		{"ems:delete:orphans", "", ""},
		{"ems:contenttype:recompute page --ouuid d1 --ouuid draft", "1 documents written anew, 1 left alone", ""},
		{"ems:contenttype:recompute page", "5 documents written anew, 1 left alone", ""},
		{"emsco:contenttype:export page", `{"ouuid":"d3","data":{`, `"draft"`},
		{"content-type export page --drafts", `{"ouuid":"draft","data":{`, ""},
		{"content-type export page --environment staging", `{"ouuid":"d2","data":{`, `"d3"`},
		{`content-type export page json '{"ids":{"values":["d1","d4"]}}'`, `{"ouuid":"d4","data":{`, `"d2"`},
		{"emsco:revision:delete page --mode oldest", "documents rid of old revisions", ""},
		{"ems:revisions:unlock admin page", "1 drafts unlocked", ""},
		{"emsco:revision:discard-draft page --older 0s", "1 drafts thrown away", ""},
		{"emsco:revision:delete page --ouuid d4", "1 documents put into the trash", ""},
		{"emsco:revision:archive page --modified-before 2001-01-01", "0 documents put into the trash, 4 left alone", ""},
		{"emsco:revision:delete all --mode by-query --query '{\"ids\":{\"values\":[\"d3\"]}}'", "1 documents put into the trash", ""},
		{"content-type list", "page      Pages       preview      3          active", ""},
		{"ems:contenttype:activate page --deactivate", "1 content types deactivated", ""},
		{"content-type list", "page      Pages       preview      3          inactive", ""},
		{"ems:contenttype:activate --all", "1 content types activated", ""},
		{"emsco:user:create ada ada@example.org 'a long password'", "Created the user ada", ""},
		{"emsco:user:promote ada ROLE_AUTHOR", "ROLE_AUTHOR", ""},
		{"emsco:user:demote ada author", "has the roles .", ""},
		{"emsco:user:deactivate ada", "disabled", ""},
		{"emsco:user:change-password ada 'another password'", "new password", ""},
		{"ems:submissions:remove-expired", "", ""},
		{"ems:asset:clean --dry-run", "", ""},
		{"ems:logs:clear --before 2001-01-01", "0 jobs removed", ""},
	} {
		id := s.job(c.line, "")
		s.must(http.MethodPost, "/api/admin/start-job/"+id, "[]")
		if j := s.status(id); j.Status != "completed" || !strings.Contains(j.Output, c.want) || c.not != "" && strings.Contains(j.Output, c.not) {
			t.Errorf("%s: %+v", c.line, j)
		}
	}
	for _, line := range []string{"files sync --to file:///tmp", "token create admin", "ems:contenttype:import page /etc/passwd", "job create x"} {
		body, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		if status, answer, err := s.call(http.MethodPost, "/api/admin/job/create", string(body)); err != nil || status != http.StatusBadRequest || !strings.Contains(string(answer), "local_command") {
			t.Errorf("%s: %d %s %v", line, status, answer, err)
		}
	}
}

// TestAWorkerApart leaves the commands of a server to `quoin worker`, and kills
// that in the middle of nothing.
func TestAWorkerApart(t *testing.T) {
	url := testkit.Postgres(t, testkit.WithoutFsync())
	vars := []string{"QUOIN_DATABASE_URL=" + url, "QUOIN_MODULES__SEARCH__ENABLED=false", "QUOIN_DATA=" + t.TempDir()}
	s := start(t, append(vars, "QUOIN_JOB__WORKERS=0")...)
	s.login()
	id := s.job("ems:version", "")
	_, answer := s.must(http.MethodPost, "/api/admin/start-job/"+id, "[]")
	if !strings.Contains(string(answer), "job is scheduled") {
		t.Errorf("%s", answer)
	}
	cmd := exec.Command(os.Args[0], "worker")
	cmd.Env = append([]string{childVariable + "=1", "PATH=" + os.Getenv("PATH")}, vars...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	testkit.Eventually(t, func() bool { return s.status(id).Done })
	id = s.job("ems:version", "")
	s.must(http.MethodPost, "/api/admin/start-job/"+id, "[]")
	testkit.Eventually(t, func() bool { return s.status(id).Done })
	if j := s.status(id); j.Output != "quoin test\n" {
		t.Errorf("%+v", j)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}
