package typesense

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/scoring"
)

// falling measures in one column how far values are from the origin, in
// multiples of the scale.
type falling struct {
	c    column
	away func(n float64) float64
}

// decay reads how a function falls in each column of its field.
func (v *view) decay(b *search.Decay, sp *mapping.Space, path string) (func(*object) float64, error) {
	columns, _ := v.numbersOf(b.Field, sp, true)
	var list []falling
	for _, c := range columns {
		away, err := scoring.Away(b, c.Field, path, v.run.now)
		if err != nil {
			return nil, err
		}
		list = append(list, falling{c, away})
	}
	return func(o *object) float64 {
		var away scoring.Distances
		for _, f := range list {
			for _, w := range o.values(f.c.Name) {
				away.Add(f.away(w.num))
			}
		}
		return away.Score(b)
	}, nil
}
