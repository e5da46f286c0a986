package embedded_test

import (
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/embedded"
	"github.com/quoin-cms/quoin/core/search/searchtest"
)

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: TestConformanceWhileMerging does the same and more")
	}
	searchtest.Run(t, func(_ *testing.T, load search.Loader) search.Engine { return embedded.New(load) })
}

// The same with tails of three documents, merged in memory while the test goes
// on.
func TestConformanceWhileMerging(t *testing.T) {
	searchtest.Run(t, func(_ *testing.T, load search.Loader) search.Engine {
		e := embedded.New(load)
		e.MergeEarly(3)
		return e
	})
}
