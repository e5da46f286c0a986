package typesense

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search/mapping"
)

func (all) holds(*object) bool     { return true }
func (nothing) holds(*object) bool { return false }

func (c not) holds(o *object) bool { return !c.c.holds(o) }

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
