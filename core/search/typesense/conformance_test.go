package typesense_test

import (
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/searchtest"
)

func TestConformance(t *testing.T) {
	searchtest.RunFor(t, func(t *testing.T, _ search.Loader) search.Engine {
		o, _ := server(t)
		return open(t, o)
	}, searchtest.Abilities{OwnOrder: true, LiveScrolls: true})
}
