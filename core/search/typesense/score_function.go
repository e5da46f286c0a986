package typesense

import (
	"hash/fnv"
	"math"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/mapping"
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
	return boosted(p.q.BoostMode, s, math.Min(p.value(o), p.q.MaxBoost))
}

// value combines the functions for an object; 1 if none holds.
func (p *functionOp) value(o *object) float64 {
	out, weights, n := 1.0, 0.0, 0
	for i := range p.fns {
		f := &p.fns[i]
		if !f.filter.holds(o) {
			continue
		}
		s := f.weight
		if f.value != nil {
			s *= f.value(o)
		}
		weights += f.weight
		if n++; n == 1 {
			out = s
			if p.q.ScoreMode == search.CombineFirst {
				return s
			}
			continue
		}
		switch p.q.ScoreMode {
		case search.CombineSum, search.CombineAvg:
			out += s
		case search.CombineMax:
			out = math.Max(out, s)
		case search.CombineMin:
			out = math.Min(out, s)
		default:
			out *= s
		}
	}
	if p.q.ScoreMode == search.CombineAvg && n > 0 {
		if weights == 0 {
			return 0
		}
		return out / weights
	}
	return out
}

// boosted combines the score of a query with what its functions come to.
func boosted(mode search.Combine, score, by float64) float64 {
	switch mode {
	case search.CombineReplace:
		return by
	case search.CombineSum:
		return score + by
	case search.CombineAvg:
		return (score + by) / 2
	case search.CombineMax:
		return math.Max(score, by)
	case search.CombineMin:
		return math.Min(score, by)
	}
	return score * by
}

// numbersOf gives the columns of the numbers of a field; points only if asked.
func (v *view) numbersOf(field string, sp *mapping.Space, points bool) (out []column, others bool) {
	for _, c := range v.columns(sp, field) {
		if c.Field.Family.Numeric() && (points || c.Field.Family != mapping.Geo) {
			out = append(out, c)
		} else {
			others = true
		}
	}
	return out, others
}

// blame notes the first error of a score, which is one of the request.
func (r *run) blame(path, format string, args ...any) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		r.fault = problem.Field(problem.Invalid, path, format, args...)
	}
	return math.NaN()
}

func (v *view) fieldFactor(b *search.FieldFactor, sp *mapping.Space, path string) (func(*object) float64, error) {
	list, others := v.numbersOf(b.Field, sp, false)
	if len(list) == 0 && others {
		return nil, problem.Field(problem.Invalid, path, "the field %q has no numbers", b.Field)
	}
	return func(o *object) float64 {
		least := math.Inf(1)
		for _, c := range list {
			for _, w := range o.values(c.Name) {
				least = math.Min(least, w.num)
			}
		}
		if math.IsInf(least, 1) {
			if b.Missing == nil {
				return v.run.blame(path, "a hit has no number in the field %q; give missing", b.Field)
			}
			least = *b.Missing
		}
		s := modified(b.Modifier, least*b.Factor)
		if s < 0 || math.IsNaN(s) || math.IsInf(s, 0) {
			return v.run.blame(path, "the field %q gives a score of %v, which must be a number and not below 0", b.Field, s)
		}
		return s
	}, nil
}

func modified(modifier string, n float64) float64 {
	switch modifier {
	case "log":
		return math.Log10(n)
	case "log1p":
		return math.Log10(n + 1)
	case "log2p":
		return math.Log10(n + 2)
	case "ln":
		return math.Log(n)
	case "ln1p":
		return math.Log1p(n)
	case "ln2p":
		return math.Log1p(n + 1)
	case "square":
		return n * n
	case "sqrt":
		return math.Sqrt(n)
	case "reciprocal":
		return 1 / n
	}
	return n
}

// randomScore hashes what a document is known by, so that it stays the same
// whatever is written meanwhile.
func (v *view) randomScore(b *search.RandomScore, sp *mapping.Space) (func(*object) float64, error) {
	seed := b.Seed
	if seed == "" {
		seed = strconv.FormatInt(v.run.now.UnixNano(), 36)
	}
	text := func(o *object) string { return o.doc.key.Type + ":" + o.doc.key.OUUID + ":" + strconv.Itoa(o.offset()) }
	if b.Field != "" && b.Field != mapping.IDField {
		read, err := v.sortReader(&search.SortKey{Field: b.Field}, sp)
		if err != nil {
			return nil, err
		}
		text = func(o *object) string {
			s := read(&candidate{doc: o.doc, at: o})
			if s.state == isNumber {
				return strconv.FormatFloat(s.num, 'g', -1, 64)
			}
			return s.text
		}
	}
	return func(o *object) float64 {
		h := fnv.New64a()
		h.Write([]byte(seed))
		h.Write([]byte{0})
		h.Write([]byte(text(o)))
		return float64(mix(h.Sum64())>>40) / (1 << 24)
	}, nil
}

// mix spreads the bits of a hash, of which FNV leaves the high ones alike.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// falling measures in one column how far values are from the origin, in
// multiples of the scale.
type falling struct {
	c    column
	away func(n float64) float64
}

// decay reads how a function falls in each column of its field.
func (v *view) decay(b *search.Decay, sp *mapping.Space, path string) (func(*object) float64, error) {
	columns, _ := v.numbersOf(b.Field, sp, true)
	var list []falling
	for _, c := range columns {
		f, err := v.fallIn(b, c, path)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return func(o *object) float64 {
		low, high, sum, n := math.Inf(1), 0.0, 0.0, 0
		for _, f := range list {
			for _, w := range o.values(f.c.Name) {
				d := f.away(w.num)
				low, high, sum = math.Min(low, d), math.Max(high, d), sum+d
				n++
			}
		}
		switch {
		case n == 0:
			return 1
		case b.Mode == search.SortMax:
			return curve(b, high)
		case b.Mode == search.SortSum:
			return curve(b, sum)
		case b.Mode == search.SortAvg:
			return curve(b, sum/float64(n))
		}
		return curve(b, low)
	}, nil
}

func (v *view) fallIn(b *search.Decay, c column, path string) (falling, error) {
	bad := func(what string) (falling, error) {
		return falling{}, problem.Field(problem.Invalid, path, "%s: %q needs %s", b.Curve, b.Field, what)
	}
	var from float64
	away := func(n float64) float64 { return math.Abs(n - from) }
	scale, offset := b.Scale.Number, b.Offset.Number
	switch c.Field.Family {
	case mapping.Geo:
		if b.Point == nil {
			return bad("a point as origin")
		}
		away = func(n float64) float64 { return geo.Distance(*b.Point, geo.Decode(n)) }
		scale, offset = b.Scale.Meters, b.Offset.Meters
	case mapping.Date:
		if b.Origin == nil {
			return bad("a date as origin")
		}
		var err error
		if from, err = v.run.date(c.Field.Format, *b.Origin, time.UTC, false); err != nil {
			return bad("a date as origin: " + err.Error())
		}
		scale, offset = b.Scale.Millis, b.Offset.Millis
	default:
		ok := b.Origin != nil
		if ok {
			from, ok = b.Origin.Number()
		}
		if !ok {
			return bad("a number as origin")
		}
	}
	if scale <= 0 || offset < 0 {
		return bad("a scale above 0 and an offset in its unit")
	}
	return falling{c, func(n float64) float64 { return math.Max(away(n)-offset, 0) / scale }}, nil
}

// curve gives what a distance in multiples of the scale comes to.
func curve(b *search.Decay, d float64) float64 {
	switch b.Curve {
	case search.Exponential:
		return math.Pow(b.By, d)
	case search.Linear:
		return math.Max(1-d*(1-b.By), 0)
	}
	return math.Pow(b.By, d*d)
}
