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
