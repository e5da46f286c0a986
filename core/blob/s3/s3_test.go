package s3_test

import (
	"testing"

	"github.com/quoin-cms/quoin/core/blob/blobtest"
	"github.com/quoin-cms/quoin/core/blob/s3"
	"github.com/quoin-cms/quoin/core/testkit"
)

func open(t *testing.T, url string) *s3.Store {
	t.Helper()
	c, err := s3.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := s3.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Store { return open(t, testkit.MinIO(t)) })
}

// TestHugeFiles are put together of no more parts than a bucket takes, whatever
// pieces they came in.
func TestHugeFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pieces int
		size   int64
		parts  int
	}{{3, 5 << 20, 3}, {1000, 5 << 20, 1000}, {9_999, 5 << 20, 9_999}, {10_001, 5 << 20, 5_001}, {200_000, 5 << 20, 9_524}, {200_000, 1, 1}, {30_000, 16 << 20, 7_500}} {
		parts := s3.Groups(c.pieces, c.size)
		n := 0
		for i, in := range parts {
			n += in
			if int64(in)*c.size < 5<<20 && i < len(parts)-1 {
				t.Errorf("%+v: a part of %d pieces is too small", c, in)
			}
		}
		if n != c.pieces || len(parts) != c.parts || len(parts) > 10_000 {
			t.Errorf("%+v: %d parts with %d pieces", c, len(parts), n)
		}
	}
}
