package typesense

import (
	"errors"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// pager finds the hits of one index for a page.
type pager struct {
	v        *view
	keys     []search.SortKey
	position []sorting.Value // of search_after; may be nil
	entry    entry
	native   bool   // the server sorts
	needs    *needs // nil if whole documents are read
	first    rawResult
}

// newPager makes the search for the hits of an index: sorted by the server if it
// can and may, else all of them.
func (v *view) newPager(keys []search.SortKey, position []sorting.Value) (*pager, error) {
	filter, err := v.filter(v.root(), v.shown)
	if err != nil {
		return nil, err
	}
	req := v.run.req
	p := &pager{v: v, keys: keys, position: position}
	p.entry = entry{Collection: v.gen.main, FilterBy: filter, IncludeFields: documentFields, SortBy: fieldOrder + ":asc", PerPage: min(maxPage, req.Size)}
	if filter == matchNothing || req.Size == 0 {
		p.entry.PerPage = 0
		return p, nil
	}
	sortBy, native := v.sortBy(keys)
	scored := req.TrackScores || slices.ContainsFunc(keys, func(k search.SortKey) bool { return k.Field == "_score" })
	_, same := constantScore(v.query)
	p.native = native && req.Collapse == nil && (!req.TrackScores || same)
	switch {
	case p.native && len(v.run.views) == 1 && position == nil:
		p.entry.SortBy, p.entry.Offset = sortBy, req.From
		return p, nil
	case p.native:
		p.entry.SortBy, p.entry.PerPage = sortBy, min(maxPage, req.From+req.Size)
	default:
		p.entry.PerPage = maxPage
	}
	if n := v.needsOf(keys, scored && !same); !n.more && req.Collapse == nil && v.run.columnsToo {
		p.needs, p.entry.IncludeFields = n, n.fields()
	}
	return p, nil
}

// start asks for the first hits, and their number.
func (p *pager) start() (err error) {
	p.first, err = p.v.run.one(p.entry)
	return err
}

// rest gives the candidates of the index, in any order.
func (p *pager) rest() ([]candidate, error) {
	req, total := p.v.run.req, p.first.Found
	e, hits, wanted := p.entry, p.first.Hits, total
	switch {
	case total == 0 || e.PerPage == 0:
		return nil, nil
	case p.native && p.position != nil:
		at, err := p.behind(total)
		if err != nil {
			return nil, err
		}
		e.Offset = int(at)
		wanted = min(total-at, int64(req.Size))
		if wanted == 0 {
			return nil, nil
		}
		e.PerPage = int(min(maxPage, wanted))
		first, err := p.v.run.one(e)
		if err != nil {
			return nil, err
		}
		hits = first.Hits
	case p.native && len(p.v.run.views) == 1:
		wanted = max(min(total-int64(req.From), int64(req.Size)), 0)
	case p.native:
		wanted = min(total, int64(req.From+req.Size))
	case total > maxSources:
		e.IncludeFields = documentFields
		return p.v.approximate(p.keys, e, total, p.position)
	}
	hits, err := p.v.rest(e, hits, wanted)
	if err != nil {
		return nil, err
	}
	list, err := p.candidates(hits, p.needs)
	if errors.Is(err, errHashed) {
		return p.whole(e, wanted)
	}
	return list, err
}

// whole reads the documents with their sources after all.
func (p *pager) whole(e entry, wanted int64) ([]candidate, error) {
	e.IncludeFields = documentFields
	first, err := p.v.run.one(e)
	if err != nil {
		return nil, err
	}
	hits, err := p.v.rest(e, first.Hits, wanted)
	if err != nil {
		return nil, err
	}
	return p.candidates(hits, nil)
}

func (p *pager) candidates(hits []rawHit, n *needs) ([]candidate, error) {
	docs, err := p.documents(hits, n)
	if err != nil {
		return nil, err
	}
	return p.v.candidates(p.keys, docs, p.position)
}

func (p *pager) documents(hits []rawHit, n *needs) ([]*document, error) {
	if n != nil {
		return p.v.parts(hits, n)
	}
	return p.v.documents(hits)
}

// behind gives the place in the order of the server of the first document
// behind the position.
func (p *pager) behind(total int64) (int64, error) {
	low, high := int64(0), total // what is sought is in between, both included
	for low < high {
		var at []int64
		step := max((high-low)/(probes+1), 1)
		for i := low; i < high && len(at) < probes; i += step {
			at = append(at, i)
		}
		if last := high - 1; at[len(at)-1] < last {
			at = append(at, last)
		}
		entries := make([]entry, len(at))
		for i := range at {
			entries[i] = p.entry
			entries[i].Offset, entries[i].PerPage, entries[i].IncludeFields = int(at[i]), 1, documentFields
		}
		answers, err := p.v.run.ask(entries...)
		if err != nil {
			return 0, err
		}
		for i, a := range answers {
			docs, err := p.documents(a.Hits, nil)
			if err != nil {
				return 0, err
			}
			list, err := p.v.candidates(p.keys, docs, p.position)
			if err != nil {
				return 0, err
			}
			if len(list) > 0 { // it is behind the position
				high = at[i]
				break
			}
			low = at[i] + 1
		}
	}
	return low, nil
}
