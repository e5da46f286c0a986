package typesense

import (
	"cmp"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// candidate is a document that may be among the hits.
type candidate struct {
	doc   *document
	at    *object // the document itself, or a nested object of it
	score float64
	vals  []sorting.Value
}

// probes is how many places of the order are looked at in one message.
const probes = 40

// page finds the hits of the page and the total.
func (r *run) page(out *search.Response) error {
	keys := r.req.Sort
	if len(keys) == 0 {
		keys = []search.SortKey{{Field: "_score", Desc: true, Path: "query"}}
	}
	for i := range keys {
		if err := sorting.Check(&keys[i], r.fields); err != nil {
			return err
		}
	}
	if err := sorting.CheckCollapse(r.req.Collapse, r.fields); err != nil {
		return err
	}
	position, err := sorting.After(r.req, keys, r.fields)
	if err != nil {
		return err
	}
	pagers := make([]*pager, len(r.views))
	err = r.each(len(r.views)+1, func(i int) (err error) {
		if i == len(r.views) {
			if r.needsScores() {
				return r.loadStats()
			}
			return nil
		}
		if pagers[i], err = r.views[i].newPager(keys, position); err != nil {
			return err
		}
		return pagers[i].start()
	})
	if err != nil {
		return err
	}
	for _, p := range pagers {
		out.Total += p.first.Found
	}
	if r.req.Size == 0 || out.Total == 0 {
		return nil
	}
	lists := make([][]candidate, len(pagers))
	err = r.each(len(pagers), func(i int) (err error) {
		lists[i], err = pagers[i].rest()
		return err
	})
	if err != nil {
		return err
	}
	list := slices.Concat(lists...)
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Or(compareHits(keys, a.vals, b.vals), r.order(&a, &b)) })
	from := r.req.From
	if len(pagers) == 1 && pagers[0].native {
		from = 0 // the server has left them out
	}
	return r.shown(out, list, from)
}

// shown makes the hits of the page out of all candidates.
func (r *run) shown(out *search.Response, list []candidate, from int) (err error) {
	if len(list) > 0 && (len(r.req.Sort) == 0 || r.req.Sort[0].Field == "_score" && r.req.Sort[0].Desc || r.req.TrackScores) {
		best := slices.MaxFunc(list, func(a, b candidate) int { return cmp.Compare(a.score, b.score) }).score
		out.MaxScore = &best
	}
	var groups *collapsing
	if r.req.Collapse != nil {
		if groups, list, err = r.collapse(list); err != nil {
			return err
		}
	}
	list = list[min(from, len(list)):]
	if list, err = r.complete(list[:min(r.req.Size, len(list))]); err != nil {
		return err
	}
	if out.Hits, err = r.present(list); err != nil {
		return err
	}
	if groups != nil {
		if err := groups.show(list, out.Hits); err != nil {
			return err
		}
	}
	if len(out.Hits) == 0 {
		out.MaxScore = nil
	}
	return r.innerHits(list, out.Hits)
}
