package analysis

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// whole gives the text as one token.
func whole(b *Buffer, text []byte, lower bool) {
	off := len(b.bytes)
	if lower {
		b.bytes = append(b.bytes, strings.ToLower(string(text))...)
	} else {
		b.bytes = append(b.bytes, text...)
	}
	b.close(off, 0, len(text), 0)
}

// runs splits a text into runs of characters that in accepts.
func runs(in func(r rune) bool) tokenizer {
	return func(b *Buffer, text []byte, lower bool) {
		start, pos := -1, 0
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRune(text[i:])
			switch {
			case in(r) && start < 0:
				start = i
			case !in(r) && start >= 0:
				pos = emit(b, text, start, i, pos, lower)
				start = -1
			}
			i += size
		}
		if start >= 0 {
			emit(b, text, start, len(text), pos, lower)
		}
	}
}

func notSpace(r rune) bool { return !unicode.IsSpace(r) }

// split cuts a text at the matches of an expression.
func split(re *regexp.Regexp) tokenizer {
	return func(b *Buffer, text []byte, lower bool) {
		start, pos := 0, 0
		for _, m := range re.FindAllIndex(text, -1) {
			pos = emit(b, text, start, m[0], pos, lower)
			start = m[1]
		}
		emit(b, text, start, len(text), pos, lower)
	}
}

// maxLevels bounds the levels of a path, because the tokens of a path of n
// levels have n² parts.
const maxLevels = 100

// hierarchy gives "a", "a/b", "a/b/c" for "a/b/c".
func hierarchy(delimiter byte) tokenizer {
	return func(b *Buffer, text []byte, lower bool) {
		levels := 0
		for i := 1; i < len(text) && levels < maxLevels; i++ {
			if text[i] == delimiter {
				whole(b, text[:i], lower)
				levels++
			}
		}
		whole(b, text, lower)
	}
}

// grams gives the pieces of min to max characters of each run of characters
// that in accepts; with edge only those at its start.
func grams(in func(r rune) bool, least, most int, edge bool) tokenizer {
	words := runs(in)
	return func(b *Buffer, text []byte, lower bool) {
		var inner Buffer
		words(&inner, text, lower)
		pos := 0
		for _, t := range inner.Tokens {
			term := inner.Term(t)
			starts := append(runeStarts(term), len(term))
			last := len(starts) - 1
			for i := 0; i < last && (i == 0 || !edge); i++ {
				for n := least; n <= most && i+n <= last; n++ {
					b.add(term[starts[i]:starts[i+n]], int(t.Start)+starts[i], int(t.Start)+starts[i+n], pos)
					pos++
				}
			}
		}
	}
}

func runeStarts(b []byte) []int {
	out := make([]int, 0, len(b))
	for i := range string(b) {
		out = append(out, i)
	}
	return out
}

// charClass gives the test for token_chars of the ngram tokenizers; no names
// mean all characters.
func charClass(names []string) (func(rune) bool, bool) {
	if len(names) == 0 {
		return func(rune) bool { return true }, true
	}
	var tests []func(rune) bool
	for _, name := range names {
		switch name {
		case "letter":
			tests = append(tests, unicode.IsLetter)
		case "digit":
			tests = append(tests, unicode.IsDigit)
		case "whitespace":
			tests = append(tests, unicode.IsSpace)
		case "punctuation":
			tests = append(tests, unicode.IsPunct)
		case "symbol":
			tests = append(tests, unicode.IsSymbol)
		default:
			return nil, false
		}
	}
	return func(r rune) bool {
		for _, t := range tests {
			if t(r) {
				return true
			}
		}
		return false
	}, true
}
