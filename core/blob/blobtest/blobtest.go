// Package blobtest is the suite that every adapter of core/blob passes,
// against the real thing.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/quoin-cms/quoin/core/blob"
)

// Store is what the suite needs of an adapter: both capabilities that modules
// rely on.
type Store interface {
	blob.Store
	blob.Stager
}

// Run runs the suite; open gives a store that is empty.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"put and get", putAndGet}, {"ranges", ranges}, {"put refuses", putRefuses}, {"delete", deleteBlob}, {"list", list},
		{"keys", keys}, {"stage", stage}, {"small pieces", smallPieces}, {"stage goes on", stageGoesOn}, {"stage keeps", stageKeeps},
		{"fork", fork}, {"stages", stages}, {"publish again", publishAgain}, {"together", together},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			if err := s.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.run(t, s)
		})
	}
}

// random gives bytes that do not repeat.
func random(n int, seed byte) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b) // never fails
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, s Store, key string, data []byte) {
	t.Helper()
	must(t, s.Put(t.Context(), key, bytes.NewReader(data), int64(len(data))))
}

func read(t *testing.T, r io.ReadCloser, err error) []byte {
	t.Helper()
	must(t, err)
	data, err := io.ReadAll(r)
	must(t, errors.Join(err, r.Close()))
	return data
}

func holds(t *testing.T, s Store, key string, want []byte) {
	t.Helper()
	r, err := s.Get(t.Context(), key, 0, -1)
	if got := read(t, r, err); !bytes.Equal(got, want) {
		t.Fatalf("%s holds %d bytes, not the %d that were written", key, len(got), len(want))
	}
	if info, err := s.Stat(t.Context(), key); err != nil || info.Size != int64(len(want)) || info.Key != key || info.Modified.IsZero() {
		t.Fatalf("%+v %v", info, err)
	}
}

func missing(t *testing.T, s Store, key string) {
	t.Helper()
	if _, err := s.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("stat of %s: %v", key, err)
	}
	if r, err := s.Get(t.Context(), key, 0, -1); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("get of %s: %v", key, err)
		if err == nil {
			_ = r.Close()
		}
	}
}

func putAndGet(t *testing.T, s Store) {
	missing(t, s, "aaaa")
	for i, size := range []int{0, 1, 1000, 300 << 10, 6 << 20, 17 << 20} {
		data, key := random(size, byte(i)), fmt.Sprintf("abc%d", i)
		put(t, s, key, data)
		holds(t, s, key, data)
		must(t, s.Put(t.Context(), key+"u", bytes.NewReader(data), -1)) // of unknown length
		holds(t, s, key+"u", data)
	}
}

func ranges(t *testing.T, s Store) {
	data := random(100_000, 1)
	put(t, s, "abcd", data)
	for _, c := range [][2]int64{{0, 10}, {10, 50_000}, {99_990, 10}, {99_990, 100}, {99_990, -1}, {100_000, -1}, {100_000, 5}, {5, 0}} {
		r, err := s.Get(t.Context(), "abcd", c[0], c[1])
		want := data[c[0]:]
		if c[1] >= 0 && c[1] < int64(len(want)) {
			want = want[:c[1]]
		}
		if got := read(t, r, err); !bytes.Equal(got, want) {
			t.Errorf("%d+%d: %d bytes, want %d", c[0], c[1], len(got), len(want))
		}
	}
	r := blob.NewReader(t.Context(), s, "abcd", int64(len(data)))
	if err := iotest.TestReader(r, data); err != nil {
		t.Error(err)
	}
	must(t, r.Close())
}

func putRefuses(t *testing.T, s Store) {
	no := errors.New("no")
	for name, c := range map[string]struct {
		r    io.Reader
		size int64
	}{
		"too short":  {strings.NewReader("abc"), 5},
		"too long":   {strings.NewReader("abcdef"), 5},
		"broken off": {io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(no)), 5},
		"unknown":    {io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(no)), -1},
		"not empty":  {strings.NewReader("a"), 0},
	} {
		if err := s.Put(t.Context(), "abcd", c.r, c.size); err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.HasPrefix(name, "broken") && !errors.Is(err, no) {
			t.Errorf("%s: %v", name, err)
		}
		missing(t, s, "abcd")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, "abcd", strings.NewReader("abc"), 3); err == nil {
		t.Error("no error when the context has ended")
	}
	missing(t, s, "abcd")
	none(t, s)
}

// none checks that nothing is left of stages.
func none(t *testing.T, s Store) {
	t.Helper()
	must(t, s.Stages(t.Context(), func(i blob.Info) error {
		t.Errorf("the stage %s is left, %d bytes", i.Key, i.Size)
		return nil
	}))
}

func deleteBlob(t *testing.T, s Store) {
	put(t, s, "abcd", []byte("x"))
	put(t, s, "abce", []byte("y"))
	must(t, s.Delete(t.Context(), "abcd"))
	must(t, s.Delete(t.Context(), "abcd"))
	missing(t, s, "abcd")
	holds(t, s, "abce", []byte("y"))
}

func list(t *testing.T, s Store) {
	var want []string
	for i := range 25 {
		key := fmt.Sprintf("%03dkey", i%7*100+i)
		put(t, s, key, random(i, 1))
		want = append(want, fmt.Sprintf("%s %d", key, i))
	}
	_, err := s.Append(t.Context(), "staged", 0, strings.NewReader("x"), 1, false)
	must(t, err)
	var got []string
	must(t, s.List(t.Context(), func(i blob.Info) error {
		got = append(got, fmt.Sprintf("%s %d", i.Key, i.Size))
		return nil
	}))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	enough, n := errors.New("enough"), 0
	if err := s.List(t.Context(), func(blob.Info) error { n++; return enough }); !errors.Is(err, enough) || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
}

func keys(t *testing.T, s Store) {
	for _, key := range []string{"", "abc", "../../etc/passwd", "abc/def", "abcd\x00", "ABCD", "-abc", "äbcd", "....", "abc.", strings.Repeat("a", 129), "ab cd"} {
		ctx := t.Context()
		_, errStat := s.Stat(ctx, key)
		r, errGet := s.Get(ctx, key, 0, -1)
		if r != nil {
			_ = r.Close()
		}
		_, errAppend := s.Append(ctx, key, 0, strings.NewReader(""), 0, false)
		stage, errRead := s.ReadStage(ctx, key, 0, 0)
		if stage != nil {
			_ = stage.Close()
		}
		for i, err := range []error{errStat, errGet, errAppend, errRead, s.Put(ctx, key, strings.NewReader(""), 0), s.Delete(ctx, key), s.Discard(ctx, key), s.Publish(ctx, "abcd", key, 0), s.Fork(ctx, "abcd", key, 0)} {
			if err == nil || errors.Is(err, blob.ErrNotFound) {
				t.Errorf("%q, call %d: %v", key, i, err)
			}
		}
	}
}
