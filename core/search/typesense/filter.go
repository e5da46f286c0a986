package typesense

import (
	"math"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// cond says which objects of one space of one index are meant. It can be
// written as a filter of the server, once what the server cannot do was
// replaced by lists of ids (see run.prepare), and it can be asked about an
// object in hand.
type cond interface {
	holds(o *object) bool
}

// all and nothing are the two conditions without a field.
type (
	all     struct{}
	nothing struct{}
)

// and, or and not combine conditions; and without any holds, or does not.
type (
	and []cond
	or  []cond
	not struct{ c cond }
)

// atLeast holds if n of the list do.
type atLeast struct {
	n    int
	list []cond
}

// test looks at the values of one column: any of the terms, a term that starts
// with prefix, or a number in any of the spans.
type test struct {
	f      *mapping.Field
	column string
	terms  []string
	prefix string
	code   string // of the prefix
	begins bool   // prefix counts, not terms
	spans  []span
}

// span is a range of numbers; infinite ends are open.
type span struct {
	low, high         float64
	openLow, openHigh bool
}

// exists holds for objects with a value in the path or below it.
type exists struct{ path string }

// among holds for objects whose id, or the id of an object around them, is in
// the set: field is "id", "_root" or "_up".
type among struct {
	field string
	ids   []string
	set   map[string]bool
}

// having holds for objects that hold a nested object of the space inner, at
// any depth, for which c holds.
type having struct {
	outer, inner *mapping.Space
	c            cond
}

// inside holds for objects of the space inner that lie in an object of outer
// for which c holds.
type inside struct {
	outer, inner *mapping.Space
	c            cond
}

// verified holds for those objects that match c and of which pred holds; pred
// needs the source.
type verified struct {
	sp   *mapping.Space
	c    cond
	pred func(o *object) bool
	why  string // for explain
}

// joined is a condition that was written as a join.
type joined struct {
	text string
	c    cond
}

func amongIDs(field string, ids []string) *among {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return &among{field, ids, set}
}

func (all) holds(*object) bool         { return true }
func (nothing) holds(*object) bool     { return false }
func (c not) holds(o *object) bool     { return !c.c.holds(o) }
func (c *joined) holds(o *object) bool { return c.c.holds(o) }

func (c and) holds(o *object) bool {
	for _, k := range c {
		if !k.holds(o) {
			return false
		}
	}
	return true
}

func (c or) holds(o *object) bool {
	return slices.ContainsFunc(c, func(k cond) bool { return k.holds(o) })
}

func (c *atLeast) holds(o *object) bool {
	n := 0
	for _, k := range c.list {
		if k.holds(o) {
			n++
		}
	}
	return n >= c.n
}

func (c *test) holds(o *object) bool {
	if c.f.Family == mapping.Text {
		return slices.ContainsFunc(o.tokens(c.f, c.column).terms, c.wants)
	}
	for _, v := range o.values(c.column) {
		if c.f.Family == mapping.Keyword && c.wants(v.text) || c.f.Family.Numeric() && c.covers(v.num) {
			return true
		}
	}
	return false
}

// wants tells whether the test is for the term.
func (c *test) wants(term string) bool {
	if c.begins {
		return strings.HasPrefix(term, c.prefix)
	}
	return slices.Contains(c.terms, term)
}

func (c *test) covers(n float64) bool {
	return slices.ContainsFunc(c.spans, func(s span) bool { return s.holds(n) })
}

func (s span) holds(n float64) bool {
	if n < s.low || s.openLow && n == s.low {
		return false
	}
	return n < s.high || !s.openHigh && n == s.high
}

func point(n float64) span { return span{low: n, high: n} }

func everyNumber() span { return span{low: math.Inf(-1), high: math.Inf(1)} }

func (c *exists) holds(o *object) bool { return o.has(c.path) }

func (c *among) holds(o *object) bool {
	switch c.field {
	case "_root":
		return c.set[o.root().id]
	case "_up":
		return o.up != nil && c.set[o.up.id]
	}
	return c.set[o.id]
}

func (c *having) holds(o *object) bool {
	return slices.ContainsFunc(o.within(c.inner), func(k *object) bool { return c.c.holds(k) })
}

func (c *inside) holds(o *object) bool {
	for up := o; up != nil; up = up.up {
		if up.space == c.outer {
			return c.c.holds(up)
		}
	}
	return false
}

func (c *verified) holds(o *object) bool { return c.c.holds(o) && c.pred(o) }

// both is and without needless parts.
func both(list ...cond) cond {
	var out and
	for _, c := range list {
		switch c := c.(type) {
		case nil, all:
			continue
		case nothing:
			return c
		case and:
			out = append(out, c...)
		default:
			out = append(out, c)
		}
	}
	switch len(out) {
	case 0:
		return all{}
	case 1:
		return out[0]
	}
	return out
}

// either is or without needless parts. Tests of one column for terms become
// one, because the values of a list do not count against the limit of
// conditions.
func either(list ...cond) cond {
	var out or
	byColumn := map[string]*test{}
	for _, c := range list {
		switch c := c.(type) {
		case nil, nothing:
			continue
		case all:
			return c
		case or:
			out = append(out, c...)
		default:
			out = append(out, c)
		}
	}
	kept := out[:0]
	for _, c := range out {
		t, ok := c.(*test)
		if !ok || t.begins {
			kept = append(kept, c)
			continue
		}
		if first := byColumn[t.column]; first != nil {
			first.terms = append(first.terms, t.terms...)
			first.spans = append(first.spans, t.spans...)
			continue
		}
		merged := *t
		merged.terms, merged.spans = slices.Clone(t.terms), slices.Clone(t.spans)
		byColumn[t.column] = &merged
		kept = append(kept, &merged)
	}
	switch len(kept) {
	case 0:
		return nothing{}
	case 1:
		return kept[0]
	}
	return kept
}

// negated is not without needless parts.
func negated(c cond) cond {
	switch c := c.(type) {
	case all:
		return nothing{}
	case nothing:
		return all{}
	case not:
		return c.c
	}
	return not{c}
}

// need gives the condition that n of the list hold.
func need(n int, list []cond) cond {
	switch {
	case n <= 0:
		return all{}
	case n > len(list):
		return nothing{}
	case n == 1:
		return either(list...)
	case n == len(list):
		return both(list...)
	}
	return &atLeast{n, list}
}

// minimum gives how many of the optional clauses of a bool must match.
func minimum(q *search.Bool) int {
	n := 0
	if q.MinShould != nil {
		n = q.MinShould.Of(len(q.Should))
	}
	if n == 0 && len(q.Must)+len(q.Filter) == 0 && len(q.Should) > 0 {
		n = 1
	}
	return n
}
