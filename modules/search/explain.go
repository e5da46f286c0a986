package search

import (
	"context"
	"errors"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/embedded"
)

const askExplain = "explain"

// Explanation is how a search object is understood and answered.
type Explanation struct {
	// Refused is why the object cannot be understood at all; then there is
	// nothing else.
	Refused  []search.Refusal `json:"refused"`
	Warnings []string         `json:"warnings,omitempty"`
	Tree     *search.Node     `json:"tree,omitempty"`
	Indices  []string         `json:"indices,omitempty"`
	// Engines are the plans of all engines, that of the one in force first. The
	// others are made with examples of documents: see their notes.
	Engines []*search.Plan `json:"engines,omitempty"`
	// Note says what the explanation does not know.
	Note string `json:"note,omitempty"`
}

// Explain tells how a search object (spec.md 2.7) is understood and run. An
// object that is wrong is explained, too; an index that does not exist is
// NotFound.
func (s *Service) Explain(ctx context.Context, text []byte) (*Explanation, error) {
	r, x := understand(text)
	if r == nil {
		return x, nil
	}
	t, err := s.target(ctx, "indices", r.Indices, r.Regex)
	if err != nil {
		return nil, err
	}
	x.Indices = t.Indices
	engine, ok := s.engine.(search.Explainer)
	if !ok {
		x.Note = "the search engine in force does not tell how it runs a search"
		return x, nil
	}
	err = s.within(ctx, func(ctx context.Context) error {
		plan, err := engine.Explain(ctx, t, r)
		if err != nil {
			return err
		}
		other, err := s.sketch(ctx, t, r)
		x.Engines = append(x.Engines, plan, other)
		return err
	})
	return x, err
}

// understand parses a search object. The request is nil when it is refused.
func understand(text []byte) (*search.Request, *Explanation) {
	x := &Explanation{Refused: []search.Refusal{}}
	r, err := dsl.Parse(text)
	if err != nil {
		p := problem.From(err)
		for _, f := range p.Fields {
			x.Refused = append(x.Refused, search.Refusal{Path: f.Path, Message: f.Message})
		}
		if len(p.Fields) == 0 {
			x.Refused = append(x.Refused, search.Refusal{Message: p.Detail})
		}
		return nil, x
	}
	x.Warnings, x.Tree = r.Warnings, search.Describe(r)
	return r, x
}

// explainAlone is Explain without a server: it reads the documents into an
// index of its own.
func (s *Service) explainAlone(ctx context.Context, text []byte) (*Explanation, error) {
	r, x := understand(text)
	if r == nil {
		return x, nil
	}
	x.Note = "no server runs on this data; an index was made for this explanation alone"
	ix := newIndexer(s.index.docs, s.types, noNames{}, s.cfg, s.log)
	engine := embedded.New(ix.sources)
	ix.engine = engine
	if err := ix.sync(ctx); err != nil {
		return nil, err
	}
	if err := ix.build(ctx); err != nil {
		return nil, err
	}
	alone := &Service{engine: engine, index: ix, types: s.types, cfg: s.cfg, log: s.log}
	t, err := alone.target(ctx, "indices", r.Indices, r.Regex)
	if err != nil {
		return nil, err
	}
	x.Indices = t.Indices
	plan, err := engine.Explain(ctx, t, r)
	if err != nil {
		return nil, err
	}
	other, err := alone.sketch(ctx, t, r)
	x.Engines = append(x.Engines, plan, other)
	return x, err
}

// noNames keeps an index that is made for one explanation from telling the
// content store of itself.
type noNames struct{}

func (noNames) Renew(context.Context, string) (string, error) { return "", errNobody }
func (noNames) Reindex(context.Context, string) error         { return errNobody }
func (noNames) Built(_ context.Context, _, _ string) error    { return nil }
func (noNames) Now(context.Context) ([]port.Environment, error) {
	return nil, errNobody
}

// explainAnywhere asks the server, and does without one if there is none.
func (s *Service) explainAnywhere(ctx context.Context, text []byte) (*Explanation, error) {
	x := &Explanation{}
	err := s.Ask(ctx, askExplain, question{Search: string(text)}, x, nil)
	if errors.Is(err, errNobody) {
		return s.explainAlone(ctx, text)
	}
	return x, err
}
