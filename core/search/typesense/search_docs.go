package typesense

import (
	"encoding/json"
	"slices"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// hitFields is what is read of a hit.
type hitFields struct {
	ID    string `json:"id"`
	Root  string `json:"_root"`
	Key   string `json:"_key"`
	Ref   int64  `json:"_ref"`
	Order int64  `json:"_n"`
	Src   string `json:"_src"`
}

func (h *rawHit) fields() (hitFields, error) {
	var f hitFields
	if err := json.Unmarshal(h.Document, &f); err != nil {
		return f, problem.Wrap(err, problem.Internal, "an answer of the search engine cannot be read")
	}
	return f, nil
}

// pages gives all hits of a search, or the error of tooMany if they are more
// than most.
func (v *view) pages(e entry, most int64, tooMany func() error) ([]rawHit, error) {
	e.PerPage = maxPage
	if e.SortBy == "" {
		e.SortBy = fieldOrder + ":asc"
	}
	first, err := v.run.one(e)
	if err != nil {
		return nil, err
	}
	if first.Found > most {
		return nil, tooMany()
	}
	return v.rest(e, first.Hits, first.Found)
}

// rest reads the pages behind the first, as far as limit.
func (v *view) rest(e entry, hits []rawHit, limit int64) ([]rawHit, error) {
	if len(hits) == 0 || int64(len(hits)) >= limit {
		return hits, nil
	}
	size := int64(0) // of a page
	for i := range hits {
		size += int64(len(hits[i].Document))
	}
	size = size * maxPage / int64(len(hits))
	if size*(limit/maxPage) > maxRead {
		return nil, problem.Field(problem.Invalid, "size", "the engine %q would need to read about %d MB for this request: ask for fewer hits, or narrow the query", engineName, size*(limit/maxPage)>>20)
	}
	together := int(max(min(maxSearches, maxAnswered/max(size, 1)), 1))
	var more []entry
	for at := len(hits); int64(at) < limit; at += maxPage {
		next := e
		next.Offset, next.PerPage = e.Offset+at, int(min(maxPage, limit-int64(at)))
		more = append(more, next)
	}
	for part := range slices.Chunk(more, together) {
		answers, err := v.run.ask(part...)
		if err != nil {
			return nil, err
		}
		for _, a := range answers {
			hits = append(hits, a.Hits...)
		}
	}
	return hits, nil
}

// objects gives the objects of a space that match a condition, taken apart.
func (v *view) objects(sp *mapping.Space, c cond, q *search.Clause, why string) ([]*object, error) {
	filter, err := v.filter(sp, c)
	if err != nil || filter == matchNothing {
		return nil, err
	}
	return v.fetch(sp, entry{FilterBy: filter}, q, why)
}

// fetch gives the objects of a space that a search finds, taken apart.
func (v *view) fetch(sp *mapping.Space, e entry, q *search.Clause, why string) ([]*object, error) {
	if q == nil {
		q = &search.Clause{Name: why, Path: "query"}
	}
	refused := func() error {
		return refuse(q, "the sources of more than %d documents (%s)", maxSources, why)
	}
	e.Collection, e.IncludeFields = v.gen.collection(sp.Path), documentFields
	if sp.Parent != nil {
		e.IncludeFields = "id," + fieldRoot
	}
	hits, err := v.pages(e, maxSources, refused)
	if err != nil {
		return nil, err
	}
	if sp.Parent == nil {
		docs, err := v.documents(hits)
		out := make([]*object, len(docs))
		for i, d := range docs {
			out[i] = d.objects[0]
		}
		return out, err
	}
	wanted, roots := map[string]bool{}, map[string]bool{}
	for i := range hits {
		f, err := hits[i].fields()
		if err != nil {
			return nil, err
		}
		wanted[f.ID], roots[f.Root] = true, true
	}
	docs, err := v.byIDs(sortedKeys(roots))
	var out []*object
	for _, d := range docs {
		for _, o := range d.objects {
			if wanted[o.id] {
				out = append(out, o)
			}
		}
	}
	return out, err
}

// byIDs gives documents by the ids of their rows.
func (v *view) byIDs(ids []string) ([]*document, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	e := entry{Collection: v.gen.main, FilterBy: "id:=" + quoteIDs(ids), IncludeFields: documentFields}
	hits, err := v.pages(e, maxIDs, func() error { return tooMany("documents") })
	if err != nil {
		return nil, err
	}
	return v.documents(hits)
}

// documents takes the documents of hits apart.
func (v *view) documents(hits []rawHit) ([]*document, error) {
	out := make([]*document, len(hits))
	var record mapping.Record
	for i := range hits {
		f, err := hits[i].fields()
		if err != nil {
			return nil, err
		}
		if out[i], err = v.document(f, &record); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (v *view) document(f hitFields, record *mapping.Record) (*document, error) {
	d := &document{view: v, id: f.ID, order: f.Order, ref: f.Ref, raw: []byte(f.Src)}
	for i := range len(f.Key) {
		if f.Key[i] == ':' {
			d.key = search.Key{Type: f.Key[:i], OUUID: f.Key[i+1:]}
			break
		}
	}
	if err := v.gen.walk(&search.Doc{Key: d.key, Ref: d.ref, Raw: d.raw}, record); err != nil {
		return nil, problem.Wrap(err, problem.Internal, "the source of %s cannot be read", f.Key)
	}
	for i, o := range record.Objects {
		made := &object{doc: d, space: o.Space, id: d.id, vals: map[string][]value{}}
		if i > 0 {
			made.up, made.id = d.objects[o.Parent], nestedID(d.id, i)
		}
		d.objects = append(d.objects, made)
	}
	for i := range record.Values {
		from := &record.Values[i]
		to := d.objects[from.Object]
		n := v.gen.naming(from.Field)
		if to.paths == nil || !slices.Contains(to.paths, from.Field.Path) {
			to.paths = append(to.paths, from.Field.Path)
		}
		w := value{text: string(from.Text), num: from.Num}
		if from.Field.Family == mapping.Keyword && slices.Contains(to.vals[n.column], w) {
			continue
		}
		to.vals[n.column] = append(to.vals[n.column], w)
		if !slices.ContainsFunc(d.fields, func(c column) bool { return c.Name == n.column }) {
			d.fields = append(d.fields, column{n.column, from.Field})
		}
	}
	return d, nil
}
