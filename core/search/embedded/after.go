package embedded

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// behind tells whether a document stands behind the position.
func behind(keys []search.SortKey, c *candidate, position []sorting.Value) bool {
	if n := c.first.Compare(&position[0], keys[0].Desc); n != 0 {
		return n > 0
	}
	for i := range c.rest {
		if n := c.rest[i].Compare(&position[i+1], keys[i+1].Desc); n != 0 {
			return n > 0
		}
	}
	return false
}
