package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTheFirstPluginOfAnAuthor goes the way of sdk/README.md from an empty
// folder, with nothing but quoin and Go, to the first call of a tool.
func TestTheFirstPluginOfAnAuthor(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "sed", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED LOUDLY: the way of a plugin author needs %s", tool)
		}
	}
	readme, err := os.ReadFile("sdk/README.md")
	if err != nil {
		t.Fatal(err)
	}
	folder, bin := t.TempDir(), t.TempDir()
	self := fmt.Sprintf("#!/bin/sh\n%s=1 exec %s \"$@\"\n", childVariable, os.Args[0])
	if err := os.WriteFile(filepath.Join(bin, "quoin"), []byte(self), 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "QUOIN_DATA="+filepath.Join(folder, "data"))
	run := func(script string) string {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = folder, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	begin := time.Now()
	var steps []string
	for _, block := range strings.Split(string(readme), "```sh\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		steps = append(steps, strings.Split(strings.TrimSpace(text), "\n")...)
	}
	if len(steps) != 7 || steps[2] != "quoin plugin dev greet" {
		t.Fatalf("the steps of sdk/README.md are %q", steps)
	}
	for i, step := range steps {
		if i == 2 {
			devSession(t, filepath.Join(bin, "quoin"), folder, env, run)
			t.Logf("from nothing to the first call: %s", time.Since(begin).Round(time.Second))
			continue
		}
		if strings.Contains(step, "pack") {
			run("rm -r greet/.quoin && ! quoin plugin verify greet") // as after a clone
		}
		if strings.Contains(step, "enable") {
			run("test ! -e data") // an author has no use for one
			run("mkdir -p data/plugins && cp -r greet/dist/greet data/plugins/")
		}
		out := run(step)
		for part, want := range map[string]string{"verify": "greet_hello", "list": "greet", "enable": "is enabled", "test": "pass"} {
			if strings.HasPrefix(step, "quoin plugin "+part) && !strings.Contains(out, want) {
				t.Errorf("%s says %s", step, out)
			}
		}
	}
}

// devSession starts quoin plugin dev and does what it tells the author to.
func devSession(t *testing.T, quoin, folder string, env []string, run func(string) string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), quoin, "plugin", "dev", "greet", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = folder, env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	var script []string
	next := func(until string) {
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), until) {
				return
			}
			if strings.HasPrefix(lines.Text(), "  ") {
				script = append(script, lines.Text())
			}
		}
		t.Fatalf("quoin plugin dev ends without %q", until)
	}
	next("Change its source")
	call := strings.Join(script, "\n")
	waitForText := func(want string) {
		end := time.Now().Add(5 * time.Minute)
		for got := ""; !strings.Contains(got, want); got = run(call) {
			if time.Now().After(end) {
				t.Fatalf("the tool does not say %q but %s", want, got)
			}
		}
	}
	waitForText("Hello Ada, from admin!")
	run(`sed -i 's/"Hello "/"Good day "/' greet/main.go`)
	next("Built again.")
	waitForText("Good day Ada, from admin!")
	run(`sed -i 's/"Good day "/"Hello "/' greet/main.go`)
}
