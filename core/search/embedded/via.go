package embedded

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// via remembers, while a tail is written, what the values of one field are in
// another one that gets the same values: _all gets those of all strings. To look
// a token up in a dictionary costs more than all else that becomes of it.
type via struct {
	ords  []uint32   // by ordinal of a token: its ordinal in the other field
	lists [][]uint32 // by ordinal of a keyword: those of its tokens
}

// placed is where a text went last.
type placed struct {
	text []byte
	f    *family
	ord  uint32   // of a keyword
	ords []uint32 // of the tokens of a text, gone for those that are too long
}

// ordinals gives the ordinals of the tokens of a text in a field.
func (b *batch) ordinals(f *family, text []byte, tokens []analysis.Token, last *placed) []uint32 {
	out := b.ords[:0]
	known := len(text) > 0 && last.f != nil && last.f != f && sameBytes(last.text, text)
	switch {
	case known && last.f.field.Family == mapping.Keyword:
		lists := &f.from(last.f).lists
		if int(last.ord) < len(*lists) && (*lists)[last.ord] != nil {
			return (*lists)[last.ord]
		}
		out = f.lookUp(out, &b.buffer, tokens)
		if last.f.post[last.ord].n > 1 { // most values that occur twice occur often
			*lists = grown(*lists, len(last.f.post), nil)
			(*lists)[last.ord] = slices.Clone(out)
		}
	case known && last.f.field.Analyzer == f.field.Analyzer && len(last.ords) == len(tokens):
		ords := &f.from(last.f).ords
		*ords = grown(*ords, len(last.f.post), gone)
		for i, t := range tokens {
			ord := last.ords[i]
			if ord != gone {
				if (*ords)[ord] == gone {
					(*ords)[ord] = f.ord(b.buffer.Term(t))
				}
				ord = (*ords)[ord]
			}
			out = append(out, ord)
		}
	default:
		out = f.lookUp(out, &b.buffer, tokens)
	}
	// What is remembered must not be written over by the next text.
	b.ords, b.before = b.before, out
	return out
}

// lookUp appends the ordinals of tokens.
func (f *family) lookUp(out []uint32, b *analysis.Buffer, tokens []analysis.Token) []uint32 {
	for _, t := range tokens {
		ord := gone
		if term := b.Term(t); len(term) <= maxTerm {
			ord = f.ord(term)
		}
		out = append(out, ord)
	}
	return out
}

// from gives what is remembered of the values of another field.
func (f *family) from(other *family) *via {
	if v := f.vias[other]; v != nil {
		return v
	}
	if f.vias == nil {
		f.vias = map[*family]*via{}
	}
	v := &via{}
	f.vias[other] = v
	return v
}

// grown gives a list of at least n elements.
func grown[T any](list []T, n int, fill T) []T {
	list = slices.Grow(list, max(0, n-len(list)))
	for len(list) < n {
		list = append(list, fill)
	}
	return list
}
