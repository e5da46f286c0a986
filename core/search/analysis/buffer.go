// Package analysis makes tokens of texts: Elasticsearch's analyzers, built in
// or configured, on a tokenizer of its own and Bleve's stemmers and stop
// words.
package analysis

// Token is one token in a Buffer. Start and End are bytes of the text that was
// analyzed; Pos counts words from 0 and keeps the gaps of removed words.
type Token struct {
	off, end   uint32 // of the term in the buffer
	Start, End uint32
	Pos        uint32
}

// Buffer collects the tokens of texts. It can be used again after Reset.
type Buffer struct {
	Tokens []Token
	bytes  []byte
}

// Reset empties the buffer and keeps its memory.
func (b *Buffer) Reset() { b.Tokens, b.bytes = b.Tokens[:0], b.bytes[:0] }

// Term gives the bytes of a token, valid until the buffer changes.
func (b *Buffer) Term(t Token) []byte { return b.bytes[t.off:t.end] }

// add appends a token with the term.
func (b *Buffer) add(term []byte, start, end, pos int) {
	off := len(b.bytes)
	b.bytes = append(b.bytes, term...)
	b.close(off, start, end, pos)
}

// close makes a token of the bytes that were appended since off.
func (b *Buffer) close(off, start, end, pos int) {
	if off == len(b.bytes) {
		return // nothing is left of it
	}
	b.Tokens = append(b.Tokens, Token{uint32(off), uint32(len(b.bytes)), uint32(start), uint32(end), uint32(pos)})
}
