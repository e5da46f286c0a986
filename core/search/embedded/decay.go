package embedded

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/scoring"
)

// falling measures in one family how far values are from the origin, in
// multiples of the scale.
type falling struct {
	f    *family
	away func(n float64) float64
}

// decay reads how a function falls in each family of its field.
func (v *view) decay(b *search.Decay, sp *space, path string) (func() func(uint32) float64, error) {
	var list []falling
	for _, f := range v.numbers(b.Field, sp, true) {
		away, err := scoring.Away(b, f.field, path, v.run.now)
		if err != nil {
			return nil, err
		}
		list = append(list, falling{f, away})
	}
	return func() func(uint32) float64 { return openDecay(list, b) }, nil
}

func openDecay(list []falling, b *search.Decay) func(uint32) float64 {
	cursors := make([]cursor[float64], len(list))
	for i := range list {
		cursors[i] = cursor[float64]{c: &list[i].f.nums}
	}
	return func(object uint32) float64 {
		var away scoring.Distances
		for i := range list {
			for _, v := range cursors[i].seek(object) {
				away.Add(list[i].away(v))
			}
		}
		return away.Score(b)
	}
}
