package disk_test

import (
	"testing"

	"github.com/quoin-cms/quoin/core/blob/blobtest"
	"github.com/quoin-cms/quoin/core/blob/disk"
)

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Store {
		s, err := disk.Open(t.TempDir(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
