package disk_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/blob/disk"
)

// drafts runs a test with files that have no name, and with such that have.
func drafts(t *testing.T, test func(t *testing.T, s *disk.Store, root string)) {
	t.Parallel()
	for _, name := range []string{"nameless", "named"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			s, err := disk.Open(root, 0)
			if err != nil {
				t.Fatal(err)
			}
			if name == "named" {
				s.Named()
			}
			test(t, s, root)
			left, err := os.ReadDir(filepath.Join(root, "staging"))
			if err != nil || len(left) > 0 {
				t.Errorf("%v are left: %v", left, err)
			}
		})
	}
}

// plain hides io.WriterTo.
type plain struct{ io.Reader }

func TestDraft(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	drafts(t, func(t *testing.T, s *disk.Store, root string) {
		for key, r := range map[string]io.Reader{"aaaa1": bytes.NewReader(data), "aaaa2": plain{bytes.NewReader(data)}, "bbbb1": iotest.HalfReader(bytes.NewReader(data))} {
			d, n, err := s.Draft(t.Context(), r)
			if err != nil || n != int64(len(data)) {
				t.Fatal(n, err)
			}
			if _, err := s.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("seen before it is published: %v", err)
			}
			if err := errors.Join(d.Publish(t.Context(), key), d.Discard(t.Context())); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(root, key[:3], key)); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s holds %d bytes: %v", key, len(got), err)
			}
		}
	})
}

// TestDraftReplaces checks that a blob that is there is replaced, by several at
// once as well.
func TestDraftReplaces(t *testing.T) {
	drafts(t, func(t *testing.T, s *disk.Store, root string) {
		if err := s.Put(t.Context(), "aaaa1", bytes.NewReader([]byte("broken")), 6); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				d, _, err := s.Draft(t.Context(), bytes.NewReader([]byte("whole")))
				if err == nil {
					err = d.Publish(t.Context(), "aaaa1")
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got, err := os.ReadFile(filepath.Join(root, "aaa", "aaaa1")); err != nil || string(got) != "whole" {
			t.Errorf("%q %v", got, err)
		}
	})
}

func TestDraftRefuses(t *testing.T) {
	drafts(t, func(t *testing.T, s *disk.Store, root string) {
		broken := errors.New("broken")
		r := io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), iotest.ErrReader(broken))
		if _, _, err := s.Draft(t.Context(), plain{r}); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
		d, _, err := s.Draft(t.Context(), bytes.NewReader([]byte("x")))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Publish(t.Context(), "../../x"); err == nil {
			t.Error("a path is taken for a key")
		}
		if err := d.Discard(t.Context()); err != nil {
			t.Error(err)
		}
		d, _, err = s.Draft(t.Context(), bytes.NewReader([]byte("x")))
		if err != nil || d.Discard(t.Context()) != nil || d.Discard(t.Context()) != nil {
			t.Error(err)
		}
		left, err := filepath.Glob(filepath.Join(root, "*", "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%v are left: %v", left, err)
		}
		full, err := disk.Open(root, 1<<62)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := full.Draft(t.Context(), bytes.NewReader(nil)); !errors.Is(err, blob.ErrFull) {
			t.Errorf("%v", err)
		}
	})
}
