package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
)

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
func minimum(m *search.Minimum, required, optional int) int {
	n := 0
	if m != nil {
		n = m.Of(optional)
	}
	if n == 0 && required == 0 && optional > 0 {
		n = 1
	}
	return n
}
