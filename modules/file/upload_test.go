package file_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/modules/file"
)

func TestUploadInChunks(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := random(12<<20, 1)
		hash := hashOf(data)
		st := s.init("ada", data, "a b.png")
		want := file.State{
			Acknowledged: true, Success: true, SHA1: hash, Hash: hash, Algo: "sha1", Type: "image/png", Name: "a b.png", Size: 12 << 20, Status: "created", User: "ada", FileName: "a b.png",
			PreviewURL: "/data/file/view/" + hash + "?name=a+b.png&type=image%2Fpng", ChunkURL: "/api/file/chunk/" + hash, URL: "/data/file/view/" + hash + "?name=a+b.png&type=image%2Fpng",
		}
		if got, _ := json.Marshal(st); string(got) != marshal(t, want) {
			t.Errorf("%s\nwant %s", got, marshal(t, want))
		}
		for _, n := range []int{5 << 20, 7, 1, 5 << 20} {
			want.Uploaded += int64(n)
			st = s.chunk("ada", hash, data[want.Uploaded-int64(n):want.Uploaded]).is(200).state()
			if marshal(t, st) != marshal(t, want) {
				t.Fatalf("%s\nwant %s", marshal(t, st), marshal(t, want))
			}
			s.call("ada", http.MethodHead, "/api/file/"+hash, nil).is(404)
		}
		if again := s.init("ada", data, "a b.png"); again.Uploaded != want.Uploaded || again.Available {
			t.Errorf("resume: %+v", again)
		}
		if other := s.init("bob", data, "b.png"); other.Uploaded != 0 {
			t.Errorf("another user: %+v", other)
		}
		st = s.call("ada", http.MethodPost, st.ChunkURL, data[want.Uploaded:]).is(200).state()
		if !st.Available || st.Uploaded != 12<<20 {
			t.Fatalf("%+v", st)
		}
		s.holds(data)
		for _, more := range [][]byte{nil, data[:5]} { // one more chunk, as old clients send it
			if st := s.chunk("ada", hash, more).is(200).state(); !st.Success || !st.Available || st.Uploaded != 12<<20 {
				t.Errorf("%+v", st)
			}
		}
		if st := s.chunk("bob", hash, data[:1<<20]).is(200).state(); !st.Available { // it is there by now
			t.Errorf("%+v", st)
		}
		if st := s.init("eve", data, "c.png"); !st.Available || st.Uploaded != st.Size {
			t.Errorf("init of a file that is there: %+v", st)
		}
		s.clean(1)
	})
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The old form has the hash and the size in its path, and the rest in its body.
func TestInitInTheOldForm(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for i, c := range []struct {
		query, body string
		name, typ   string
	}{
		{"", `{"name":"a b.png","type":"image/png"}`, "a b.png", "image/png"},
		{"", `{"name":"a b.png","type":null,"algo":"sha1","other":1}`, "a b.png", "application/bin"},
		{"?name=c.png&type=image/webp", `[]`, "c.png", "image/webp"},
		{"?name=c.png&type=image/webp", `{"name":"a b.png"}`, "a b.png", "image/webp"},
		{"", ``, "upload.bin", "application/bin"},
	} {
		data := []byte{byte(i)}
		path := "/api/file/init-upload/" + hashOf(data) + "/1"
		st := s.call("ada", http.MethodPost, path+c.query, []byte(c.body)).is(200).state()
		if !st.Success || st.Name != c.name || st.Type != c.typ || st.Size != 1 {
			t.Errorf("%s %s: %+v", c.query, c.body, st)
		}
		if st := s.chunk("ada", st.Hash, data).is(200).state(); !st.Available {
			t.Errorf("%+v", st)
		}
	}
	path := "/api/file/init-upload/" + hashOf(nil) + "/0"
	if st := s.call("ada", http.MethodPost, path, []byte(`{"algo":"sha256"}`)).is(200).state(); st.Success || st.Code != "unknown_algorithm" {
		t.Errorf("%+v", st)
	}
	for _, body := range []string{`{`, `[1]`, `{"name":5}`, `"x"`} {
		s.call("ada", http.MethodPost, path, []byte(body)).is(400)
	}
}

func TestEmptyFiles(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		if st := s.init("ada", nil, "empty.txt"); !st.Available || st.Uploaded != 0 || st.Size != 0 {
			t.Errorf("%+v", st)
		}
		if st := s.chunk("ada", hashOf(nil), nil).is(200).state(); !st.Available {
			t.Errorf("%+v", st)
		}
		s.holds([]byte{})
		s.announce("ada", strings.Repeat("0", 40), 0, "x").is(200).failed("hash_mismatch")
		s.clean(1)
	})
}

func TestEveryAlgorithm(t *testing.T) {
	t.Parallel()
	for name, hash := range map[string]string{
		"sha1":   "430ce34d020724ed75a196dfc2ad67c77772d169",
		"sha256": "7509e5bda0c762d2bac7f90d758b5b2263fa01ccbc542ab5e3df163be08e6ca9",
		"blake3": "3aa61c409fd7717c9d9c639202af2fae470c0ef669be7ba2caea5779cb534e9d",
	} {
		s := serve(t, func(c *file.Config) { c.Hash = name })
		if a := s.get("/api/file/hash-algo").is(200); string(bytes.TrimSpace(a.body)) != `{"hash_algo":"`+name+`"}` {
			t.Errorf("%s", a.body)
		}
		s.announce("ada", hash, 12, "x").is(200)
		s.chunk("ada", hash, []byte("hello w")).is(200)
		s.chunk("ada", hash, []byte("orld")).is(200)
		if st := s.chunk("ada", hash, []byte("!")).is(200).state(); !st.Available {
			t.Errorf("%s: %+v", name, st)
		}
		body, contentType := form(t, "upload", "x", "", []byte("hello world!"))
		var stored file.Stored
		if err := json.Unmarshal(s.call("ada", http.MethodPost, "/api/file/upload", body, "Content-Type", contentType).is(200).body, &stored); err != nil || stored.Hash != hash || stored.Algo != name {
			t.Errorf("%+v %v", stored, err)
		}
		s.clean(1)
	}
}

// TestAServerThatStartsAgain goes on with uploads of the one before it, with
// the state of the hash and without.
func TestAServerThatStartsAgain(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := random(11<<20, 2)
		s.init("ada", data, "x")
		s.chunk("ada", hashOf(data), data[:6<<20]).is(200)
		s2 := serveOn(t, s.db, s.blobs, nil)
		if st := s2.init("ada", data, "x"); st.Uploaded != 6<<20 {
			t.Fatalf("%+v", st)
		}
		s2.chunk("ada", hashOf(data), data[6<<20:7<<20]).is(200)
		if _, err := s.db.Exec(t.Context(), db.SQL(`UPDATE file_upload SET state = ''`)); err != nil {
			t.Fatal(err)
		}
		if st := s2.chunk("ada", hashOf(data), data[7<<20:]).is(200).state(); !st.Available {
			t.Fatalf("%+v", st)
		}
		s2.holds(data)
		s2.clean(1)
	})
}

// TestManyClientsOfOneFile send one file at once, under one name and under
// many, in chunks of different sizes.
func TestManyClientsOfOneFile(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		for round, as := range []func(i int) string{func(int) string { return "ada" }, func(i int) string { return fmt.Sprint("user", i/2) }} {
			data := random(6<<20, byte(10+round))
			var all sync.WaitGroup
			for i := range 10 {
				all.Go(func() {
					if _, err := s.upload(as(i), data, (i%3+1)*700_000); err != nil {
						t.Errorf("client %d of round %d: %v", i, round, err)
					}
				})
			}
			all.Wait()
			s.holds(data)
		}
		zeros := make([]byte, 3<<20) // every chunk is alike
		for range 2 {
			if _, err := s.upload("ada", zeros, 1<<20); err != nil {
				t.Error(err)
			}
		}
		s.clean(3)
	})
}

// TestClientsTakeTurns has one client go ahead of another, which repeats what
// is there, goes beyond it, and overtakes.
func TestClientsTakeTurns(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := random(100_000, 3)
		hash := hashOf(data)
		s.init("ada", data, "x")
		s.init("ada", data, "x")
		for i, step := range []struct{ from, to, uploaded int }{
			{0, 30_000, 30_000},      // the first client
			{0, 10_000, 10_000},      // the second
			{30_000, 40_000, 40_000}, // the first
			{10_000, 35_000, 35_000},
			{35_000, 60_000, 60_000}, // the second goes beyond
			{40_000, 50_000, 50_000}, // the first is behind now
			{60_000, 99_000, 99_000},
			{50_000, 100_000, 100_000},
		} {
			st := s.chunk("ada", hash, data[step.from:step.to]).is(200).state()
			if int(st.Uploaded) != step.uploaded || st.Available != (step.to == len(data)) {
				t.Fatalf("step %d: %+v", i, st)
			}
		}
		if st := s.chunk("ada", hash, data[99_000:]).is(200).state(); !st.Available || int(st.Uploaded) != len(data) {
			t.Errorf("%+v", st)
		}
		s.holds(data)
		s.clean(1)
	})
}

// TestKilledBeforeTheEnd: a process that dies after the bytes came into their
// place, and before the database knows of the file, loses nothing.
func TestKilledBeforeTheEnd(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		for i, data := range [][]byte{random(200_000, 21), random(1, 22)} {
			st := s.init("ada", data, "x.png")
			var stage string
			if err := s.db.Row(t.Context(), db.SQL(`SELECT id FROM file_upload WHERE hash = ?`), st.Hash).Scan(&stage); err != nil {
				t.Fatal(err)
			}
			stager := s.blobs.(blob.Stager)
			_, err := stager.Append(t.Context(), stage, 0, bytes.NewReader(data), int64(len(data)), false)
			if err = errors.Join(err, stager.Publish(t.Context(), stage, st.Hash, int64(len(data)))); err != nil {
				t.Fatal(err)
			}
			if _, err := s.db.Exec(t.Context(), db.SQL(`UPDATE file_upload SET uploaded = size WHERE id = ?`), stage); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				st = s.init("ada", data, "x.png")
			} else {
				st = s.chunk("ada", st.Hash, data).is(200).state()
			}
			if !st.Success || !st.Available {
				t.Fatalf("%+v", st)
			}
			s.holds(data)
			s.clean(i + 1)
		}
	})
}

// TestBytesInPlaceThatAreOthers: what stands where the bytes of an upload should
// be, and is something else, is not taken for them.
func TestBytesInPlaceThatAreOthers(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := random(200_000, 23)
		st := s.init("ada", data, "x.png")
		if err := s.blobs.Put(t.Context(), st.Hash, bytes.NewReader(make([]byte, len(data))), int64(len(data))); err != nil {
			t.Fatal(err)
		}
		if _, err := s.db.Exec(t.Context(), db.SQL(`UPDATE file_upload SET uploaded = size`)); err != nil {
			t.Fatal(err)
		}
		if st := s.announce("ada", st.Hash, len(data), "x.png").is(200).state(); st.Success || st.Available || st.Code != "no_upload" {
			t.Errorf("%+v", st)
		}
		if st, err := s.upload("ada", data, 100_000); err != nil || !st.Available {
			t.Errorf("%+v %v", st, err)
		}
		s.holds(data)
		s.clean(1)
	})
}

// TestAClientThatStandsStill in the middle of a chunk does not hold up another
// one of the same user.
func TestAClientThatStandsStill(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := random(2<<20, 4)
		hash := hashOf(data)
		s.init("ada", data, "x")
		s.chunk("ada", hash, data[:500_000]).is(200)
		slow, w := io.Pipe()
		done := make(chan error, 1)
		go func() {
			_, err := s.try(t.Context(), "ada", http.MethodPost, "/api/file/chunk/"+hash, slow)
			done <- err
		}()
		if _, err := w.Write(data[500_000:600_000]); err != nil { // more than the server buffers: it has begun
			t.Fatal(err)
		}
		if st := s.init("ada", data, "x"); st.Uploaded != 500_000 {
			t.Fatalf("%+v", st)
		}
		if st := s.chunk("ada", hash, data[500_000:1_000_000]).is(200).state(); st.Uploaded != 1_000_000 {
			t.Fatalf("%+v", st)
		}
		if st := s.chunk("ada", hash, data[1_000_000:]).is(200).state(); !st.Available {
			t.Fatalf("%+v", st)
		}
		s.holds(data)
		if err := errors.Join(w.Close(), <-done); err != nil {
			t.Error(err)
		}
		s.clean(1)
	})
}

func TestUploadOffset(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := random(20<<20, 5)
		hash := hashOf(data)
		s.init("ada", data, "x")
		at := func(n int) []string { return []string{"Upload-Offset", fmt.Sprint(n)} }
		s.chunk("ada", hash, data[:1000], at(0)...).is(200)
		for _, wrong := range []int{0, 999, 1001} {
			a := s.chunk("ada", hash, data[:1000], at(wrong)...).is(409)
			if st := a.failed("offset_mismatch"); st.Uploaded != 1000 || a.header.Get("Upload-Offset") != "1000" {
				t.Errorf("%+v %v", st, a.header)
			}
		}
		for _, bad := range []string{"-1", "x", "1.5", "99999999999999999999"} {
			s.chunk("ada", hash, data[:10], "Upload-Offset", bad).is(400)
		}
		// A chunk that breaks off counts as far as it came, when its client knows
		// of offsets.
		broken := func(from, n int) io.Reader {
			return io.MultiReader(bytes.NewReader(data[from:from+n]), iotest.ErrReader(errors.New("the client dies")))
		}
		if a, err := s.try(t.Context(), "ada", http.MethodPost, "/api/file/chunk/"+hash, broken(1000, 3<<20)); err == nil {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a, err := s.try(t.Context(), "ada", http.MethodPost, "/api/file/chunk/"+hash, broken(1000, 18<<20), at(1000)...); err == nil {
			t.Errorf("%d %s", a.status, a.body)
		}
		st := s.settled("ada", data, func(n int64) bool { return n > 1<<20 })
		if st = s.chunk("ada", hash, data[st.Uploaded:], at(int(st.Uploaded))...).is(200).state(); !st.Available {
			t.Errorf("%+v", st)
		}
		s.holds(data)
		s.clean(1)
	})
}

// settled waits until the server has noticed that a client died.
func (s *server) settled(as string, data []byte, ok func(uploaded int64) bool) (st file.State) {
	s.Helper()
	eventually(s, func() bool {
		st = s.init(as, data, "x")
		return ok(st.Uploaded)
	})
	return st
}

func TestUploadsThatAreRefused(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := random(1000, 6)
		hash := hashOf(data)
		post := func(body string) *answer {
			return s.call("ada", http.MethodPost, "/api/file/init-upload", []byte(body))
		}
		for body, status := range map[string]int{
			``: 400, `[]`: 400, `{}`: 400, `{"hash":"` + hash + `"}`: 400, `{"size":5}`: 400, `{"hash":"","size":5}`: 400, `{"hash":"` + hash + `","size":-1}`: 400,
			`{"hash":"` + hash + `","size":"5"}`: 400, `{"hash":"` + hash + `","size":1.5}`: 400, `{"hash":"../../etc/passwd","size":5}`: 400,
			`{"hash":"` + hash[1:] + `","size":5}`: 400, `{"hash":"` + hash + `00","size":5}`: 400, `{"hash":"` + strings.Repeat("g", 40) + `","size":5}`: 400,
			`{"hash":"` + hash + `","size":10737418240}`: 413, `{"hash":"` + hash + `","size":9223372036854775807}`: 413, `{"hash":"` + hash + `","size":1e400}`: 400,
		} {
			if a := post(body); a.status != status || a.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s: %d %s", body, a.status, a.body)
			}
		}
		post(`{"hash":"` + hash + `","size":5,"algo":"md5"}`).is(200).failed("unknown_algorithm")
		s.chunk("ada", hash, data).is(200).failed("no_upload")
		s.chunk("ada", "nonsense", data).is(200).failed("no_upload")
		s.clean(0)

		s.init("ada", data, "x")
		if st := s.chunk("ada", hash, append(data[:1000:1000], 'x')).is(200).failed("too_many_bytes"); st.Uploaded != 0 {
			t.Errorf("%+v", st)
		}
		a, err := s.try(t.Context(), "ada", http.MethodPost, "/api/file/chunk/"+hash, struct{ io.Reader }{bytes.NewReader(random(5000, 1))}) // of unknown length
		if err != nil || a.failed("too_many_bytes").Uploaded != 0 {
			t.Errorf("%v", err)
		}
		s.chunk("ada", hash, data[:400]).is(200)
		s.announce("ada", hash, 999, "x").is(200).failed("size_mismatch")
		s.chunk("ada", hash, random(600, 9)).is(200).failed("hash_mismatch")
		s.chunk("ada", hash, data[400:]).is(200).failed("no_upload")
		s.clean(0)

		s.announce("ada", hash, 999, "x").is(200) // nothing came yet: the size may be mended
		if st := s.init("ada", data, "x"); st.Uploaded != 0 {
			t.Errorf("%+v", st)
		}
		s.chunk("ada", hash, data).is(200)
		s.announce("ada", hash, 999, "x").is(200).failed("size_mismatch")
		s.holds(data)
		s.clean(1)
	})
}

func TestRights(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	st := s.post("a.txt", "text/plain", []byte("hello"))
	for _, path := range []string{"GET /api/file/hash-algo", "POST /api/file/heads", "GET /api/file/" + st.Hash, "HEAD /api/file/" + st.Hash, "GET /api/file/view/" + st.Hash,
		"GET /api/file/info/" + st.Hash, "POST /api/file/upload", "POST /api/file/init-upload", "POST /api/file/chunk/" + st.Hash, "POST /api/file/upload-chunk/" + st.Hash} {
		method, path, _ := strings.Cut(path, " ")
		s.call("", method, path, nil).is(401)
		s.call("stranger", method, path, nil).is(401)
		s.call("noapi", method, path, nil).is(403)
	}
	for _, path := range []string{"/data/file/", "/public/file/", "/data/file/view/"} {
		for _, as := range []string{"", "stranger", "noapi", "ada"} {
			if a := s.call(as, http.MethodGet, path+st.Hash, nil).is(200); a.header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
				t.Error(a.header)
			}
		}
	}
	closed := serveOn(t, s.db, s.blobs, func(c *file.Config) { c.Public = false })
	closed.call("", http.MethodGet, "/data/file/"+st.Hash, nil).is(401)
	if a := closed.call("ada", http.MethodGet, "/data/file/"+st.Hash, nil).is(200); a.header.Get("Cache-Control") != "private, max-age=31536000, immutable" {
		t.Error(a.header)
	}
}
