package blobtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/quoin-cms/quoin/core/blob"
)

// add appends data in chunks and gives the offset after it.
func add(t *testing.T, s Store, name string, at int64, data []byte, chunk int) int64 {
	t.Helper()
	for len(data) > 0 {
		part := data[:min(chunk, len(data))]
		n, err := s.Append(t.Context(), name, at, bytes.NewReader(part), int64(len(part)), false)
		if err != nil || n != int64(len(part)) {
			t.Fatalf("%d %v", n, err)
		}
		at, data = at+n, data[len(part):]
	}
	return at
}

func staged(t *testing.T, s Store, name string, want []byte) {
	t.Helper()
	r, err := s.ReadStage(t.Context(), name, 0, int64(len(want)))
	if got := read(t, r, err); !bytes.Equal(got, want) {
		t.Fatalf("%d bytes are staged, not the %d that were written", len(got), len(want))
	}
}

func stage(t *testing.T, s Store) {
	for i, c := range []struct{ size, chunk int }{{0, 1}, {1, 1}, {100, 33}, {6 << 20, 5 << 20}, {20 << 20, 8 << 20}, {40 << 20, 40 << 20}} {
		data, name, key := random(c.size, byte(i)), fmt.Sprintf("stage-%d", i), fmt.Sprintf("key%d", i)
		add(t, s, name, 0, data, c.chunk)
		missing(t, s, key)
		must(t, s.Publish(t.Context(), name, key, int64(c.size)))
		holds(t, s, key, data)
	}
	none(t, s)
	if err := s.Publish(t.Context(), "nothing", "nothing", 5); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("published what is not there: %v", err)
	}
	if r, err := s.ReadStage(t.Context(), "nothing", 0, 5); err == nil {
		if data, err := io.ReadAll(r); len(data) > 0 {
			t.Errorf("%q %v", data, err)
		}
		_ = r.Close()
	}
}

// smallPieces are far below the parts that S3 wants, before, between and after
// large ones.
func smallPieces(t *testing.T, s Store) {
	data := random(13<<20, 3)
	at := add(t, s, "stage", 0, data[:100_000], 33_333)
	at = add(t, s, "stage", at, data[at:6<<20], 6<<20)
	at = add(t, s, "stage", at, data[at:at+2<<20], 700_000)
	at = add(t, s, "stage", at, data[at:13<<20-10], 5<<20)
	add(t, s, "stage", at, data[at:], 3)
	staged(t, s, "stage", data)
	r, err := s.ReadStage(t.Context(), "stage", 99_990, 7<<20)
	if got := read(t, r, err); !bytes.Equal(got, data[99_990:99_990+7<<20]) {
		t.Error("a range of the stage is not what was written")
	}
	must(t, s.Publish(t.Context(), "stage", "abcd", int64(len(data))))
	holds(t, s, "abcd", data)
}

// stageGoesOn writes again where a call failed, and where the caller never
// learned that a call succeeded.
func stageGoesOn(t *testing.T, s Store) {
	data, no := random(18<<20, 4), errors.New("no")
	at := add(t, s, "stage", 0, data[:1<<20], 1<<20)
	broken := func() io.Reader {
		return io.MultiReader(bytes.NewReader(random(17<<20-1000, 5)), iotest.ErrReader(no))
	}
	for _, size := range []int64{17 << 20, -1} {
		if n, err := s.Append(t.Context(), "stage", at, broken(), size, false); n != 0 || !errors.Is(err, no) {
			t.Fatalf("%d %v", n, err)
		}
	}
	if n, err := s.Append(t.Context(), "stage", at, bytes.NewReader(data[:5]), 9, false); n != 0 || err == nil {
		t.Fatalf("%d %v", n, err)
	}
	add(t, s, "stage", at, random(17<<20, 6), 17<<20) // forgotten
	at = add(t, s, "stage", at, data[at:at+10], 10)
	add(t, s, "stage", at, data[at:], 4<<20)
	must(t, s.Publish(t.Context(), "stage", "abcd", int64(len(data))))
	holds(t, s, "abcd", data)
	none(t, s)
	if _, err := s.Append(t.Context(), "other", 5, bytes.NewReader(data[:5]), 5, false); err == nil {
		if err := s.Publish(t.Context(), "other", "abce", 10); err == nil {
			t.Error("a stage with a gap was published")
		}
	}
}

// stageKeeps goes on after what came before a connection broke.
func stageKeeps(t *testing.T, s Store) {
	data, no := random(40<<20, 7), errors.New("no")
	var at int64
	for _, size := range []int64{40 << 20, -1} {
		from := at
		r := io.MultiReader(bytes.NewReader(data[from:from+18<<20]), iotest.ErrReader(no))
		if size > 0 {
			size -= from
		}
		n, err := s.Append(t.Context(), "stage", from, r, size, true)
		if n < 10<<20 || n > 18<<20 || !errors.Is(err, no) {
			t.Fatalf("%d %v", n, err)
		}
		at += n
	}
	add(t, s, "stage", at, data[at:], 40<<20)
	must(t, s.Publish(t.Context(), "stage", "abcd", int64(len(data))))
	holds(t, s, "abcd", data)
}

func fork(t *testing.T, s Store) {
	data := random(7<<20, 8)
	at := add(t, s, "first", 0, data[:6<<20], 5<<20)
	must(t, s.Fork(t.Context(), "first", "second", at))
	must(t, s.Fork(t.Context(), "first", "third", 0))
	add(t, s, "first", at, random(1<<20, 9), 1<<20)
	add(t, s, "second", at, data[at:], 1<<20)
	add(t, s, "third", 0, data[:1000], 500)
	staged(t, s, "third", data[:1000])
	must(t, s.Discard(t.Context(), "first"))
	must(t, s.Discard(t.Context(), "first"))
	must(t, s.Publish(t.Context(), "second", "abcd", int64(len(data))))
	holds(t, s, "abcd", data)
	if err := s.Fork(t.Context(), "nothing", "fourth", 5); err == nil {
		t.Error("forked what is not there")
	}
}

func stages(t *testing.T, s Store) {
	put(t, s, "abcd", []byte("x"))
	add(t, s, "one1", 0, []byte("hello"), 2)
	add(t, s, "two2", 0, []byte("x"), 1)
	got := map[string]int64{}
	must(t, s.Stages(t.Context(), func(i blob.Info) error {
		if i.Modified.IsZero() {
			t.Errorf("%+v", i)
		}
		got[i.Key] = i.Size
		return nil
	}))
	if len(got) != 2 || got["one1"] != 5 || got["two2"] != 1 {
		t.Error(got)
	}
	must(t, s.Discard(t.Context(), "one1"))
	must(t, s.Discard(t.Context(), "two2"))
	none(t, s)
	holds(t, s, "abcd", []byte("x"))
}

// publishAgain replaces a blob by the same one while it is read.
func publishAgain(t *testing.T, s Store) {
	data := random(3<<20, 1)
	put(t, s, "abcd", data)
	r, err := s.Get(t.Context(), "abcd", 0, -1)
	must(t, err)
	first := make([]byte, 10)
	if _, err := io.ReadFull(r, first); err != nil {
		t.Fatal(err)
	}
	add(t, s, "stage", 0, data, 1<<20)
	must(t, s.Publish(t.Context(), "stage", "abcd", int64(len(data))))
	holds(t, s, "abcd", data)
	_ = r.Close()
}

// together publishes one key from many stages at once, while others read it.
func together(t *testing.T, s Store) {
	data := random(600_000, 2)
	put(t, s, "abcd", data)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprintf("stage%d", i)
			if n, err := s.Append(t.Context(), name, 0, bytes.NewReader(data), int64(len(data)), false); err != nil || n != int64(len(data)) {
				t.Errorf("%d %v", n, err)
			}
			if err := s.Publish(t.Context(), name, "abcd", int64(len(data))); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			r, err := s.Get(t.Context(), "abcd", 0, -1)
			if err != nil {
				t.Error(err)
				return
			}
			got, err := io.ReadAll(r)
			if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	all.Wait()
	holds(t, s, "abcd", data)
	none(t, s)
}
