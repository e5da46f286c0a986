package typesense

import (
	"math"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/scoring"
)

// functionOp changes the scores of another op by functions.
type functionOp struct {
	q     *search.FunctionScore
	inner op
	fns   []function
	c     cond
}

// function is one function in one space; value is nil if it is only a weight.
type function struct {
	filter cond
	weight float64
	value  func(o *object) float64
}

func (p *functionOp) cond() cond { return p.c }

func (v *view) functionScore(q *search.FunctionScore, sp *mapping.Space) (op, error) {
	inner, err := v.compile(q.Query, sp)
	if err != nil {
		return nil, err
	}
	p := &functionOp{q: q, inner: inner, c: inner.cond()}
	for i := range q.Functions {
		from := &q.Functions[i]
		f := function{filter: all{}, weight: from.Weight}
		if from.Filter != nil {
			only, err := v.compile(from.Filter, sp)
			if err != nil {
				return nil, err
			}
			f.filter = only.cond()
		}
		switch body := from.Body.(type) {
		case nil:
		case *search.FieldFactor:
			f.value, err = v.fieldFactor(body, sp, from.Path)
		case *search.RandomScore:
			f.value, err = v.randomScore(body, sp)
		case *search.Decay:
			f.value, err = v.decay(body, sp, from.Path)
		default:
			err = refuseAt(from.Path, "this function is not supported")
		}
		if err != nil {
			return nil, err
		}
		p.fns = append(p.fns, f)
	}
	if q.MinScore == nil {
		return p, nil
	}
	// Which documents match depends on their scores, so these come first.
	if err := v.run.loadStats(); err != nil {
		return nil, err
	}
	p.c = &verified{sp, inner.cond(), func(o *object) bool { return p.score(o) >= *q.MinScore }, "min_score"}
	return p, nil
}

func (p *functionOp) score(o *object) float64 {
	s := p.inner.score(o) * p.q.Boost
	if len(p.fns) == 0 {
		return s
	}
	return scoring.Boosted(p.q.BoostMode, s, math.Min(p.value(o), p.q.MaxBoost))
}

// value combines the functions for an object; 1 if none holds.
func (p *functionOp) value(o *object) float64 {
	mix := scoring.NewMix(p.q.ScoreMode)
	for i := range p.fns {
		f := &p.fns[i]
		if !f.filter.holds(o) {
			continue
		}
		s := f.weight
		if f.value != nil {
			s *= f.value(o)
		}
		if !mix.Add(s, f.weight) {
			break
		}
	}
	return mix.Value()
}
