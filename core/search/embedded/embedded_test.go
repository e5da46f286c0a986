package embedded_test

import (
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/embedded"
	"github.com/quoin-cms/quoin/core/search/searchtest"
)

func TestConformance(t *testing.T) {
	searchtest.Run(t, func(_ *testing.T, load search.Loader) search.Engine { return embedded.New(load) })
}

// The same with segments that are written anew all the time.
func TestConformanceWhileCompacting(t *testing.T) {
	searchtest.Run(t, func(_ *testing.T, load search.Loader) search.Engine {
		e := embedded.New(load)
		e.SetMinDead(3)
		return e
	})
}
