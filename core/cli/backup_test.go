package cli_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/backup"
	"github.com/quoin-cms/quoin/core/testkit"
)

// TestBackupMovesAnInstallation saves a server that is written to, makes an
// installation on the other backends of it, and compares all that is stored.
func TestBackupMovesAnInstallation(t *testing.T) {
	// No webhook is called while the answers about it are compared.
	const quiet = "QUOIN_WEBHOOK__VALIDATION_DELAY=24h"
	grown := func(t *testing.T) []string {
		return variables(filepath.Join(t.TempDir(), "data"), quiet, "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()), "QUOIN_BLOB__URL="+testkit.MinIO(t))
	}
	single := func(t *testing.T) []string { return variables(filepath.Join(t.TempDir(), "data"), quiet) }
	t.Run("from SQLite and a folder to PostgreSQL and MinIO", func(t *testing.T) { move(t, single(t), grown(t)) })
	t.Run("from PostgreSQL and MinIO to SQLite and a folder", func(t *testing.T) { move(t, grown(t), single(t)) })
}

func move(t *testing.T, from, to []string) {
	s := serve(t, from, "--samples")
	token := s.token()
	file := s.upload(token, "photo.bin", bytes.Repeat([]byte("quoin"), 100_000))
	var form struct {
		ID string `json:"submission_id"`
	}
	s.send(token, "POST", "/api/forms/submissions", `{"form_name":"contact","instance":"web","locale":"fr","data":{"nul":"\u0001 é 🙂","n":1.0},
		"files":[{"filename":"a.txt","mimeType":"text/plain","base64":"`+base64.StdEncoding.EncodeToString([]byte("hello"))+`","size":"5","form_field":"f"}]}`, &form)
	var hook struct{ ID string }
	s.send(token, "POST", "/api/webhook-subscriptions", `{"endpointUrl":"https://example.org/a","events":["content.delete"],"environments":["live"]}`, &hook)
	for _, label := range []string{"first", "second", "third"} {
		s.send(token, "POST", "/api/data/page/index/kept", `{"label":"`+label+`"}`, nil)
	}
	s.send(token, "POST", "/api/data/page/publish/kept/live", `[]`, nil)
	s.send(token, "POST", "/api/admin/job/create", `{"command":"x","tag":"t"}`, nil)
	answers := s.answers(token, form.ID, file, hook.ID)
	load := s.underLoad(token)
	load.reach(t, 50)
	path := filepath.Join(t.TempDir(), "quoin.zip")
	out := must(t, from, "backup", "create", path)
	n := load.count()
	load.reach(t, n+1) // the server still writes
	load.end()
	if !strings.HasPrefix(out, "Saved ") || !strings.Contains(must(t, from, "backup", "verify", path), "The backup is whole") {
		t.Errorf("%s", out)
	}
	consistent(t, path)
	if r := run(t, from, "backup", "restore", path); r.err == nil {
		t.Error("restored into a server that runs")
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	if r := run(t, from, "backup", "restore", path); r.err == nil || !strings.Contains(r.err.Error(), "the database is in use") {
		t.Errorf("%v", r.err)
	}
	must(t, to, "backup", "restore", path)
	again := filepath.Join(t.TempDir(), "again.zip")
	must(t, to, "backup", "create", again)
	same(t, path, again)
	s = serve(t, to)
	for path, answer := range s.answers(token, form.ID, file, hook.ID) {
		if answer != answers[path] {
			t.Errorf("%s answered\n%s\nand answers now\n%s", path, answers[path], answer)
		}
	}
	if status, body := s.get("/api/file/"+file, token); status != 200 || body != strings.Repeat("quoin", 100_000) {
		t.Errorf("the file: %d, %d bytes", status, len(body))
	}
	if status, body := s.get("/api/forms/submissions/"+form.ID, token); status != 200 || !strings.Contains(body, `1.0`) || !strings.Contains(body, "🙂") {
		t.Errorf("the submission: %d %s", status, body)
	}
	var created struct{ OUUID string }
	s.send(token, "POST", "/api/data/page/index?refresh=true", `{"label":"after"}`, &created)
	if status, body := s.get("/api/data/page/"+created.OUUID, token); status != 200 {
		t.Errorf("a new document: %d %s", status, body)
	}
	var found struct{ Count int }
	s.send(token, "POST", "/api/search/count", `{"search":"{\"indices\":[\"quoin_preview\"],\"query\":{\"match_all\":{}}}"}`, &found)
	if found.Count < 50 {
		t.Errorf("the index holds %d documents", found.Count)
	}
}

// answers are those about what was stored before the load.
func (s *server) answers(token, submission, file, hook string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for _, path := range []string{
		"/api/data/page/kept", "/api/data/page/revisions/kept", "/api/data/page/revisions/kept/1", "/api/webhook-subscriptions/" + hook,
		"/api/forms/submissions/" + submission, "/api/file/info/" + file, "/api/admin/content-type/page", "/api/admin/environment/live", "/api/admin/user/admin", "/api/admin/job/1/status",
	} {
		status, body := s.get(path, token)
		if status != 200 {
			s.t.Errorf("%s: %d %s", path, status, body)
		}
		all[path] = body
	}
	return all
}

func (s *server) send(token, method, path, body string, into any) {
	s.t.Helper()
	s.sendAs(token, method, path, "application/json", strings.NewReader(body), into)
}

func (s *server) sendAs(token, method, path, typ string, body io.Reader, into any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, s.base+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", token)
	req.Header.Set("Content-Type", typ)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		s.t.Errorf("%s %s: %d %s %v", method, path, resp.StatusCode, text, err)
		return
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			s.t.Errorf("%s %s: %v in %s", method, path, err, text)
		}
	}
}

// upload gives the hash of a file.
func (s *server) upload(token, name string, content []byte) string {
	s.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("upload", name)
	if err == nil {
		_, err = part.Write(content)
	}
	if err != nil || w.Close() != nil {
		s.t.Fatal(err)
	}
	var stored struct{ SHA1 string }
	s.sendAs(token, "POST", "/api/file/upload", w.FormDataContentType(), &b, &stored)
	return stored.SHA1
}

// load writes documents and files until it is ended.
type load struct {
	mu   sync.Mutex
	n    int
	stop chan struct{}
	done sync.WaitGroup
}

func (s *server) underLoad(token string) *load {
	l := &load{stop: make(chan struct{})}
	for w := range 4 {
		s.send(token, "POST", "/api/data/page/index/kept-"+strconv.Itoa(w), `{"label":"begin"}`, nil)
		l.done.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-l.stop:
					return
				default:
				}
				s.send(token, "POST", "/api/data/page/index", fmt.Sprintf(`{"label":"page %d of %d","order":%d}`, i, w, i), nil)
				if i%10 == 0 {
					s.upload(token, "f.txt", fmt.Appendf(nil, "file %d of %d", i, w))
				}
				if i%5 == 0 {
					s.send(token, "POST", "/api/data/page/update/kept-"+strconv.Itoa(w), fmt.Sprintf(`{"label":"again %d"}`, i), nil)
					s.send(token, "POST", "/api/forms/submissions", fmt.Sprintf(`{"form_name":"load","instance":"web","locale":"fr","data":{"n":%d}}`, i), nil)
					s.send(token, "POST", "/api/webhook-subscriptions", fmt.Sprintf(`{"endpointUrl":"https://example.org/%d/%d","events":["content.delete"]}`, w, i), nil)
				}
				l.mu.Lock()
				l.n++
				l.mu.Unlock()
			}
		})
	}
	return l
}

func (l *load) count() int { l.mu.Lock(); defer l.mu.Unlock(); return l.n }

func (l *load) reach(t *testing.T, n int) {
	t.Helper()
	testkit.Eventually(t, func() bool { return l.count() >= n })
}

func (l *load) end() { close(l.stop); l.done.Wait() }

// consistent checks that a backup is of one moment: a revision and the event
// that tells of it are written together, and each file that is named is there.
func consistent(t *testing.T, path string) {
	t.Helper()
	told := 0
	for _, e := range rows(t, path, "event") {
		if e["type"] == "content.finalize" {
			told++
		}
	}
	m := manifest(t, path)
	if n := len(rows(t, path, "content_revision")); n < 50 || n != told || m.Blobs.Count < 3 || len(m.Blobs.Missed) != 0 {
		t.Errorf("%d revisions and %d events, %+v", n, told, m.Blobs)
	}
}

func manifest(t *testing.T, path string) backup.Manifest {
	t.Helper()
	a, err := backup.OpenArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	return a.Manifest
}

func rows(t *testing.T, path, table string) []map[string]any {
	t.Helper()
	var names []string
	for _, tab := range manifest(t, path).Tables {
		if tab.Name == table {
			names = tab.Columns
		}
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	f, err := z.Open("tables/" + table + ".ndjson")
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	d := json.NewDecoder(f)
	d.UseNumber()
	for d.More() {
		var values []any
		if err := d.Decode(&values); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, v := range values {
			row[names[i]] = v
		}
		all = append(all, row)
	}
	return all
}

// same compares two backups: the rows of every table and every file.
func same(t *testing.T, one, two string) {
	t.Helper()
	a, b := manifest(t, one), manifest(t, two)
	if len(a.Tables) != len(b.Tables) || len(a.Tables) < 10 {
		t.Fatalf("%d and %d tables", len(a.Tables), len(b.Tables))
	}
	for _, name := range []string{
		"content_config", "content_revision", "content_publication", "file_object", "form_submission", "form_file", "webhook_subscription",
		"user_account", "user_token", "job", "audit_entry", "event",
	} {
		i := slices.IndexFunc(a.Tables, func(t backup.Table) bool { return t.Name == name })
		if i < 0 || a.Tables[i].Rows == 0 {
			t.Errorf("the backup holds nothing of %s: it proves nothing", name)
		}
	}
	for i, x := range a.Tables {
		y := b.Tables[i]
		if x.Name != y.Name || x.Rows != y.Rows || x.SHA256 != y.SHA256 {
			t.Errorf("%s: %d rows with %s, and %s: %d rows with %s", x.Name, x.Rows, x.SHA256, y.Name, y.Rows, y.SHA256)
		}
		if y.Counter < x.Counter && (x.Name == "event" || strings.HasPrefix(x.Name, "content_")) { // SQLite may use the other numbers again
			t.Errorf("%s numbers on from %d instead of %d", x.Name, y.Counter, x.Counter)
		}
	}
	if a.Blobs.Count != b.Blobs.Count || a.Blobs.SHA256 != b.Blobs.SHA256 {
		t.Errorf("files: %+v and %+v", a.Blobs, b.Blobs)
	}
}

func TestADamagedBackupIsRefused(t *testing.T) {
	vars := variables(filepath.Join(t.TempDir(), "data"))
	s := serve(t, vars)
	s.upload(s.token(), "a.txt", []byte("the bytes of a file"))
	path := filepath.Join(t.TempDir(), "quoin.zip")
	must(t, vars, "backup", "create", path)
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	if r := run(t, vars, "backup", "create", path); r.err == nil || !strings.Contains(r.err.Error(), "exists already") {
		t.Errorf("%v", r.err)
	}
	whole, err := os.ReadFile(path) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for name, damaged := range map[string][]byte{
		"cut":     whole[:len(whole)/2],
		"changed": bytes.Replace(whole, []byte("the bytes of a file"), []byte("the bytes of A file"), 1),
		"no file": []byte("hello"),
	} {
		other := filepath.Join(t.TempDir(), "damaged.zip")
		if err := os.WriteFile(other, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		target := variables(filepath.Join(t.TempDir(), "data"))
		if r := run(t, target, "backup", "verify", other); r.err == nil {
			t.Errorf("%s: %s", name, r.out)
		}
		if r := run(t, target, "backup", "restore", other); r.err == nil {
			t.Errorf("%s: restored", name)
		}
		must(t, target, "backup", "restore", path) // nothing was left behind
	}
}

// TestABackupIntoAPipe is for places that files cannot be fetched from, such as
// a container with nothing else in it.
func TestABackupIntoAPipe(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	vars := variables(data)
	if r := run(t, vars, "backup", "create", "-"); r.err == nil || r.out != "" {
		t.Errorf("an installation that is not there gives %d bytes, %v", len(r.out), r.err)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the backup of nothing leaves an installation behind: %v", err)
	}
	must(t, vars, "user", "create", "robot", "--role", "ROLE_API")
	r := run(t, vars, "backup", "create", "-", "--json")
	if r.err != nil || !strings.Contains(r.log, "Saved ") {
		t.Fatalf("%v\n%s", r.err, r.log)
	}
	path := filepath.Join(t.TempDir(), "quoin.zip")
	if err := os.WriteFile(path, []byte(r.out), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, vars, "backup", "verify", path)
	target := variables(filepath.Join(t.TempDir(), "data"))
	must(t, target, "backup", "restore", path)
	if out := must(t, target, "user", "list"); !strings.Contains(out, "robot") {
		t.Errorf("%s", out)
	}
}
