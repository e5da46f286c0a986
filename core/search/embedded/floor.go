package embedded

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// found compiles the query and finds its documents, without those that score
// less than asked for.
func (r *run) found() error {
	if err := r.match(); err != nil || r.req.MinScore == nil {
		return err
	}
	for _, v := range r.views {
		scores, kept, odd := r.scoresOf(v), roaring.New(), false
		each(v.hits, func(doc uint32) {
			switch s := scores[doc]; {
			case s != s:
				odd = true
			case float64(s) >= *r.req.MinScore:
				kept.Add(doc)
			}
		})
		if odd {
			return r.noScore()
		}
		v.hits = kept
	}
	return nil
}
