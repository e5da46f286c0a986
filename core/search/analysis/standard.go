package analysis

import (
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/segment"
)

// class is the word-break class of a character, as far as words of Latin,
// Greek and Cyrillic letters need it (Unicode annex 29).
type class uint8

const (
	other      class = iota // ends a word
	letter                  // ALetter
	digit                   // Numeric
	connector               // ExtendNumLet: _
	midLetter               // joins letters: : and the middle dot
	midNum                  // joins digits: , ;
	midBoth                 // joins letters, and digits: . ' and their curly forms
	complexity              // needs the whole algorithm
)

func classOf(r rune) class {
	switch {
	case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		return letter
	case r >= '0' && r <= '9':
		return digit
	case r < 0x80:
		switch r {
		case '_':
			return connector
		case '.', '\'':
			return midBoth
		case ':':
			return midLetter
		case ',', ';':
			return midNum
		}
		return other
	case r < 0x250:
		switch {
		case r == 0xAD:
			return complexity
		case r == 0xB7:
			return midLetter
		case unicode.IsLetter(r):
			return letter
		}
		return other
	case r >= 0x391 && r <= 0x3C9 && r != 0x3A2, r >= 0x400 && r <= 0x481:
		return letter
	case r == 0x2018, r == 0x2019:
		return midBoth
	case r >= 0x2010 && r <= 0x2015, r >= 0x201C && r <= 0x2022, r == 0x2026, r == 0x20AC, r == 0x2009, r == 0x2002, r == 0x2003:
		return other
	}
	return complexity
}

// standard splits a text into words as Elasticsearch's tokenizer of that name.
// Texts with other scripts than the usual European ones go through the
// segmenter, which knows all of them and is slower.
func standard(b *Buffer, text []byte, lower bool) {
	from, size := len(b.Tokens), len(b.bytes)
	if !europeanWords(b, text, lower) {
		b.Tokens, b.bytes = b.Tokens[:from], b.bytes[:size]
		segmentWords(b, text, lower)
	}
}

// europeanWords gives up and returns false at a character it does not know.
func europeanWords(b *Buffer, text []byte, lower bool) bool {
	pos := 0
	for i := 0; i < len(text); {
		c, size := classAt(text, i)
		switch c {
		case complexity:
			return false
		case letter, digit, connector:
			end, word, ok := wordEnd(text, i)
			if !ok {
				return false
			}
			if word {
				pos = emit(b, text, i, end, pos, lower)
			}
			i = end
		default:
			i += size
		}
	}
	return true
}

func classAt(text []byte, i int) (class, int) {
	if c := text[i]; c < utf8.RuneSelf {
		return classOf(rune(c)), 1
	}
	r, size := utf8.DecodeRune(text[i:])
	if r == utf8.RuneError {
		return complexity, size
	}
	return classOf(r), size
}

// wordEnd finds the end of the word that starts at i. word is false if it
// holds neither a letter nor a digit.
func wordEnd(text []byte, i int) (end int, word, ok bool) {
	last := other
	for i < len(text) {
		c, size := classAt(text, i)
		switch c {
		case letter, digit:
			word = true
			last, i = c, i+size
		case connector:
			last, i = c, i+size
		case complexity:
			return 0, false, false
		case other:
			return i, word, true
		default: // a middle: joins only between two of its kind
			if i+size >= len(text) {
				return i, word, true
			}
			next, _ := classAt(text, i+size)
			if next == complexity {
				return 0, false, false
			}
			joins := last == letter && next == letter && c != midNum || last == digit && next == digit && c != midLetter
			if !joins {
				return i, word, true
			}
			i += size
		}
	}
	return i, word, true
}

// emit appends a word, in pieces if it is too long, and gives the position
// behind it.
func emit(b *Buffer, text []byte, start, end, pos int, lower bool) int {
	for start < end {
		off, n, i := len(b.bytes), 0, start
		for i < end && n < maxTokenLength {
			c := text[i]
			if c < utf8.RuneSelf {
				if lower && c >= 'A' && c <= 'Z' {
					c += 'a' - 'A'
				}
				b.bytes = append(b.bytes, c)
				i++
			} else {
				r, size := utf8.DecodeRune(text[i:])
				if lower {
					r = unicode.ToLower(r)
				}
				b.bytes = utf8.AppendRune(b.bytes, r)
				i += size
			}
			n++
		}
		b.close(off, start, i, pos)
		start = i
		pos++
	}
	return pos
}

func connectorsOnly(word []byte) bool {
	for _, r := range string(word) {
		if !unicode.Is(unicode.Pc, r) {
			return false
		}
	}
	return true
}

// isEmoji tells whether a piece of a text is an emoji, which people look for as
// they do for words: a pictograph, a sign such as a heart, or a flag.
func isEmoji(piece []byte) bool {
	r, _ := utf8.DecodeRune(piece)
	return r >= 0x1F300 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r >= 0x1F1E6 && r <= 0x1F1FF
}

func segmentWords(b *Buffer, text []byte, lower bool) {
	s := segment.NewWordSegmenterDirect(text)
	start, pos := 0, 0
	for s.Segment() {
		end := start + len(s.Bytes())
		word := s.Type() != segment.None && !connectorsOnly(s.Bytes())
		if word || isEmoji(s.Bytes()) {
			pos = emit(b, text, start, end, pos, lower)
		}
		start = end
	}
}
