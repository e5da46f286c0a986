package search

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
)

// appendTokens renders tokens as Elasticsearch does: offsets count UTF-16
// units. The tokens need not be in the order of the text.
func appendTokens(dst []byte, text string, tokens []search.Token) []byte {
	units := utf16Offsets(text)
	dst = append(dst, `{"tokens":[`...)
	for i, t := range tokens {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(append(dst, `{"token":`...), t.Term)
		dst = fmt.Appendf(dst, `,"start_offset":%d,"end_offset":%d,"type":"%s","position":%d}`, units(t.Start), units(t.End), kindOf(t.Term), t.Position)
	}
	return append(dst, "]}"...)
}

// utf16Offsets gives a function from bytes of a text to UTF-16 units.
func utf16Offsets(text string) func(int) int {
	const step = 64
	marks := make([]int32, 0, len(text)/step+1) // units before each step-th byte
	n := int32(0)
	for i := range len(text) {
		if i%step == 0 {
			marks = append(marks, n)
		}
		n += unitsOf(text[i])
	}
	return func(at int) int {
		at = min(max(at, 0), len(text))
		if len(marks) == 0 {
			return 0
		}
		k := min(at/step, len(marks)-1)
		n := marks[k]
		for i := k * step; i < at; i++ {
			n += unitsOf(text[i])
		}
		return int(n)
	}
}

// unitsOf counts a character at its first byte.
func unitsOf(b byte) int32 {
	switch {
	case !utf8.RuneStart(b):
		return 0
	case b >= 0xf0:
		return 2
	}
	return 1
}

// kindOf gives the type of a token as the standard tokenizer names it.
func kindOf(term string) string {
	if term != "" && strings.Trim(term, "0123456789.,") == "" {
		return "<NUM>"
	}
	return "<ALPHANUM>"
}
