package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/testkit"
)

// group is a row of the report of an import.
type group struct {
	Kind, Name                          string
	Created, Updated, Unchanged, Failed int
	Failures                            []struct{ File, Why string }
}

func (g *group) add(o group) {
	g.Created, g.Updated, g.Unchanged, g.Failed = g.Created+o.Created, g.Updated+o.Updated, g.Unchanged+o.Unchanged, g.Failed+o.Failed
	g.Failures = append(g.Failures, o.Failures...)
}

// report reads a report and sums its rows up by kind.
func report(t *testing.T, r result) (config, documents group) {
	t.Helper()
	var all struct{ Groups []group }
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v in %q, %v", err, r.out, r.err)
	}
	for _, g := range all.Groups {
		switch g.Kind {
		case "config":
			config.add(g)
		case "documents":
			documents.add(g)
		case "files": // counted by the test of the real site
			if g.Failed > 0 {
				t.Errorf("files: %+v", g)
			}
		}
	}
	return config, documents
}

func (s *server) importing(ctx context.Context, dir, token string) result {
	return runUntil(ctx, nil, "import", "elasticms", dir, "--server", s.base, "--token", token, "--json")
}

func fresh(t *testing.T) (s *server, token string) {
	t.Helper()
	s = serve(t, variables(filepath.Join(t.TempDir(), "data")))
	return s, s.token()
}

func TestImport(t *testing.T) {
	s, token := fresh(t)
	r := run(t, []string{"QUOIN_SERVER=" + s.base, "QUOIN_TOKEN=" + token}, "import", "elasticms", "testdata/export")
	if r.err != nil || !strings.Contains(r.out, "KIND") || !strings.Contains(r.log, "5/5 article") {
		t.Fatalf("%+v", r)
	}
	checkRows(t, r.out, []string{"config environment 1 0 0 0", "config content-type 1 0 0 0", "documents article 3 0 0 0"})
	file, err := os.ReadFile("testdata/export/document/article/third.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, body := s.get("/api/data/article/third", token); !sameDocument(t, body, file) {
		t.Errorf("%s is not %s", body, file)
	}

	r = s.importing(t.Context(), "testdata/export", token)
	if config, documents := report(t, r); r.err != nil || config.Unchanged != 2 || documents.Unchanged != 3 || config.Created+config.Updated+documents.Created+documents.Updated != 0 {
		t.Errorf("a second time: %+v %+v %v", config, documents, r.err)
	}

	changed := copyOf(t, "testdata/export")
	put(t, filepath.Join(changed, "document/article/first.json"), `{"title":"Changed"}`)
	put(t, filepath.Join(changed, "document/article/fourth.json"), `{"title":"New"}`)
	r = s.importing(t.Context(), changed, token)
	if _, d := report(t, r); r.err != nil || d.Created != 1 || d.Updated != 1 || d.Unchanged != 2 {
		t.Errorf("a changed export: %+v %v", d, r.err)
	}
}

func checkRows(t *testing.T, out string, rows []string) {
	t.Helper()
	for _, want := range rows {
		found := false
		for line := range strings.Lines(out) {
			found = found || strings.Join(strings.Fields(line), " ") == want
		}
		if !found {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// sameDocument compares an answer with a file, but for what servers add.
func sameDocument(t *testing.T, answer string, file []byte) bool {
	t.Helper()
	revision, ok := rawjson.Get([]byte(answer), "revision")
	if !ok {
		return false
	}
	system := []string{"_contenttype", "_finalization_datetime", "_finalized_by", "_sha1", "_published_datetime", "_signature"}
	return rawjson.Equal(rawjson.Without(nil, revision, system...), rawjson.Without(nil, file, system...))
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "export")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestImportOfABrokenExport(t *testing.T) {
	s, token := fresh(t)
	dir := copyOf(t, "testdata/export")
	put(t, filepath.Join(dir, "document/article/broken.json"), `{"title":`)
	put(t, filepath.Join(dir, "document/article/twice.json"), `{"title":"a","title":"b"}`)
	put(t, filepath.Join(dir, "document/article/list.json"), `[1]`)
	put(t, filepath.Join(dir, "document/article/untitled.json"), `{"body":"x"}`)
	put(t, filepath.Join(dir, "document/mystery/x.json"), `{"title":"x"}`)
	put(t, filepath.Join(dir, "admin/sorcery/x.json"), `{"class":"x","arguments":[],"properties":{"name":"x"},"replaced":[]}`)
	put(t, filepath.Join(dir, "admin/content-type/nonsense.json"), `{"class":"x","arguments":[],"properties":{"name":"nonsense"},"replaced":[]}`)
	r := s.importing(t.Context(), dir, token)
	config, documents := report(t, r)
	if r.err == nil || !strings.Contains(r.err.Error(), "7 of the files failed") || config.Created != 2 || documents.Created != 3 {
		t.Errorf("%v %+v %+v", r.err, config, documents)
	}
	for file, why := range map[string]string{
		"broken.json": "JSON", "twice.json": "twice", "list.json": "must be a JSON object", "untitled.json": "title",
		"mystery/x.json": "mystery", "sorcery/x.json": "sorcery", "nonsense.json": "",
	} {
		found := false
		for _, f := range append(config.Failures, documents.Failures...) {
			found = found || strings.HasSuffix(f.File, file) && strings.Contains(f.Why, why) && f.Why != ""
		}
		if !found {
			t.Errorf("%s: no failure that says %q in %+v %+v", file, why, config.Failures, documents.Failures)
		}
		if !strings.Contains(r.log, file) {
			t.Errorf("%s is not told to the person: %s", file, r.log)
		}
	}
}

// TestImportOfAnOddFolder imports from a folder whose name would be a pattern,
// with a file of JSON among the assets and documents behind a link.
func TestImportOfAnOddFolder(t *testing.T) {
	s, token := fresh(t)
	parent := copyOf(t, "testdata/export")
	dir := filepath.Join(filepath.Dir(parent), "export [1]")
	if err := os.Rename(parent, dir); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "admin/assets/site.json"), `{"an":"asset"}`)
	elsewhere := filepath.Join(t.TempDir(), "article")
	if err := os.Rename(filepath.Join(dir, "document/article"), elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "document/article")); err != nil {
		t.Fatal(err)
	}
	r := s.importing(t.Context(), dir, token)
	if config, documents := report(t, r); r.err != nil || config.Created != 2 || documents.Created != 3 || !strings.Contains(r.out, `"assets"`) {
		t.Errorf("%v %+v %+v", r.err, config, documents)
	}
}

func TestImportSaysWhyItCannotBegin(t *testing.T) {
	s, token := fresh(t)
	reader := strings.TrimSpace(must(t, s.vars, "token", "create", nobody(t, s)))
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	for _, c := range []struct{ name, dir, server, token, says string }{
		{"no folder", "/nowhere", s.base, token, "/nowhere holds neither admin/<entity>/*.json nor document/"},
		{"empty folder", t.TempDir(), s.base, token, "holds neither"},
		{"bad token", "testdata/export", s.base, "qn_wrong", "refuses the token"},
		{"weak token", "testdata/export", s.base, reader, "ROLE_API"},
		{"no server", "testdata/export", "http://127.0.0.1:1", token, "no server at http://127.0.0.1:1"},
		{"a password in it", "testdata/export", "http://me:secret@127.0.0.1:1", token, "no server at http://me:xxxxx@127.0.0.1:1"},
		{"no address", "testdata/export", "127.0.0.1:8080", token, "no server at 127.0.0.1:8080"},
		{"another server", "testdata/export", other.URL, token, "is this the right server?"},
	} {
		r := run(t, nil, "import", "elasticms", c.dir, "--server", c.server, "--token", c.token)
		if r.err == nil || !strings.Contains(r.err.Error(), c.says) || strings.Contains(r.err.Error(), "secret") || r.out != "" {
			t.Errorf("%s: %v %q", c.name, r.err, r.out)
		}
	}
}

// nobody makes a user without roles and gives the name.
func nobody(t *testing.T, s *server) string {
	t.Helper()
	must(t, s.vars, "user", "create", "reader")
	return "reader"
}

// TestAnInterruptedImportGoesOnWhereItStopped cuts an import in the middle of
// its documents, and of its configuration.
func TestAnInterruptedImportGoesOnWhereItStopped(t *testing.T) {
	for _, after := range []int64{2, 9} {
		s, token := fresh(t)
		ctx, cancel := context.WithCancel(t.Context())
		var writes atomic.Int64
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && writes.Add(1) == after {
				cancel()
				return
			}
			forward(w, r, s.base)
		}))
		dir := copyOf(t, "testdata/export")
		for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
			put(t, filepath.Join(dir, "document/article/"+name+".json"), `{"title":"`+name+`"}`)
		}
		r := runUntil(ctx, nil, "import", "elasticms", dir, "--server", front.URL, "--token", token, "--json", "--parallel", "2")
		front.Close()
		if r.err == nil || !strings.Contains(r.err.Error(), "interrupted") {
			t.Fatalf("%v", r.err)
		}
		config, documents := report(t, r)
		done := config.Created + documents.Created
		if config.Failed+documents.Failed != 0 || done == 0 || done >= 31 {
			t.Errorf("what was cut off has not failed: %+v %+v", config, documents)
		}
		r = s.importing(t.Context(), dir, token)
		config, documents = report(t, r)
		if r.err != nil || documents.Created+documents.Unchanged != 29 || documents.Updated != 0 || documents.Created == 0 {
			t.Errorf("the next run: %+v %+v %v", config, documents, r.err)
		}
		if config, documents = report(t, s.importing(t.Context(), dir, token)); config.Unchanged != 2 || documents.Unchanged != 29 {
			t.Errorf("the run after it: %+v %+v", config, documents)
		}
	}
}

// forward hands a request on to the real server.
func forward(w http.ResponseWriter, r *http.Request, base string) {
	out := r.Clone(r.Context())
	out.RequestURI = ""
	u, err := out.URL.Parse(base + r.URL.RequestURI())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	out.URL, out.Host = u, u.Host
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

func TestImportOfARealSite(t *testing.T) {
	dir := filepath.Join(testkit.Data(t), "elasticms-demo")
	for name, vars := range map[string]func(t *testing.T) []string{
		"sqlite": func(t *testing.T) []string { return variables(filepath.Join(t.TempDir(), "data")) },
		"postgres": func(t *testing.T) []string {
			return variables(t.TempDir(), "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, vars(t))
			token := s.token()
			r := s.importing(t.Context(), dir, token)
			config, documents := report(t, r)
			if r.err != nil || documents.Created != 186 || documents.Failed+config.Failed != 0 {
				t.Fatalf("%v %+v %+v", r.err, config, documents)
			}
			if _, body := s.get("/api/admin/content-types", token); strings.Count(body, ",") != 14 {
				t.Errorf("15 content types: %s", body)
			}
			again, docs := report(t, s.importing(t.Context(), dir, token))
			if docs.Unchanged != 186 || again.Unchanged != config.Created+config.Updated {
				t.Errorf("a second time: %+v %+v", again, docs)
			}
			files, err := filepath.Glob(filepath.Join(dir, "document/*/*.json"))
			if err != nil || len(files) != 186 {
				t.Fatalf("%d files, %v", len(files), err)
			}
			for _, name := range files {
				file, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				path := "/api/data/" + filepath.Base(filepath.Dir(name)) + "/" + strings.TrimSuffix(filepath.Base(name), ".json")
				if _, body := s.get(path, token); !sameDocument(t, body, file) {
					t.Errorf("%s does not read back as its file", path)
				}
			}
		})
	}
}
