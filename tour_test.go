package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestTour runs the five minutes of the README as a newcomer would, with the
// address of a server of its own.
func TestTour(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED LOUDLY: the tour of the README needs %s", tool)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	servers := blocks(string(readme), "tour:server")
	steps := blocks(string(readme), "tour")
	if len(servers) != 1 || len(steps) < 6 {
		t.Fatalf("%d server commands and %d steps in the README", len(servers), len(steps))
	}
	variable, command, ok := strings.Cut(strings.TrimSpace(servers[0]), " ")
	if !ok || command != "go run . serve --samples" {
		t.Fatalf("the README starts the server by %q", servers[0])
	}
	s := start(t, variable, "QUOIN_DATA="+t.TempDir(), "QUOIN_CONTENT__SAMPLES=true")
	script := strings.ReplaceAll(strings.Join(steps, "\necho\n"), "http://127.0.0.1:8080", s.base)
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the tour fails: %v\n%s\n%s", err, out, s.log)
	}
	at := 0
	for _, want := range []string{
		`"username":"admin"`,
		`"success":true,"ouuid":"welcome","type":"page","revision_id":1`,
		`"revision":{"label":"Welcome"`,
		`"revision_id":2`,
		`"number":2`,
		`"total":{"value":1,"relation":"eq"}`,
		`"label":"Welcome home"`,
		`"already-published":false`,
		`{"count":1}`,
		`"success":false`,
		`label: must be a string`,
		`"status":412`,
		`"uploaded":1`,
		"Hello, file",
	} {
		i := strings.Index(string(out)[at:], want)
		if i < 0 {
			t.Fatalf("after %q the tour should answer %s; all of it:\n%s", string(out)[:at], want, out)
		}
		at += i
	}
}

// blocks gives the shell blocks that follow a comment of the name.
func blocks(readme, name string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?s)<!-- "+name+" -->\n```sh\n(.*?)```").FindAllStringSubmatch(readme, -1) {
		all = append(all, m[1])
	}
	return all
}
