package file_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/file"
)

func TestCollect(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		var hashes []string
		for _, name := range []string{"field", "link", "upper", "escaped", "nobody", "young", "asked"} {
			hashes = append(hashes, s.post(name, "", []byte(name)).Hash)
		}
		s.holder.texts = []string{
			`{"image":{"sha1":"` + hashes[0] + `"}}`, `<a href="ems://asset:` + hashes[1] + `?name=x">`, strings.ToUpper(hashes[2]), `"html":"\u0022` + hashes[3] + `\u0022"`,
		}
		s.clock.Advance(10 * 24 * time.Hour)
		s.post("young", "", []byte("young"))
		s.call("ada", http.MethodPost, "/api/file/heads", []byte(`["`+hashes[6]+`"]`)).is(200)
		for _, dry := range []bool{true, false} {
			r, err := s.Collect(t.Context(), 7*24*time.Hour, dry)
			if err != nil || r.Files != 7 || r.Referred != 4 || r.Young != 2 || r.Removed != 1 || r.RemovedBytes != 6 || !slices.Equal(r.Hashes, hashes[4:5]) {
				t.Fatalf("%+v %v", r, err)
			}
			s.call("ada", http.MethodHead, "/api/file/"+hashes[4], nil).is(map[bool]int{true: 200, false: 404}[dry])
			if dry { // that was a question: it counts
				if _, err := s.db.Exec(t.Context(), db.SQL(`UPDATE file_object SET last_seen_at = first_seen_at WHERE hash = ?`), hashes[4]); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.clean(6)
		s.post("nobody", "", []byte("nobody")) // it may come back
		s.holds([]byte("nobody"))
		if err := s.blobs.Put(t.Context(), strings.Repeat("ab", 20), strings.NewReader("left by a crash"), 15); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(100 * 365 * 24 * time.Hour) // blobs bear the time of the real clock
		r, err := s.Collect(t.Context(), time.Hour, false)
		if err != nil || r.Orphans != 1 || r.OrphanBytes != 15 || r.Removed != 3 {
			t.Errorf("%+v %v", r, err)
		}
		s.clean(4)
	})
}

// TestCollectWithoutAnybodyToAsk: a module that is switched off keeps its files.
func TestCollectWithoutAnybodyToAsk(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.post("x", "", []byte("of a document"))
	alone, err := file.New(file.Options{DB: s.db, Blobs: s.blobs, Config: file.Defaults(), Log: telemetry.Discard(), Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(10 * 24 * time.Hour)
	for _, dry := range []bool{true, false} {
		if r, err := alone.Collect(t.Context(), time.Hour, dry); !problem.Is(err, problem.Conflict) {
			t.Errorf("%+v %v", r, err)
		}
	}
	s.holds([]byte("of a document"))
}

// TestCollectAgainstUploads removes and uploads the same file at once: whoever
// is told that it is there can read it.
func TestCollectAgainstUploads(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := []byte("again and again")
		stop := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			for {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				if _, err := s.Collect(context.WithoutCancel(t.Context()), -time.Second, false); err != nil {
					done <- err
					return
				}
			}
		}()
		for range 40 {
			body, contentType := form(t, "upload", "x", "", data)
			a := s.call("ada", http.MethodPost, "/api/file/upload", body, "Content-Type", contentType)
			if a.status != 200 && a.status != 503 {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		close(stop)
		if err := <-done; err != nil {
			t.Error(err)
		}
		s.post("x", "", data)
		s.holds(data)
		s.clean(1)
	})
}

// listed calls a function when a storage has been listed.
type listed struct {
	storage
	then func()
}

type storage interface {
	blob.Store
	blob.Stager
}

// List implements blob.Store.
func (l listed) List(ctx context.Context, fn func(blob.Info) error) error {
	err := l.storage.List(ctx, fn)
	l.then()
	return err
}

// TestOrphansThatAreUploaded: bytes without a row are not removed when the file
// is uploaded between the list of them and their removal, nor in the middle of
// an upload.
func TestOrphansThatAreUploaded(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		before, beside := []byte("uploaded before"), []byte("uploaded beside")
		for _, data := range [][]byte{before, beside} {
			if err := s.blobs.Put(t.Context(), hashOf(data), bytes.NewReader(data), int64(len(data))); err != nil {
				t.Fatal(err)
			}
		}
		s.clock.Advance(100 * 365 * 24 * time.Hour) // blobs bear the time of the real clock
		done := make(chan int, 1)
		other := serveOn(t, s.db, listed{s.blobs.(storage), func() {
			s.post("x", "", before)
			go func() {
				body, contentType := form(t, "upload", "x", "", beside)
				a, err := s.try(context.WithoutCancel(t.Context()), "ada", http.MethodPost, "/api/file/upload", bytes.NewReader(body), "Content-Type", contentType)
				if err != nil {
					a = &answer{}
				}
				done <- a.status
			}()
		}}, nil)
		other.clock.Advance(100 * 365 * 24 * time.Hour)
		r, err := other.Collect(t.Context(), time.Hour, false)
		if err != nil || r.Orphans > 1 || r.Removed != 0 {
			t.Errorf("%+v %v", r, err)
		}
		s.holds(before)
		switch status := <-done; status {
		case 200:
			s.holds(beside)
		case 503:
			s.post("x", "", beside)
			s.holds(beside)
		default:
			t.Error(status)
		}
		s.clean(2)
	})
}

// TestAnOrphanWhoseRemovalWasCutOff: the file may come back, with its facts.
func TestAnOrphanWhoseRemovalWasCutOff(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := []byte("<svg>")
		if _, err := s.db.Exec(t.Context(), db.SQL(`INSERT INTO file_object (hash, algo, size, name, type, sniffed, uploads, first_seen_at, last_seen_at, uploaded_by, removing_at)
			VALUES (?, '', 3, '', '', '', 0, 1, 0, '', 1)`), hashOf(data)); err != nil {
			t.Fatal(err)
		}
		s.get("/api/file/" + hashOf(data)).is(404)
		s.post("a.svg", "", data)
		s.holds(data)
		info, err := s.Info(t.Context(), hashOf(data), true)
		if err != nil || info.Size != 5 || info.Algo != "sha1" || info.UploadedBy != "ada" || info.Uploads != 1 {
			t.Errorf("%+v %v", info, err)
		}
		s.clean(1)
	})
}

func TestVerify(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		good, gone, bad, short := s.post("good", "", []byte("good")), s.post("gone", "", []byte("gone")), s.post("bad", "", []byte("bad")), s.post("short", "", []byte("short"))
		err := errors.Join(s.blobs.Delete(t.Context(), gone.Hash), s.blobs.Delete(t.Context(), bad.Hash), s.blobs.Delete(t.Context(), short.Hash),
			s.blobs.Put(t.Context(), bad.Hash, strings.NewReader("bat"), 3), s.blobs.Put(t.Context(), short.Hash, strings.NewReader("shor"), 4))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		v, err := s.Verify(t.Context(), func(*file.Verified) { n++ })
		if err != nil || v.Files != 4 || n != 4 || len(v.Faults) != 3 || slices.ContainsFunc(v.Faults, func(f file.Fault) bool { return f.Hash == good.Hash }) {
			t.Errorf("%+v %v", v, err)
		}
		s.get("/api/file/" + gone.Hash).is(404)
		if err := s.blobs.Delete(t.Context(), bad.Hash); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"gone", "bad", "short"} { // as the command says
			s.post(text, "", []byte(text))
			s.holds([]byte(text))
		}
		if v, err := s.Verify(t.Context(), func(*file.Verified) {}); err != nil || len(v.Faults) != 0 {
			t.Errorf("%+v %v", v, err)
		}
		s.clean(4)
	})
}

func TestSync(t *testing.T) {
	t.Parallel()
	here := serve(t, nil)
	texts := []string{"", "one", "two", strings.Repeat("long", 3_000_000)}
	for _, text := range texts {
		here.post("x", "", []byte(text))
	}
	address := testkit.MinIO(t)
	other := bucket(t, address)
	for range 2 {
		r, err := here.Sync(t.Context(), file.Syncing{Other: other, Parallel: 3})
		if err != nil || r.Copied+r.There != 4 || len(r.Faults) != 0 {
			t.Fatalf("%+v %v", r, err)
		}
	}
	// What other modules keep in the storage goes with it.
	const attached = "form-018f2c1e-7d57-7cc0-9a39-6f1d7a0b7c11"
	if err := here.blobs.Put(t.Context(), attached, strings.NewReader("attached"), 8); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false, false} {
		if r, err := here.Sync(t.Context(), file.Syncing{Other: other, DryRun: dry}); err != nil || r.Copied+r.There != 5 || len(r.Faults) != 0 {
			t.Fatalf("%+v %v", r, err)
		}
	}
	if in, err := other.Get(t.Context(), attached, 0, -1); err != nil {
		t.Error(err)
	} else if got, err := io.ReadAll(in); string(got) != "attached" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	lie := strings.Repeat("0", 40)
	if err := other.Put(t.Context(), lie, strings.NewReader("a lie"), 5); err != nil {
		t.Fatal(err)
	}
	there := serve(t, nil)
	there.post("known", "text/plain", []byte("one"))
	r, err := there.Sync(t.Context(), file.Syncing{Other: other, From: true, Parallel: 3})
	if err != nil || r.Copied != 3 || r.There != 1 || r.Added != 3 || len(r.Faults) != 1 || r.Faults[0].Hash != lie {
		t.Fatalf("%+v %v", r, err)
	}
	for _, text := range texts {
		there.holds([]byte(text))
	}
	there.clean(4) // and nothing that is no file of ours
	// A server whose rows are lost finds its files again.
	if _, err := there.db.Exec(t.Context(), db.SQL(`DELETE FROM file_object`)); err != nil {
		t.Fatal(err)
	}
	if r, err := there.Sync(t.Context(), file.Syncing{Other: there.blobs, From: true}); err != nil || r.Added != 4 || r.There != 4 {
		t.Fatalf("%+v %v", r, err)
	}
	there.clean(4)
}

func TestSweep(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		old, young := random(1000, 1), random(1000, 2)
		s.init("ada", old, "x")
		s.chunk("ada", hashOf(old), old[:500]).is(200)
		s.clock.Advance(20 * time.Hour)
		s.init("ada", young, "x")
		s.chunk("ada", hashOf(young), young[:500]).is(200)
		if _, err := s.blobs.(blob.Stager).Append(t.Context(), "orphan", 0, strings.NewReader("x"), 1, false); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(5 * time.Hour)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if st := s.init("ada", young, "x"); st.Uploaded != 500 {
			t.Errorf("%+v", st)
		}
		if st := s.init("ada", old, "x"); st.Uploaded != 0 {
			t.Errorf("%+v", st)
		}
		s.chunk("ada", hashOf(young), young[500:]).is(200)
		s.clock.Advance(100 * 365 * 24 * time.Hour) // stages bear the time of the real clock
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.clean(1)
	})
}

func TestHidden(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	st := s.post("x", "", []byte("secret"))
	if _, err := s.db.Exec(t.Context(), db.SQL(`UPDATE file_object SET hidden = TRUE`)); err != nil {
		t.Fatal(err)
	}
	s.call("", http.MethodGet, "/data/file/"+st.Hash, nil).is(404)
	s.get("/api/file/" + st.Hash).is(200)
}

// TestADiskThatIsFull uploads to a file system of one megabyte.
func TestADiskThatIsFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if os.Getuid() != 0 || exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).Run() != nil {
		t.Skip("SKIPPED: a small file system can be mounted by root only")
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	s := serveOn(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}), bucket(t, filepath.Join(dir, "files")), nil)
	data := random(2<<20, 1)
	hash := hashOf(data)
	s.init("ada", data, "x")
	s.chunk("ada", hash, data[:300_000]).is(200)
	for _, known := range []bool{true, false} {
		for _, offset := range [][]string{nil, {"Upload-Offset", "300000"}} {
			r := io.Reader(bytes.NewReader(data[300_000:]))
			if !known { // of unknown length
				r = struct{ io.Reader }{r}
			}
			a, err := s.try(t.Context(), "ada", http.MethodPost, "/api/file/chunk/"+hash, r, offset...)
			if err != nil || a.status != http.StatusInsufficientStorage || !bytes.Contains(a.body, []byte("storage_full")) {
				t.Errorf("%+v %v", a, err)
			}
		}
	}
	body, contentType := form(t, "upload", "x", "", data)
	s.call("ada", http.MethodPost, "/api/file/upload", body, "Content-Type", contentType).is(http.StatusInsufficientStorage)
	if st := s.init("ada", data, "x"); st.Uploaded != 300_000 {
		t.Errorf("%+v", st)
	}
	small := random(500_000, 2) // there is room for it, because nothing was half stored
	s.post("small", "", small)
	s.holds(small)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=10m"); err != nil {
		t.Fatal(err)
	}
	if st := s.chunk("ada", hash, data[300_000:]).is(200).state(); !st.Available {
		t.Errorf("%+v", st)
	}
	s.holds(data)
	s.clean(2)
}

// TestMinIOGoesAway in the middle of an upload, and comes back.
func TestMinIOGoesAway(t *testing.T) {
	t.Parallel()
	m := testkit.StartMinIO(t)
	s := serveOn(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}), bucket(t, m.URL()), nil)
	data := random(12<<20, 1)
	hash := hashOf(data)
	small := s.post("small", "", []byte("small"))
	s.init("ada", data, "x")
	s.chunk("ada", hash, data[:5<<20]).is(200)
	m.Kill()
	for range 2 {
		a := s.chunk("ada", hash, data[5<<20:10<<20]).is(503)
		if a.header.Get("Retry-After") == "" || !bytes.Contains(a.body, []byte("storage_unavailable")) {
			t.Errorf("%v %s", a.header, a.body)
		}
	}
	s.get("/api/file/" + small.Hash).is(503)
	s.call("ada", http.MethodHead, "/api/file/"+small.Hash, nil).is(200) // the database knows
	if st := s.init("ada", data, "x"); st.Uploaded != 5<<20 {
		t.Errorf("%+v", st)
	}
	m.Start(t)
	if st := s.chunk("ada", hash, data[5<<20:10<<20]).is(200).state(); st.Uploaded != 10<<20 {
		t.Errorf("%+v", st)
	}
	if st := s.chunk("ada", hash, data[10<<20:]).is(200).state(); !st.Available {
		t.Errorf("%+v", st)
	}
	s.holds(data)
	s.holds([]byte("small"))
	s.clean(2)
}

func FuzzCleanName(f *testing.F) {
	for _, name := range []string{"", "a.txt", "../x", "a\r\nb: c", strings.Repeat("é", 200), strings.Repeat("0", 254) + " 00", "\xff\xfe", "日本"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		clean := file.CleanName(name)
		if clean == "" || len(clean) > 255 || strings.ContainsAny(clean, "/\\\r\n\x00") || file.CleanName(clean) != clean {
			t.Errorf("%q becomes %q", name, clean)
		}
		header := file.Disposition("attachment", clean)
		for _, c := range []byte(header) {
			if c < 0x20 || c > 0x7e {
				t.Errorf("%q becomes %q", name, header)
			}
		}
		if strings.Count(header, `"`) != 2 {
			t.Errorf("%q becomes %q", name, header)
		}
	})
}

func FuzzCleanType(f *testing.F) {
	for _, typ := range []string{"", "text/plain", "text/html; charset=utf-8", "a/b; x=\"\r\n\"", "x"} {
		f.Add(typ)
	}
	f.Fuzz(func(t *testing.T, typ string) {
		if clean := file.CleanType(typ); clean == "" || len(clean) > 200 || strings.ContainsAny(clean, "\r\n\x00") {
			t.Errorf("%q becomes %q", typ, clean)
		}
	})
}

func FuzzMark(f *testing.F) {
	const hash = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
	f.Add([]byte("x"), []byte("y"))
	f.Add([]byte(`\u0022`), []byte(`abc`))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		known := map[string]bool{hash: false}
		file.Mark(slices.Concat(before, []byte(hash), after), known)
		if !known[hash] || len(known) != 1 {
			t.Errorf("%q %q", before, after)
		}
	})
}
