package typesense

import (
	"math"

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

func point(n float64) span { return span{low: n, high: n} }

func everyNumber() span { return span{low: math.Inf(-1), high: math.Inf(1)} }
