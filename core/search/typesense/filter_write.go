package typesense

import (
	"fmt"
	"slices"
	"strings"
)

// maxConditions is how many conditions a filter may hold; the server counts
// them with the operators between them and stops at 100.
const maxConditions = 50

// maxJoin is how long the text of a join may be: the server runs a recursive
// regular expression over it and dies somewhere above 20,000 bytes.
const maxJoin = 8_000

// The filters that match nothing and everything. An empty filter matches
// everything, too, but cannot be part of another.
const matchNothing = "id:[]"

// expr is a condition on its way to a filter, with negations pushed down to
// the leaves.
type expr struct {
	op   byte   // 0 for a leaf, '&' or '|'
	text string // of a leaf; "" matches everything
	kids []*expr
	c    cond // what it was made of
	neg  bool
	join bool
	// cut tells of a prefix, of which the server looks at four candidates
	// unless it is told otherwise, and inside of a join it cannot be told.
	cut bool
}

// count gives the conditions of an expression.
func (e *expr) count() int {
	if e.op == 0 {
		return 1
	}
	n := 0
	for _, k := range e.kids {
		n += k.count()
	}
	return n
}

func (e *expr) any(is func(*expr) bool) bool {
	return is(e) || slices.ContainsFunc(e.kids, func(k *expr) bool { return k.any(is) })
}

// String writes the filter. & and | bind equally strongly, so that every group
// stands in parentheses.
func (e *expr) String() string {
	if e.op == 0 {
		return e.text
	}
	parts := make([]string, len(e.kids))
	for i, k := range e.kids {
		parts[i] = k.String()
		if k.op != 0 {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, map[byte]string{'&': " && ", '|': " || "}[e.op])
}

// express pushes negations down. The condition must be prepared.
func express(c cond, neg bool) *expr {
	switch c := c.(type) {
	case all:
		return constant(!neg)
	case nothing:
		return constant(neg)
	case not:
		return express(c.c, !neg)
	case and:
		return group(c, '&', c, neg)
	case or:
		return group(c, '|', c, neg)
	case *atLeast:
		return express(combinations(c), neg)
	case *test:
		return expressTest(c, neg)
	case *exists:
		return leaf(c, neg, "_p:"+equals(neg)+EncodeKeyword(c.path))
	case *repeated:
		return leaf(c, neg, fieldRepeated+":"+equals(neg)+EncodeKeyword(c.path))
	case *among:
		if len(c.ids) == 0 {
			return constant(neg)
		}
		return leaf(c, neg, c.field+":"+equals(neg)+quoteIDs(c.ids))
	case *joined:
		text := c.text
		if neg {
			text = "!" + text
		}
		return &expr{text: text, c: c, neg: neg, join: true}
	}
	panic(fmt.Sprintf("a condition %T that was not prepared", c))
}

func equals(neg bool) string {
	if neg {
		return "!="
	}
	return "="
}

func leaf(c cond, neg bool, text string) *expr { return &expr{text: text, c: c, neg: neg} }

func constant(yes bool) *expr {
	if yes {
		return &expr{c: all{}}
	}
	return &expr{text: matchNothing, c: nothing{}}
}

// group writes a list of conditions, or with neg the negation of each with the
// other operator.
func group(c cond, op byte, list []cond, neg bool) *expr {
	if neg {
		op ^= '&' ^ '|'
	}
	out := &expr{op: op, c: c, neg: neg}
	for _, k := range list {
		e := express(k, neg)
		yes, no := e.op == 0 && e.text == "", e.op == 0 && e.text == matchNothing
		switch {
		case op == '&' && no || op == '|' && yes:
			return e
		case yes || no:
			continue
		case e.op == op:
			out.kids = append(out.kids, e.kids...)
		default:
			out.kids = append(out.kids, e)
		}
	}
	switch len(out.kids) {
	case 0:
		return constant(op == '&')
	case 1:
		return out.kids[0]
	}
	return out
}

// combinations writes n of k as the alternatives of all n that may be met.
func combinations(c *atLeast) cond {
	var out or
	var pick func(from int, chosen and)
	pick = func(from int, chosen and) {
		if len(chosen) == c.n {
			out = append(out, slices.Clone(chosen))
			return
		}
		for i := from; i < len(c.list); i++ {
			pick(i+1, append(chosen, c.list[i]))
		}
	}
	pick(0, nil)
	return out
}

// choose gives n over k, or something above 1,000.
func choose(n, k int) int {
	out := 1
	for i := range k {
		if out = out * (n - i) / (i + 1); out > 1_000 {
			return 1_001
		}
	}
	return out
}

// quoteIDs writes ids as a list. None has a backtick: the import refuses them.
func quoteIDs(ids []string) string {
	n := 2
	for _, id := range ids {
		n += len(id) + 3
	}
	b := make([]byte, 0, n)
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '`'), id...), '`')
	}
	return string(append(b, ']'))
}
