package client_test

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the names of files
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quoin-cms/quoin/sdk/client"
)

// bytesOf gives bytes that are the same for a seed, and their name.
func bytesOf(seed byte, size int) (data []byte, hash string) {
	data = make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(data) // never fails
	sum := sha1.Sum(data)                             //nolint:gosec // the name of a file
	return data, hex.EncodeToString(sum[:])
}

// flaky is a proxy in front of the server that breaks some connections.
func flaky(t *testing.T, breaks func(r *http.Request) (before, after bool)) *httptest.Server {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before, after := breaks(r)
		if before {
			_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
			panic(http.ErrAbortHandler)
		}
		if after { // the server does it, and nobody hears
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// plain hides that a reader can seek.
type plain struct{ io.Reader }

func TestAnUploadGoesOnWhereItBrokeOff(t *testing.T) {
	data, hash := bytesOf(1, 18<<20)
	var chunks atomic.Int64
	proxy := flaky(t, func(r *http.Request) (before, after bool) {
		if !strings.HasPrefix(r.URL.Path, "/api/file/chunk/") {
			return false, false
		}
		n := chunks.Add(1)
		return n == 2, n == 4
	})
	c, err := client.New(proxy.URL, client.WithToken(token))
	if err != nil {
		t.Fatal(err)
	}
	var last int64
	sent, err := c.Files.Upload(t.Context(), plain{bytes.NewReader(data)}, client.Upload{
		Name: "film.mp4", Type: "video/mp4", Progress: func(sent, size int64) {
			if sent < last || size != int64(len(data)) {
				t.Errorf("after %d come %d of %d", last, sent, size)
			}
			last = sent
		},
	})
	if err != nil || sent.Hash != hash || sent.Existed || sent.Size != int64(len(data)) || last != sent.Size {
		t.Fatalf("%+v, %v, at %d", sent, err, last)
	}
	// 5 chunks; one broke off before it came, and one after, which is not sent again
	if n := chunks.Load(); n != 6 {
		t.Errorf("%d chunks were sent", n)
	}
	again, err := c.Files.Upload(t.Context(), bytes.NewReader(data), client.Upload{Hash: hash})
	if err != nil || !again.Existed || chunks.Load() != 6 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	there, err := c.Files.Heads(t.Context(), []string{hash, strings.Repeat("0", 40)})
	if err != nil || !there[0] || there[1] {
		t.Errorf("%v, %v", there, err)
	}
}

func TestAnUploadThatCannotGoOnSaysSo(t *testing.T) {
	proxy := flaky(t, func(r *http.Request) (before, after bool) {
		return strings.HasPrefix(r.URL.Path, "/api/file/chunk/"), false
	})
	c, err := client.New(proxy.URL, client.WithToken(token), client.WithRetries(1))
	if err != nil {
		t.Fatal(err)
	}
	data, _ := bytesOf(2, 1000)
	if _, err := c.Files.Upload(t.Context(), bytes.NewReader(data), client.Upload{}); err == nil {
		t.Error("nothing came, and nothing is said")
	}
	c = connected(t)
	wrong := strings.Repeat("0", 40)
	_, err = c.Files.Upload(t.Context(), bytes.NewReader(data), client.Upload{Hash: wrong})
	var e *client.Error
	if !errors.As(err, &e) || e.Code != "hash_mismatch" {
		t.Errorf("a wrong hash: %v", err)
	}
	if _, err := c.Files.Upload(t.Context(), plain{io.MultiReader(strings.NewReader("x"), &cut{})}, client.Upload{}); !errors.Is(err, errBroken) {
		t.Errorf("a source that breaks: %v", err)
	}
	if _, err := c.Files.Upload(t.Context(), &shrinking{Reader: bytes.NewReader(data)}, client.Upload{Hash: wrong}); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("a file that changes: %v", err)
	}
}

// cut is a reader that fails.
type cut struct{}

// Read implements io.Reader.
func (*cut) Read([]byte) (int, error) { return 0, errBroken }

// shrinking is a file that is empty when it is read.
type shrinking struct{ *bytes.Reader }

// Read implements io.Reader.
func (*shrinking) Read([]byte) (int, error) { return 0, io.EOF }

func TestFilesAreReadInParts(t *testing.T) {
	c, ctx := connected(t), t.Context()
	data, hash := bytesOf(3, 3<<20)
	object, err := c.Files.UploadForm(ctx, bytes.NewReader(data), client.Upload{Name: `a "quoted" name.bin`, Type: "application/x-thing"})
	if err != nil || object.Hash != hash || object.Type != "application/x-thing" || object.Name != `a "quoted" name.bin` {
		t.Fatalf("%+v, %v", object, err)
	}
	for _, p := range []client.Part{{}, {From: 1 << 20}, {From: 5, Length: 7}, {Length: 3}, {Inline: true}, {Public: true, From: 9}, {Public: true, Inline: true}} {
		f, err := c.Files.Open(ctx, hash, p)
		if err != nil {
			t.Errorf("%+v: %v", p, err)
			continue
		}
		got, err := io.ReadAll(f)
		want := data[p.From:]
		if p.Length > 0 {
			want = want[:p.Length]
		}
		if err != nil || !bytes.Equal(got, want) || f.Size != int64(len(data)) || f.From != p.From || f.ETag == "" || f.Name == "" {
			t.Errorf("%+v gives %d bytes of %d from %d, %q, %v", p, len(got), f.Size, f.From, f.Name, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Files.Open(ctx, hash, client.Part{From: 1 << 30}); client.Status(err) != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("outside of the file: %v", err)
	}
	if _, err := c.Files.Open(ctx, strings.Repeat("0", 40), client.Part{}); client.Status(err) != http.StatusNotFound {
		t.Errorf("no file: %v", err)
	}
	info, err := c.Files.Info(ctx, hash)
	if err != nil || info.FileObject.Size != int64(len(data)) || info.FirstSeen.IsZero() || info.LastSeen.IsZero() || info.UploadedBy != "admin" {
		t.Errorf("%+v, %v", info, err)
	}
	if info, err := c.Files.InfoQuickly(ctx, hash); err != nil || !info.FirstSeen.IsZero() {
		t.Errorf("%+v, %v", info, err)
	}
}
