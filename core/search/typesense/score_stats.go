package typesense

import (
	"maps"
	"math"
	"slices"

	"github.com/quoin-cms/quoin/core/search/mapping"
)

// termKey is a term of a path, in whatever index and however it is analyzed.
type termKey struct {
	textKey
	term string
}

type textKey struct {
	space, path string
	family      mapping.Family
}

// fieldStats are the numbers of a field over all indices of a search.
type fieldStats struct {
	objects, tokens float64
}

// alike is a column that shares the statistics of a field.
type alike struct {
	v   *view
	sp  *mapping.Space
	col column
}

func keyOf(sp *mapping.Space, f *mapping.Field) textKey { return textKey{sp.Path, f.Path, f.Family} }

// alike gives the columns of all indices that share the statistics of a field.
func (r *run) alike(sp *mapping.Space, f *mapping.Field) []alike {
	var out []alike
	for _, v := range r.views {
		for _, other := range v.spaces {
			if other.Path != sp.Path {
				continue
			}
			for _, c := range v.columns(other, f.Path) {
				if c.Field.Family == f.Family {
					out = append(out, alike{v, other, c})
				}
			}
			break // the rows of all spaces of a path are found by the path
		}
	}
	return out
}

// newTerm notes that the frequency of a term may be asked for.
func (r *run) newTerm(p *termOp) op {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := termKey{keyOf(p.sp, p.col.Field), p.text}
	if r.freqs[key] == nil {
		n := math.NaN()
		r.freqs[key] = &n
		r.noted = append(r.noted, p)
	}
	return p
}

// loadStats asks the server for the statistics of the terms that were noted.
func (r *run) loadStats() error {
	r.mu.Lock()
	var terms []*termOp
	for _, p := range r.noted { // others may be asking for some of them right now
		if n := r.freqs[termKey{keyOf(p.sp, p.col.Field), p.text}]; math.IsNaN(*n) {
			terms = append(terms, p)
		}
	}
	byField := map[textKey]*termOp{}
	for _, p := range terms {
		if key := keyOf(p.sp, p.col.Field); r.texts[key] == nil {
			byField[key] = p
		}
	}
	r.mu.Unlock()
	fields := slices.Collect(maps.Values(byField))
	return r.each(len(terms)+len(fields), func(i int) error {
		if i < len(terms) {
			return r.loadTerm(terms[i])
		}
		return r.loadField(fields[i-len(terms)])
	})
}

func (r *run) loadTerm(p *termOp) error {
	key := termKey{keyOf(p.sp, p.col.Field), p.text}
	var entries []entry
	for _, a := range r.alike(p.sp, p.col.Field) {
		entries = append(entries, entry{Collection: a.v.gen.collection(a.sp.Path), FilterBy: a.filter(ofTerms(a.col, []string{p.text}))})
	}
	answers, err := r.ask(entries...)
	n := 0.0
	for _, a := range answers {
		n += float64(a.Found)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.freqs[key] = &n
	return err
}

// filter writes a simple condition on the rows of a column.
func (a *alike) filter(c cond) string { return ofSpace(a.sp, express(c, false)).String() }

// loadField counts the objects with a value and, of a text, the words in them.
func (r *run) loadField(p *termOp) error {
	var entries []entry
	for _, a := range r.alike(p.sp, p.col.Field) {
		e := entry{Collection: a.v.gen.collection(a.sp.Path), FilterBy: a.filter(&exists{p.col.Field.Path})}
		if p.col.Field.Family == mapping.Text {
			e.FacetBy, e.MaxFacetValues = lengthColumnOf(a.col.Field), maxIDs
		} else if len(a.v.columns(a.sp, p.col.Field.Path)) > 1 {
			e.FilterBy = a.filter(&test{f: a.col.Field, column: a.col.Name, code: "v", begins: true}) // every code begins so
		}
		entries = append(entries, e)
	}
	answers, err := r.ask(entries...)
	s := &fieldStats{}
	for _, a := range answers {
		if p.col.Field.Family != mapping.Text {
			s.objects += float64(a.Found)
			continue
		}
		for _, c := range facetCounts(a) {
			s.objects += float64(c.Count)
			s.tokens += float64(c.Count) * numberOf(c.Value)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts[keyOf(p.sp, p.col.Field)] = s
	return err
}

// frequency is how many objects hold a term; 0 before loadStats.
func (r *run) frequency(sp *mapping.Space, f *mapping.Field, text string) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.freqs[termKey{keyOf(sp, f), text}]; n != nil && !math.IsNaN(*n) {
		return *n
	}
	return 0
}

func (r *run) statsOf(sp *mapping.Space, f *mapping.Field) *fieldStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.texts[keyOf(sp, f)]; s != nil {
		return s
	}
	return &fieldStats{}
}
