package typesense

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// sketchNote is what a plan that was made without a server does not know.
const sketchNote = "made without a server: how many match is not known, nor what goes beyond a limit because of it; " +
	"where a search needs the values that another one has listed, one value stands for them"

// Sketched is what is known of an index without a server.
type Sketched struct {
	Index    string
	Aliases  []string
	Settings search.Settings
	// Docs are examples. Fields that neither they nor the settings have are
	// taken for fields that no document has.
	Docs []search.Doc
}

// Sketch tells how a server would be asked for a request, and what would be
// refused, without one: Explain with made-up answers. Types are as in
// search.Target.
func Sketch(ctx context.Context, indices []Sketched, types []string, r *search.Request) (*search.Plan, error) {
	var gens []*generation
	aliases := map[string][]string{}
	for _, s := range indices {
		g, err := s.generation()
		if err != nil {
			return nil, err
		}
		gens = append(gens, g)
		for _, name := range s.Aliases {
			aliases[name] = append(aliases[name], s.Index)
		}
	}
	plan := &search.Plan{Engine: engineName, Refused: []search.Refusal{}, Note: sketchNote}
	return explained(plan, r, func() (*run, error) {
		return newRun(ctx, madeUp, r, gens, aliases, types), nil
	})
}

// generation makes what a process would know of the index.
func (s *Sketched) generation() (*generation, error) {
	g, err := newGeneration(s.Index, s.Index, "", s.Settings)
	if err != nil {
		return nil, err
	}
	m := newMaker(g)
	for i := range s.Docs {
		if _, err := m.make(&s.Docs[i]); err != nil {
			continue // nor would a server have it
		}
	}
	for _, f := range g.mapped() {
		n := g.naming(f)
		names := m.rows
		if f.Space.Parent == nil {
			names = m.main
		}
		for _, name := range []string{n.column, n.length, n.list, n.sort, n.max} {
			if name != "" {
				names[name] = true
			}
		}
	}
	g.learn(slices.Collect(maps.Keys(m.main)), slices.Collect(maps.Keys(m.rows)))
	return g, nil
}

// mapped gives the fields that are known.
func (g *generation) mapped() []*mapping.Field {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reg.Fields()
}

// sampleOf is the value that stands for those that a server would list.
func sampleOf(field string) string {
	prefix, _, _, _ := parseName(field)
	if prefix == inLength {
		return "1"
	}
	if family, _ := familyOf(prefix); family.Numeric() {
		return strconv.FormatInt(EncodeNumber(1), 10)
	}
	return EncodeKeyword("x")
}

// madeUp answers searches: nothing is found, and lists hold one value.
func madeUp(_ context.Context, entries []entry) ([]rawResult, error) {
	out := make([]rawResult, len(entries))
	for i := range entries {
		if field := entries[i].FacetBy; field != "" {
			out[i].FacetCounts = []rawFacet{{Field: field, Counts: []rawCount{{Value: sampleOf(field), Count: 1}}}}
		}
	}
	return out, nil
}
