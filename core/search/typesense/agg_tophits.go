package typesense

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// topHits gives the best objects of a bucket. As far as a sort can be left to
// the server only those are read; else all of the bucket.
func (r *run) topHits(a *search.Agg, body *search.TopHitsAgg, sets []set) (search.ResultBody, error) {
	if err := r.budget.Buckets(a, 1); err != nil {
		return nil, err
	}
	keys := body.Sort
	if len(keys) == 0 {
		keys = []search.SortKey{{Field: "_score", Desc: true, Path: a.Path}}
	}
	for i := range keys {
		if err := sorting.Check(&keys[i], r.fields); err != nil {
			return nil, err
		}
	}
	total := int64(0)
	lists := make([][]candidate, len(sets))
	err := r.each(len(sets)+1, func(i int) (err error) {
		if i == len(sets) {
			total, err = r.count(sets)
			return err
		}
		lists[i], err = r.ranked(a, keys, sets[i], body.From+body.Size)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := slices.Concat(lists...)
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(compareHits(keys, a.vals, b.vals), r.order(&a, &b))
	})
	out := &search.TopHits{Total: total}
	if keys[0].Field == "_score" && len(list) > 0 {
		best := math.Inf(-1)
		for _, c := range list {
			best = math.Max(best, c.score)
		}
		out.MaxScore = &best
	}
	list = list[min(body.From, len(list)):]
	list = list[:min(body.Size, len(list))]
	if err := r.budget.TopHits(a, len(list)); err != nil {
		return nil, err
	}
	out.Hits, err = r.nestedHits(body, keys, list)
	return out, err
}

// ranked gives objects of a set with what they are sorted by.
func (r *run) ranked(a *search.Agg, keys []search.SortKey, s set, wanted int) ([]candidate, error) {
	e, some, err := s.entry()
	if err != nil || !some {
		return nil, err
	}
	sortBy, native := s.v.sortBy(keys)
	var objects []*object
	if native && s.sp.Parent == nil && wanted <= maxPage {
		wanted = max(wanted, 1) // the best score is wanted in any case
		e.IncludeFields, e.SortBy, e.PerPage = documentFields, sortBy, wanted
		answer, err := r.one(e)
		if err != nil {
			return nil, err
		}
		docs, err := s.v.documents(answer.Hits)
		if err != nil {
			return nil, err
		}
		for _, d := range docs {
			objects = append(objects, d.objects[0])
		}
	} else if objects, err = s.v.fetch(s.sp, e, &search.Clause{Name: "top_hits", Path: a.Path}, "to rank them"); err != nil {
		return nil, err
	}
	if _, same := constantScore(s.v.query); !same {
		if err := r.loadStats(); err != nil {
			return nil, err
		}
	}
	readers := make([]reader, len(keys))
	scored := false
	for i := range keys {
		if readers[i], err = s.v.sortReader(&keys[i], s.sp); err != nil {
			return nil, err
		}
		scored = scored || keys[i].Field == "_score"
	}
	out := make([]candidate, len(objects))
	for i, o := range objects {
		c := candidate{doc: o.doc, at: o, vals: make([]sorting.Value, len(keys))}
		if scored {
			c.score = s.v.scoreOf(o.doc)
		}
		for k, read := range readers {
			c.vals[k] = read(&c)
		}
		out[i] = c
	}
	return out, nil
}

// scoreOf scores a document that matches the query.
func (v *view) scoreOf(d *document) float64 {
	if score, same := constantScore(v.query); same {
		return single(score)
	}
	return single(v.query.score(d.objects[0]))
}

// single gives a score with the precision that scores have in answers.
func single(score float64) float64 {
	return float64(float32(score))
}

func (r *run) nestedHits(body *search.TopHitsAgg, keys []search.SortKey, list []candidate) ([]search.NestedHit, error) {
	marks := newMarks(body.Highlight, r.req.Query)
	out := make([]search.NestedHit, len(list))
	scored := slices.ContainsFunc(keys, func(k search.SortKey) bool { return k.Field == "_score" })
	for i := range list {
		var err error
		if out[i], err = r.nestedHit(&list[i], body.Sort, scored, &body.Source, marks); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// steps gives the way from the document to a nested object.
func (o *object) steps() []search.NestedStep {
	if o.up == nil {
		return nil
	}
	field := strings.TrimPrefix(o.space.Path, o.space.Parent.Path+".")
	return append(o.up.steps(), search.NestedStep{Field: field, Offset: o.offset()})
}

// offset gives the place of a nested object among those of the object around
// it; 0 for a document.
func (o *object) offset() int {
	n := 0
	for _, k := range o.doc.objects {
		if k == o {
			break
		}
		if k.up == o.up && k.space == o.space {
			n++
		}
	}
	return n
}

// source gives the source of a nested object, filtered.
func (o *object) source(f *search.SourceFilter) ([]byte, error) {
	raw, err := search.NestedSource(o.doc.raw, o.steps())
	if err != nil || raw == nil {
		return []byte("{}"), err
	}
	return f.ApplyPart(raw, o.space.Path)
}
