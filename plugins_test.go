package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
)

// TestAPluginOfAnotherLanguage builds plugins/wordcount as its README says and
// lets the real program run it: nothing in it is made with the kit for Go.
func TestAPluginOfAnotherLanguage(t *testing.T) {
	built := buildWordcount(t)
	s := startWithPlugins(t, built)
	s.must(http.MethodPost, "/api/admin/content-type/note", strings.ReplaceAll(crashType, "IntegerFieldType", "TextareaFieldType"))
	s.must(http.MethodPost, "/api/data/note/index/one", `{"n":"<p>Four words, <b>no</b> less.</p>"}`)

	where := map[string]string{"type": "note", "ouuid": "one"}
	s.quoin("plugin", "enable", "wordcount", "--grant", "kv")
	s.untilTool("wordcount_count", where, "has not been granted documents:read")
	s.quoin("plugin", "enable", "wordcount", "--grant", "all")
	s.untilTool("wordcount_count", where, `{"words":4,"fields":{"n":4}}`)
	if list := s.quoin("plugin", "list"); !strings.Contains(list, "wordcount") || !strings.Contains(list, "ready") {
		t.Errorf("the list is %s", list)
	}
	if got := s.tool("wordcount_count", map[string]string{"type": "note", "ouuid": "none"}); !strings.Contains(got, `"isError":true`) {
		t.Errorf("a document that is not there gives %s", got)
	}
	s.must(http.MethodPost, "/api/data/note/index/two", `{"n":"日本語 two three"}`)
	s.untilTool("wordcount_lengths", map[string]string{}, `"note:two":`)

	before := s.pidOfPlugin("wordcount")
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.must(http.MethodPost, "/api/data/note/index/three", `{"n":"it came while nobody was there"}`)
	s.untilTool("wordcount_lengths", map[string]string{}, `"note:three":6`)
	after := s.pidOfPlugin("wordcount")
	if after == before {
		t.Error("it is the same process")
	}
	s.kill()
	testkit.Eventually(t, func() bool { return syscall.Kill(after, 0) != nil })
}

// buildWordcount gives the folder that operators install.
func buildWordcount(t *testing.T) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "plugins", "wordcount")
	for from, to := range map[string]string{"plugins/wordcount": source, "sdk/proto": filepath.Join(source, "../../sdk/proto")} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(source, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var wants struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal(text, &wants); err != nil {
		t.Fatal(err)
	}
	var packages []string
	for _, list := range []map[string]string{wants.Dependencies, wants.DevDependencies} {
		for name, version := range list {
			packages = append(packages, name+"@"+version)
		}
	}
	if err := os.Symlink(filepath.Join(testkit.Node(t, packages...), "node_modules"), filepath.Join(source, "node_modules")); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "npm", "run", "build")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("npm run build: %v\n%s", err, out)
	}
	folder := filepath.Join(source, "dist", "wordcount")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	replaceIn(t, filepath.Join(folder, "plugin.yaml"), "/usr/bin/node", node)
	return folder
}

func replaceIn(t *testing.T, path, old, fresh string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.ReplaceAll(text, []byte(old), []byte(fresh)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// withPlugins is a server whose folder of plugins has some.
type withPlugins struct {
	*server

	data string
	env  []string
}

// startWithPlugins starts a server with these folders in its folder of plugins.
func startWithPlugins(t *testing.T, folders ...string) *withPlugins {
	t.Helper()
	data := t.TempDir()
	for _, f := range folders {
		if err := os.CopyFS(filepath.Join(data, "plugins", filepath.Base(f)), os.DirFS(f)); err != nil {
			t.Fatal(err)
		}
	}
	vars := []string{"QUOIN_DATA=" + data, "QUOIN_PLUGINS__BACKOFF=10ms"}
	s := &withPlugins{server: start(t, vars...), data: data, env: append(os.Environ(), append(vars, childVariable+"=1")...)}
	s.login()
	return s
}

// quoin runs a command line beside the server and gives its output.
func (s *withPlugins) quoin(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), os.Args[0], args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("quoin %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// tool calls a tool over MCP and gives the answer as it comes.
func (s *withPlugins) tool(name string, args map[string]string) string {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": name, "arguments": args,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}},
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+"/api/mcp", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "X-Auth-Token": s.token, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name} {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test of the whole program is an ordinary client
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ Result, Error json.RawMessage }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		s.t.Fatal(err)
	}
	return string(answer.Result) + string(answer.Error)
}

// untilTool waits until the answer of a tool has the text.
func (s *withPlugins) untilTool(name string, args map[string]string, want string) {
	s.t.Helper()
	var got string
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("the last answer of %s is %s", name, got)
		}
	})
	testkit.Eventually(s.t, func() bool {
		got = s.tool(name, args)
		return strings.Contains(got, want)
	})
}

// pidOfPlugin finds the process of a plugin by the folder that it runs from.
func (s *withPlugins) pidOfPlugin(name string) int {
	s.t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.t.Fatal(err)
	}
	want := filepath.Join(s.data, "plugins", name)
	ours := regexp.MustCompile(fmt.Sprintf(`PPid:\s+%d\n`, s.cmd.Process.Pid))
	for _, path := range found {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte(want)) {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		if err != nil || !ours.Match(status) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil {
			return pid
		}
	}
	s.t.Fatalf("no process of %s runs", name)
	return 0
}
