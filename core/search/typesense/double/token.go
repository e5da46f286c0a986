package double

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenBytes is the length at which the server cuts a token of its index.
const tokenBytes = 100

// tokens splits a text as the server does without a locale: only spaces and
// line ends separate, ASCII is lower-cased, Latin accents are folded, other
// letters stay as they are and every sign is dropped without a trace.
func tokens(text string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, cut(b.String(), tokenBytes))
			b.Reset()
		}
	}
	for _, r := range text {
		switch {
		case r == ' ' || r == '\n':
			flush()
		case r >= 'A' && r <= 'Z':
			b.WriteByte(byte(r) + 'a' - 'A')
		case r < utf8.RuneSelf:
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				b.WriteByte(byte(r))
			}
		default:
			b.WriteString(fold(r))
		}
	}
	flush()
	return out
}

// normal is the text that `:=` compares and that strings sort by.
func normal(tokens []string) string { return strings.Join(tokens, " ") }

// cut gives the first n bytes at most; the server cuts inside letters, too.
func cut(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// foldFrom and foldTo pair the Latin letters U+00C0 to U+017F with ASCII; a
// dot stands for a letter written with two or for a sign.
const (
	foldFrom = 0xC0
	foldTo   = "aaaaaa.ceeeeiiiidnooooo.ouuuuy..aaaaaa.ceeeeiiiidnooooo.ouuuuy.y" +
		"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkkqlllllll" +
		"lllnnnnnnnnnoooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"
)

// fold gives the ASCII form of an accented Latin letter in lower case; other
// letters come back unchanged, punctuation and combining marks vanish.
func fold(r rune) string {
	switch r {
	case 'Æ', 'æ':
		return "ae"
	case 'Œ', 'œ':
		return "oe"
	case 'ß':
		return "ss"
	case 'Þ', 'þ':
		return "th"
	case 'Ĳ', 'ĳ':
		return "ij"
	}
	if i := int(r) - foldFrom; i >= 0 && i < len(foldTo) && foldTo[i] != '.' {
		return foldTo[i : i+1]
	}
	latinSign := r < foldFrom || r >= 0x300 && r <= 0x36F || r >= 0x2000 && r <= 0x206F
	if latinSign && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return ""
	}
	return string(r)
}
