package analysis

import (
	"math"

	bleve "github.com/blevesearch/bleve/v2/analysis"
)

// maxTokenLength is the longest token in characters; longer ones are split, as
// Elasticsearch's tokenizers do.
const maxTokenLength = 255

// Analyzer makes tokens of a text. It is safe for concurrent use.
type Analyzer struct {
	name    string
	chars   []charFilter
	token   tokenizer
	lower   bool // the tokenizer also makes lower case
	filters []bleve.TokenFilter
}

// tokenizer appends the tokens of a text, in lower case if lower.
type tokenizer func(b *Buffer, text []byte, lower bool)

// Name is the name by which a set knows the analyzer.
func (a *Analyzer) Name() string { return a.name }

// Append analyzes a text and appends its tokens to b.
func (a *Analyzer) Append(b *Buffer, text []byte) {
	if len(a.chars) == 0 && len(a.filters) == 0 {
		a.token(b, text, a.lower)
		return
	}
	edits := make([][]edit, len(a.chars))
	for i, f := range a.chars {
		text, edits[i] = f(text)
	}
	from := len(b.Tokens)
	a.token(b, text, a.lower)
	if len(a.filters) > 0 {
		a.filter(b, from)
	}
	for i := len(edits) - 1; i >= 0; i-- {
		correct(b.Tokens[from:], edits[i])
	}
}

// Terms gives the tokens of a text with copies of their terms.
func (a *Analyzer) Terms(text string) (terms []string, tokens []Token) {
	var b Buffer
	a.Append(&b, []byte(text))
	terms = make([]string, len(b.Tokens))
	for i, t := range b.Tokens {
		terms[i] = string(b.Term(t))
	}
	return terms, b.Tokens
}

// filter sends the tokens behind from through the filters.
func (a *Analyzer) filter(b *Buffer, from int) {
	slab := make([]bleve.Token, len(b.Tokens)-from)
	stream := make(bleve.TokenStream, len(slab))
	for i, t := range b.Tokens[from:] {
		// A full slice expression, so that a filter that appends to a term
		// does not write into the next one.
		slab[i] = bleve.Token{Term: b.bytes[t.off:t.end:t.end], Start: int(t.Start), End: int(t.End), Position: int(t.Pos) + 1}
		stream[i] = &slab[i]
	}
	for _, f := range a.filters {
		stream = f.Filter(stream)
	}
	b.Tokens = b.Tokens[:from]
	for _, t := range stream {
		if len(t.Term) == 0 || t.Position < 1 {
			continue
		}
		b.add(t.Term, t.Start, t.End, t.Position-1)
	}
}

// edit says that from the offset at of a filtered text on, offsets of the
// original are shift larger.
type edit struct{ at, shift int }

// charFilter changes a text before it is split and tells how offsets moved.
type charFilter func(text []byte) ([]byte, []edit)

func correct(tokens []Token, edits []edit) {
	for i := range tokens {
		t := &tokens[i]
		start, _ := original(int(t.Start), edits)
		// The end is behind the last character of the token.
		end, limit := original(int(t.End)-1, edits)
		t.Start, t.End = uint32(start), uint32(max(min(end+1, limit), start))
	}
}

// original gives the offset in the original of the offset at in the filtered
// text, and the original offset at which the next edit ends.
func original(at int, edits []edit) (offset, limit int) {
	low, high := 0, len(edits)
	for low < high {
		mid := (low + high) / 2
		if edits[mid].at <= at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	offset, limit = at, math.MaxInt
	if low > 0 {
		offset += edits[low-1].shift
	}
	if low < len(edits) {
		limit = edits[low].at + edits[low].shift
	}
	return min(offset, limit), limit
}
