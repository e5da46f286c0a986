package search

import (
	"context"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/embedded"
	"github.com/quoin-cms/quoin/core/search/typesense"
)

// examples is how many documents of each content type and index the plan of an
// engine that is not in force is made with.
const examples = 20

// sketch gives the plan of the engine that is not in force.
func (s *Service) sketch(ctx context.Context, t search.Target, r *search.Request) (*search.Plan, error) {
	docs, err := s.examples(ctx, t)
	if err != nil {
		return nil, err
	}
	s.index.mu.Lock()
	settings := s.index.settings
	s.index.mu.Unlock()
	if _, ok := s.engine.(*embedded.Engine); ok {
		aliases := s.index.layout.Load().aliases
		var list []typesense.Sketched
		for _, name := range t.Indices {
			one := typesense.Sketched{Index: name, Settings: settings, Docs: docs[name]}
			for alias, members := range aliases {
				if slices.Contains(members, name) {
					one.Aliases = append(one.Aliases, alias)
				}
			}
			list = append(list, one)
		}
		return typesense.Sketch(ctx, list, t.Types, r)
	}
	return sketchEmbedded(ctx, t, r, settings, docs)
}

// examples gives some documents of each content type, by index.
func (s *Service) examples(ctx context.Context, t search.Target) (map[string][]search.Doc, error) {
	docs := map[string][]search.Doc{}
	for _, name := range t.Indices {
		for _, kind := range t.Types {
			out, err := s.engine.Search(ctx, search.Target{Indices: []string{name}, Types: []string{kind}}, &search.Request{Size: examples, Sort: []search.SortKey{{Field: "_doc"}}})
			if err != nil {
				return nil, err
			}
			for _, h := range out.Hits {
				docs[name] = append(docs[name], search.Doc{Key: h.Key, Ref: h.Ref, Raw: h.Source})
			}
		}
	}
	return docs, nil
}

// sketchEmbedded explains on indexes of the examples alone. How many of them
// match says nothing, so it is left out.
func sketchEmbedded(ctx context.Context, t search.Target, r *search.Request, settings search.Settings, docs map[string][]search.Doc) (*search.Plan, error) {
	engine := embedded.New(func(_ context.Context, _ string, refs []int64) ([][]byte, error) {
		return make([][]byte, len(refs)), nil
	})
	for _, name := range t.Indices {
		if err := engine.Create(ctx, name, settings); err != nil {
			return nil, err
		}
		ops := make([]search.Op, len(docs[name]))
		for i := range ops {
			ops[i] = search.Op{Key: docs[name][i].Key, Doc: &docs[name][i]}
		}
		if err := engine.Apply(ctx, name, ops); err != nil {
			return nil, err
		}
		if err := engine.Refresh(ctx, name); err != nil {
			return nil, err
		}
	}
	plan, err := engine.Explain(ctx, t, r)
	if err != nil {
		return nil, err
	}
	plan.Note = "made with some documents of each content type: how many match is not known, and there may be more terms"
	withoutMatches(plan.Steps)
	return plan, nil
}

func withoutMatches(steps []search.Step) {
	for i := range steps {
		steps[i].Matches = nil
		withoutMatches(steps[i].Steps)
	}
}
