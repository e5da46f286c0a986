package typesense

import (
	"math"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// op is a compiled clause: which objects match, and what an object in hand that
// matches scores.
type op interface {
	cond() cond
	score(o *object) float64
}

// Constants of BM25 as Elasticsearch has them, which multiplies by k1+1.
const (
	k1 = 1.2
	b  = 0.75
)

// maxTerm is the longest token of a text that is indexed, in bytes.
const maxTerm = 32_766

// constantOp scores the same for every object.
type constantOp struct {
	c     cond
	boost float64
}

// termOp is one term of one column, scored by BM25.
type termOp struct {
	v     *view
	sp    *mapping.Space
	col   column
	text  string
	boost float64
	df    func() float64 // of several terms together, if they share it; else nil
	c     cond
}

// sumOp adds the scores of what matches: of must, and of should as far as it
// does.
type sumOp struct {
	c            cond
	must, should []op
	boost        float64
}

// bestOp scores the best of the ops that match, plus tie times the others.
type bestOp struct {
	c     cond
	ops   []op
	tie   float64
	boost float64
}

// lessOp multiplies the score of positive where negative matches too.
type lessOp struct {
	positive, negative op
	factor, boost      float64
}

// withinOp scores by the nested objects that match.
type withinOp struct {
	c     cond
	inner []innerOp
	mode  search.ScoreMode
	boost float64
}

type innerOp struct {
	sp *mapping.Space
	op op
}

func (p *constantOp) cond() cond            { return p.c }
func (p *constantOp) score(*object) float64 { return p.boost }
func (p *termOp) cond() cond                { return p.c }
func (p *sumOp) cond() cond                 { return p.c }
func (p *bestOp) cond() cond                { return p.c }
func (p *lessOp) cond() cond                { return p.positive.cond() }
func (p *withinOp) cond() cond              { return p.c }

// idf is the weight of a term that df of n objects hold.
func idf(n, df float64) float64 { return math.Log(1 + math.Max(n-df+0.5, 0)/(df+0.5)) }

func (p *termOp) score(o *object) float64 {
	s := p.v.run.statsOf(p.sp, p.col.Field)
	df := p.v.run.frequency(p.sp, p.col.Field, p.text)
	if p.df != nil {
		df = p.df()
	}
	w := p.boost * idf(s.objects, df) * (k1 + 1)
	if p.col.Field.Family == mapping.Keyword {
		return w / (1 + k1)
	}
	t := o.tokens(p.col.Field, p.col.Name)
	tf := 0.0
	for _, term := range t.terms {
		if term == p.text {
			tf++
		}
	}
	return w * tf / (tf + s.norm(t.length))
}

// norm is what the length of a text takes off its score.
func (s *fieldStats) norm(length int) float64 {
	return k1*(1-b) + k1*b*s.objects/math.Max(s.tokens, 1)*float64(length)
}

func (p *sumOp) score(o *object) float64 {
	sum := 0.0
	for _, c := range p.must {
		sum += c.score(o)
	}
	for _, c := range p.should {
		if c.cond().holds(o) {
			sum += c.score(o)
		}
	}
	return sum * p.boost
}

func (p *bestOp) score(o *object) float64 {
	top, sum := 0.0, 0.0
	for _, c := range p.ops {
		if !c.cond().holds(o) {
			continue
		}
		s := c.score(o)
		top = math.Max(top, s)
		sum += s
	}
	return p.boost * (top + p.tie*(sum-top))
}

func (p *lessOp) score(o *object) float64 {
	s := p.positive.score(o) * p.boost
	if p.negative.cond().holds(o) {
		s *= p.factor
	}
	return s
}

func (p *withinOp) score(o *object) float64 {
	if p.mode == search.ScoreNone {
		return 0
	}
	total := 0.0
	for _, in := range p.inner {
		sum, low, high, n := 0.0, math.Inf(1), math.Inf(-1), 0.0
		for _, k := range o.within(in.sp) {
			if !in.op.cond().holds(k) {
				continue
			}
			s := in.op.score(k)
			sum, low, high, n = sum+s, math.Min(low, s), math.Max(high, s), n+1
		}
		if n == 0 {
			continue
		}
		switch p.mode {
		case search.ScoreSum:
			total += sum
		case search.ScoreMax:
			total += high
		case search.ScoreMin:
			total += low
		default:
			total += sum / n
		}
	}
	return total * p.boost
}

// constantScore tells whether an op scores the same for all that it matches,
// and what.
func constantScore(p op) (float64, bool) {
	switch p := p.(type) {
	case *constantOp:
		return p.boost, true
	case *sumOp:
		if len(p.should) > 0 {
			return 0, false
		}
		sum := 0.0
		for _, c := range p.must {
			s, ok := constantScore(c)
			if !ok {
				return 0, false
			}
			sum += s
		}
		return sum * p.boost, true
	case *bestOp:
		if len(p.ops) != 1 {
			return 0, false
		}
		s, ok := constantScore(p.ops[0])
		return s * p.boost, ok
	case *withinOp:
		return 0, p.mode == search.ScoreNone
	}
	return 0, false
}
