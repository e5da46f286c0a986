package file_test

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the name of files
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/blob/place"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/modules/file"
)

// server is the module behind real HTTP on a real database and storage.
type server struct {
	testing.TB
	*file.Service
	db      *db.DB
	blobs   blob.Store
	clock   *testkit.Clock
	url     string
	client  *http.Client
	holder  *holder
	handler http.Handler
}

// places runs a test on SQLite with a folder, and on PostgreSQL with a bucket.
func places(t *testing.T, test func(t *testing.T, s *server)) {
	t.Parallel()
	t.Run("sqlite and a folder", func(t *testing.T) { test(t, serve(t, nil)) })
	t.Run("postgres and a bucket", func(t *testing.T) {
		test(t, serveOn(t, open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())}), bucket(t, testkit.MinIO(t)), nil))
	})
}

func open(t testing.TB, c db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), c)
	if err == nil {
		_, err = d.Migrate(t.Context(), file.Sources())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func bucket(t testing.TB, address string) blob.Store {
	t.Helper()
	s, err := place.Open(address, 0)
	if err == nil {
		err = s.Check(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve starts the module on a fresh SQLite file and a fresh folder.
func serve(t testing.TB, config func(*file.Config)) *server {
	dir := t.TempDir()
	return serveOn(t, open(t, db.Config{Path: filepath.Join(dir, "quoin.db")}), bucket(t, filepath.Join(dir, "files")), config)
}

func serveOn(t testing.TB, d *db.DB, b blob.Store, config func(*file.Config)) *server {
	t.Helper()
	c := file.Defaults()
	if config != nil {
		config(c)
	}
	s := &server{TB: t, db: d, blobs: b, clock: testkit.NewClock(time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)), holder: &holder{}}
	service, err := file.New(file.Options{DB: d, Blobs: b, Config: c, Holders: []port.FileHolder{s.holder}, Log: telemetry.Discard(), Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	s.Service = service
	router, err := web.New(web.Options{Log: telemetry.New(t.Output(), telemetry.Config{Level: "error"}), Authenticator: users{}, Operations: file.Operations(service), MaxBody: 1 << 20, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s.handler = webtest.Checked(t, router)
	h := httptest.NewServer(s.handler)
	t.Cleanup(h.Close)
	s.url, s.client = h.URL, &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	return s
}

// holder is a module whose data names files.
type holder struct{ texts []string }

// FileTexts implements port.FileHolder.
func (h *holder) FileTexts(_ context.Context, fn func([]byte) error) error {
	for _, text := range h.texts {
		if err := fn([]byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// users knows every token: it is the name of a user.
type users struct{}

// Authenticate implements auth.Authenticator.
func (users) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	switch token {
	case "stranger":
		return nil, problem.New(problem.Unauthenticated, "Authentication failed")
	case "noapi":
		return auth.New(auth.Identity{Username: token, Granted: []string{auth.RoleAdmin}}), nil
	}
	return auth.New(auth.Identity{Username: token, Granted: []string{auth.RoleAPI}}), nil
}

// answer is what came back.
type answer struct {
	t      testing.TB
	call   string
	status int
	header http.Header
	body   []byte
}

// try sends a request; headers come in pairs.
func (s *server) try(ctx context.Context, as, method, path string, body io.Reader, headers ...string) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return nil, err
	}
	if as != "" {
		req.Header.Set("X-Auth-Token", as)
	}
	req.Header.Set("Content-Type", "application/json") // as the PHP client does, on everything
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(res.Body)
	return &answer{s.TB, fmt.Sprintf("%s %s as %q", method, path, as), res.StatusCode, res.Header, text}, errors.Join(err, res.Body.Close())
}

// call is try for what has to be answered.
func (s *server) call(as, method, path string, body []byte, headers ...string) *answer {
	s.Helper()
	var r io.Reader
	if body != nil {
		r = bytes.NewReader(body)
	}
	a, err := s.try(s.Context(), as, method, path, r, headers...)
	if err != nil {
		s.Fatal(err)
	}
	return a
}

func (s *server) get(path string, headers ...string) *answer {
	s.Helper()
	return s.call("ada", http.MethodGet, path, nil, headers...)
}

// is checks the status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d, want %d: %.500s", a.call, a.status, status, a.body)
	}
	return a
}

// state decodes the answer to a call about an upload.
func (a *answer) state() file.State {
	a.t.Helper()
	var st file.State
	if err := json.Unmarshal(a.body, &st); err != nil {
		a.t.Fatalf("%s: %v: %s", a.call, err, a.body)
	}
	return st
}

// failed checks that an upload was refused in the way of the API.
func (a *answer) failed(code string) file.State {
	a.t.Helper()
	st := a.state()
	if st.Success || !st.Acknowledged || st.Available || st.Code != code || len(st.Error) != 1 || st.Error[0] == "" {
		a.t.Errorf("%s: want the code %s: %s", a.call, code, a.body)
	}
	return st
}

// init announces data as the user.
func (s *server) init(as string, data []byte, name string) file.State {
	s.Helper()
	st := s.announce(as, hashOf(data), len(data), name).is(200).state()
	if !st.Success {
		s.Fatalf("%+v", st)
	}
	return st
}

func (s *server) announce(as, hash string, size int, name string) *answer {
	s.Helper()
	body, err := json.Marshal(map[string]any{"hash": hash, "size": size, "name": name, "type": "image/png"})
	if err != nil {
		s.Fatal(err)
	}
	return s.call(as, http.MethodPost, "/api/file/init-upload", body)
}

func (s *server) chunk(as, hash string, data []byte, headers ...string) *answer {
	s.Helper()
	if data == nil {
		data = []byte{}
	}
	return s.call(as, http.MethodPost, "/api/file/upload-chunk/"+hash, data, headers...)
}

// upload sends data as the clients there are do: in chunks, one after the
// other, whatever is answered in between.
func (s *server) upload(as string, data []byte, chunk int) (file.State, error) {
	st := s.init(as, data, "a.png")
	for rest := data[st.Uploaded:]; len(rest) > 0; {
		n := min(chunk, len(rest))
		a, err := s.try(s.Context(), as, http.MethodPost, "/api/file/chunk/"+st.Hash, bytes.NewReader(rest[:n]))
		if err != nil {
			return st, err
		}
		if st = a.state(); a.status != 200 || !st.Success {
			return st, fmt.Errorf("%d %s", a.status, a.body)
		}
		rest = rest[n:]
	}
	if st.Uploaded != st.Size || !st.Available {
		return st, fmt.Errorf("not complete after everything was sent: %+v", st)
	}
	return st, nil
}

// holds checks that the file is served and is what it was.
func (s *server) holds(data []byte) {
	s.Helper()
	if a := s.call("", http.MethodGet, "/data/file/"+hashOf(data), nil).is(200); !bytes.Equal(a.body, data) {
		s.Errorf("%d bytes came back instead of %d", len(a.body), len(data))
	}
}

// clean checks that nothing is left of uploads, and how many files there are.
func (s *server) clean(files int) {
	s.Helper()
	stages := 0
	err := s.blobs.(blob.Stager).Stages(s.Context(), func(i blob.Info) error { stages++; return nil })
	n := 0
	err = errors.Join(err, s.blobs.List(s.Context(), func(blob.Info) error { n++; return nil }))
	var rows, objects int
	err = errors.Join(err, s.db.Row(s.Context(), db.SQL(`SELECT count(*) FROM file_upload`)).Scan(&rows))
	err = errors.Join(err, s.db.Row(s.Context(), db.SQL(`SELECT count(*) FROM file_object`)).Scan(&objects))
	if err != nil {
		s.Fatal(err)
	}
	if stages != 0 || rows != 0 || n != files || objects != files {
		s.Errorf("%d stages, %d uploads, %d blobs, %d files; want %d files only", stages, rows, n, objects, files)
	}
}

func hashOf(data []byte) string {
	sum := sha1.Sum(data) //nolint:gosec // the name of files
	return hex.EncodeToString(sum[:])
}

// random gives bytes that do not repeat.
func random(n int, seed byte) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b) // never fails
	return b
}

// form makes the body of a multipart upload.
func form(t testing.TB, field, name, typ string, data []byte, fields ...string) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	head := map[string][]string{"Content-Disposition": {`form-data; name="` + field + `"; filename="` + strings.ReplaceAll(name, `"`, `\"`) + `"`}}
	if typ != "" {
		head["Content-Type"] = []string{typ}
	}
	part, err := w.CreatePart(head)
	if err == nil {
		_, err = part.Write(data)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		err = errors.Join(err, w.WriteField(fields[i], fields[i+1]))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.FormDataContentType()
}

// post uploads data in one piece.
func (s *server) post(name, typ string, data []byte, fields ...string) file.Stored {
	s.Helper()
	body, contentType := form(s, "upload", name, typ, data, fields...)
	var st file.Stored
	if err := json.Unmarshal(s.call("ada", http.MethodPost, "/api/file/upload", body, "Content-Type", contentType).is(200).body, &st); err != nil {
		s.Fatal(err)
	}
	return st
}

// eventually waits for what another goroutine of the server does.
func eventually(t testing.TB, cond func() bool) {
	t.Helper()
	testkit.Eventually(t, cond)
}
