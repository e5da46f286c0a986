package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
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

// reportType has a title, a file and the text of it.
var reportType = strings.ReplaceAll(strings.ReplaceAll(crashType, "note", "report"), `{"class":"EMS\\CoreBundle\\Entity\\FieldType","arguments":[],"properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\IntegerFieldType","name":"n","children":[]},"replaced":[]}`,
	`{"class":"EMS\\CoreBundle\\Entity\\FieldType","arguments":[],"properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\AssetFieldType","name":"pdf","children":[]},"replaced":[]},
{"class":"EMS\\CoreBundle\\Entity\\FieldType","arguments":[],"properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\TextareaFieldType","name":"pdf_text","children":[]},"replaced":[]}`)

// TestTheTextOfPDFsIsFound builds plugins/pdftext as an operator gets it: a
// document with a PDF is found by the words of the PDF soon after it was
// finalized, with one revision more and no further ones; and the command does
// the same for documents that are there.
func TestTheTextOfPDFsIsFound(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("SKIPPED LOUDLY: a plugin is built with go")
	}
	out := t.TempDir()
	pack := exec.CommandContext(t.Context(), os.Args[0], "plugin", "pack", "plugins/pdftext", "--out", out)
	pack.Env = append(os.Environ(), childVariable+"=1")
	if text, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("quoin plugin pack: %v\n%s", err, text)
	}
	s := startWithPlugins(t, filepath.Join(out, "pdftext"))
	s.must(http.MethodPost, "/api/admin/content-type/report", reportType)
	file := s.upload("report.pdf", smallPDF("The cornerstone of a house"))
	s.must(http.MethodPost, "/api/data/report/index/before", `{"pdf":`+file+`}`)

	settings := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(settings, []byte(`{"fields":[{"type":"report","file":"pdf","text":"pdf_text"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.quoin("plugin", "enable", "pdftext", "--grant", "all", "--run-as", "admin", "--settings", settings)
	testkit.Eventually(t, func() bool { return strings.Contains(s.quoin("plugin", "list"), " ready ") })
	s.untilFound("before", "cornerstone", false)
	s.must(http.MethodPost, "/api/data/report/index/after", `{"pdf":`+file+`}`)
	s.untilFound("after", "cornerstone", true)

	id := s.job("plugin run pdftext run report", "")
	s.must(http.MethodPost, "/api/admin/start-job/"+id, "[]")
	testkit.Eventually(t, func() bool { return s.status(id).Done })
	_, answer := s.must(http.MethodGet, "/api/admin/job/"+id+"/status?output=true", "")
	if !strings.Contains(string(answer), "report: 2 of 2 looked at, ") || !strings.Contains(string(answer), " 0 failed") {
		t.Errorf("the command says %s", answer)
	}
	s.untilFound("before", "cornerstone", true)
	for _, ouuid := range []string{"before", "after"} {
		s.must(http.MethodPost, "/api/data/report/update/"+ouuid, `{"pdf":`+file+`}`)
	}
	s.must(http.MethodPost, "/api/data/report/index/last", `{"pdf":`+file+`}`) // its event comes after all others
	s.untilFound("last", "cornerstone", true)
	for _, ouuid := range []string{"before", "after"} {
		_, answer := s.must(http.MethodGet, "/api/data/report/revisions/"+ouuid, "")
		if n := strings.Count(string(answer), `"finalized_by"`) + strings.Count(string(answer), `"finalizedBy"`); n != 3 {
			t.Errorf("%s has %d revisions, want 3: %s", ouuid, n, answer)
		}
	}
}

// untilFound waits until a search for a word finds a document, or just asks
// when found is false.
func (s *withPlugins) untilFound(ouuid, word string, found bool) {
	s.t.Helper()
	body := fmt.Sprintf(`{"search":{"contentTypes":["report"],"query":{"bool":{"filter":[{"ids":{"values":[%q]}},{"match":{"pdf_text":%q}}]}}}}`, ouuid, word)
	ask := func() bool {
		_, answer := s.must(http.MethodPost, "/api/search/search", body)
		return strings.Contains(string(answer), `"_id":"`+ouuid+`"`)
	}
	if !found {
		if ask() {
			s.t.Errorf("%s is found by %s", ouuid, word)
		}
		return
	}
	testkit.Eventually(s.t, ask)
}

// upload stores a file and gives what a document says of it.
func (s *withPlugins) upload(name string, data []byte) string {
	s.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("upload", name)
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+"/api/file/upload?type=application/pdf", &b)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("X-Auth-Token", s.token)
	resp, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test of the whole program is an ordinary client
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var stored struct{ SHA1 string }
	if err := json.NewDecoder(resp.Body).Decode(&stored); err != nil || stored.SHA1 == "" {
		s.t.Fatalf("the upload gives %+v, %v", stored, err)
	}
	return fmt.Sprintf(`{"sha1":%q,"filename":%q,"mimetype":"application/pdf","filesize":%d}`, stored.SHA1, name, len(data))
}

// smallPDF is a file with one page that says the text.
func smallPDF(text string) []byte {
	content := "BT /F 12 Tf 72 700 Td (" + text + ") Tj ET"
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var table strings.Builder
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>>>>>>>",
		fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content),
	} {
		fmt.Fprintf(&table, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 5\n0000000000 65535 f \n%strailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", table.String(), start)
	return b.Bytes()
}
