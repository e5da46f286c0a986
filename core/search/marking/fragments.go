package marking

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// place is a part of a text, in bytes, and whether it is to be marked.
type place struct {
	from, to int
	wanted   bool
}

// fragment is a part of one of the texts, with the number of its marks.
type fragment struct {
	text     string
	at       int // its order among all
	from, to int
	marks    int
}

// Fragments gives the best parts of the texts with their marks, in the order
// of the texts or of their worth.
func (m *Field) Fragments(texts []string) []string {
	var found []fragment
	for i, text := range texts {
		places := m.places(text)
		for _, f := range m.cut(text, places) {
			if f.marks > 0 {
				f.text, f.at = m.write(text[f.from:f.to], f.from, places), len(found)
				found = append(found, f)
			}
		}
		if i >= 1<<16 {
			break
		}
	}
	byWorth := func(a, b fragment) int { return b.marks - a.marks }
	if n := m.how.Fragments; n > 0 && len(found) > n {
		slices.SortStableFunc(found, byWorth)
		found = found[:n]
	}
	if m.how.ByScore {
		slices.SortStableFunc(found, byWorth)
	} else {
		slices.SortFunc(found, func(a, b fragment) int { return a.at - b.at })
	}
	var out []string
	for _, f := range found {
		out = append(out, f.text)
	}
	if len(out) == 0 && m.how.NoMatch > 0 && len(texts) > 0 {
		return m.start(texts[0])
	}
	return out
}

// start gives the beginning of a text in which nothing was found, up to the
// end of a word.
func (m *Field) start(text string) []string {
	end := len(text)
	if m.how.Fragments > 0 {
		end = wordEnd(text, after(text, 0, m.how.NoMatch))
	}
	if part := strings.TrimSpace(text[:end]); part != "" {
		return []string{m.escaped(part)}
	}
	return nil
}

// places gives the words of a text and which of them are wanted.
func (m *Field) places(text string) []place {
	if m.Of.Family != mapping.Text {
		wanted := slices.ContainsFunc(m.wants, func(w marker) bool { return w.whole(m.Of, text) })
		return []place{{0, len(text), wanted}}
	}
	var out []place
	terms, tokens := m.Of.Analyzer.Terms(text)
	wanted := make([]bool, len(tokens))
	for _, w := range m.wants {
		if w.phrase != nil {
			w.inPhrase(m.Of, terms, tokens, wanted)
			continue
		}
		for i := range tokens {
			wanted[i] = wanted[i] || w.wants(m.Of, terms[i])
		}
	}
	for i, t := range tokens {
		p := place{int(t.Start), min(int(t.End), len(text)), wanted[i]}
		if n := len(out); n > 0 && p.from < out[n-1].to { // synonyms and shingles
			out[n-1].wanted = out[n-1].wanted || p.wanted
			continue
		}
		if p.from <= p.to {
			out = append(out, p)
		}
	}
	return out
}

// whole tells whether a value that is no text is wanted.
func (w *marker) whole(f *mapping.Field, text string) bool {
	if w.phrase != nil {
		return text == w.phrase.Text.Text || w.phrase.Prefix && strings.HasPrefix(text, w.phrase.Text.Text)
	}
	return w.wants(f, text)
}

// inPhrase marks the words of a text that stand as in the phrase, or so near
// each other as its slop allows.
func (w *marker) inPhrase(f *mapping.Field, terms []string, tokens []analysis.Token, wanted []bool) {
	words, at := f.Search.Terms(w.phrase.Text.Text)
	if len(words) == 0 {
		return
	}
	// found are tokens that are a word of the phrase, by how far they were moved
	// from its place there.
	type moved struct{ by, word, token int }
	var found []moved
	places := map[int]bool{}
	last := int(at[len(at)-1].Pos)
	for k, word := range words {
		pos := int(at[k].Pos)
		places[pos] = true
		for i, t := range tokens {
			if terms[i] == word || w.phrase.Prefix && pos == last && strings.HasPrefix(terms[i], word) {
				found = append(found, moved{int(t.Pos) - pos, pos, i})
			}
		}
	}
	slices.SortFunc(found, func(a, b moved) int { return a.by - b.by })
	there, done := map[int]int{}, 0 // words in the window, and the end of what is marked
	for from, to := 0, 0; from < len(found); from++ {
		for ; to < len(found) && found[to].by-found[from].by <= w.phrase.Slop; to++ {
			there[found[to].word]++
		}
		if len(there) == len(places) {
			for done = max(done, from); done < to; done++ {
				wanted[found[done].token] = true
			}
		}
		word := found[from].word
		if there[word]--; there[word] == 0 {
			delete(there, word)
		}
	}
}

// write gives a part of a text, which begins at from, with its marks.
func (m *Field) write(part string, from int, places []place) string {
	var b strings.Builder
	at := 0
	for _, p := range places {
		if start, end := p.from-from, p.to-from; p.wanted && start >= at && end <= len(part) {
			b.WriteString(m.escaped(part[at:start]))
			b.WriteString(m.how.Pre + m.escaped(part[start:end]) + m.how.Post)
			at = end
		}
	}
	b.WriteString(m.escaped(part[at:]))
	return strings.TrimSpace(b.String())
}

func (m *Field) escaped(s string) string {
	if m.how.HTML {
		return html.EscapeString(s)
	}
	return s
}

// cut gives the parts of a text in which something is wanted.
func (m *Field) cut(text string, places []place) []fragment {
	if m.how.Fragments == 0 {
		return []fragment{{to: len(text), marks: marksIn(places, 0, len(text))}}
	}
	if m.how.Cut == search.CutTokens {
		return m.cutTokens(text, places)
	}
	var out []fragment
	end := 0
	for _, p := range places {
		if !p.wanted || p.from < end {
			continue
		}
		f := fragment{from: p.from, to: p.to}
		switch m.how.Cut {
		case search.CutChars:
			f.from, f.to = m.around(text, p)
		case search.CutSentence:
			f.from, f.to = m.sentence(text, p)
		}
		f.from, f.to = max(f.from, end), max(f.to, p.to)
		end = f.to
		f.marks = marksIn(places, f.from, f.to)
		out = append(out, f)
	}
	return out
}

func marksIn(places []place, from, to int) (n int) {
	for _, p := range places {
		if p.wanted && p.from >= from && p.to <= to {
			n++
		}
	}
	return n
}

// cutTokens divides the whole text at words.
func (m *Field) cutTokens(text string, places []place) []fragment {
	var out []fragment
	start := 0
	for _, p := range places {
		if p.to-start > m.how.Size && p.from > start {
			out = append(out, fragment{from: start, to: p.from, marks: marksIn(places, start, p.from)})
			start = p.from
		}
	}
	return append(out, fragment{from: start, to: len(text), marks: marksIn(places, start, len(text))})
}

// sentence gives the sentence around a place, or of a long one the words
// around it.
func (m *Field) sentence(text string, p place) (from, to int) {
	from, to = sentenceStart(text, p.from), sentenceEnd(text, p.from)
	size := m.how.Size
	if size == 0 || utf8.RuneCountInString(text[from:to]) <= size {
		return from, to
	}
	if near := before(text, p.from, size); near > from {
		from = wordStart(text, near)
	}
	left := max(size-utf8.RuneCountInString(text[from:p.from]), 0)
	if end := after(text, p.from, left); end < to {
		to = min(to, wordEnd(text, end))
	}
	return from, to
}

// around gives Size characters with the place in the middle, a little more if
// a boundary is near.
func (m *Field) around(text string, p place) (from, to int) {
	rest := max(m.how.Size-utf8.RuneCountInString(text[p.from:p.to]), 0)
	from = before(text, p.from, rest/2)
	to = after(text, p.to, rest-rest/2)
	for n := 0; n < m.how.MaxScan && from > 0; n++ {
		r, size := utf8.DecodeLastRuneInString(text[:from])
		if strings.ContainsRune(m.how.BoundaryChars, r) {
			break
		}
		from -= size
	}
	for n := 0; n < m.how.MaxScan && to < len(text); n++ {
		r, size := utf8.DecodeRuneInString(text[to:])
		if strings.ContainsRune(m.how.BoundaryChars, r) {
			break
		}
		to += size
	}
	return from, to
}

// before and after give the place n characters from at.
func before(text string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

func after(text string, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// wordStart and wordEnd move a place inside a word to its start or end.
func wordStart(text string, at int) int {
	for at > 0 && at < len(text) {
		next, _ := utf8.DecodeRuneInString(text[at:])
		last, size := utf8.DecodeLastRuneInString(text[:at])
		if !wordRune(next) || !wordRune(last) {
			break
		}
		at -= size
	}
	return at
}

func wordEnd(text string, at int) int {
	for at > 0 && at < len(text) {
		last, _ := utf8.DecodeLastRuneInString(text[:at])
		next, size := utf8.DecodeRuneInString(text[at:])
		if !wordRune(next) || !wordRune(last) {
			break
		}
		at += size
	}
	return at
}

// sentenceEnd gives where the next sentence behind at begins, or the end.
func sentenceEnd(text string, at int) int {
	for i := at; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if ends, next := endsSentence(text, r, i); ends {
			return next
		}
	}
	return len(text)
}

// sentenceStart gives where the sentence around at begins.
func sentenceStart(text string, at int) int {
	for i := at; i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if ends, next := endsSentence(text, r, i); ends && next <= at {
			return next
		}
		i -= size
	}
	return 0
}

// endsSentence tells whether r, which ends at i, ends a sentence, and where the
// next one begins.
func endsSentence(text string, r rune, i int) (bool, int) {
	switch r {
	case '\n', '\u2029':
		return true, i
	case '\u3002', '\uff01', '\uff1f':
		return true, i
	case '.', '!', '?':
	default:
		return false, 0
	}
	rest := strings.TrimLeft(text[i:], "\"')]}\u201d\u00bb")
	trimmed := strings.TrimLeftFunc(rest, func(r rune) bool { return r != '\n' && unicode.IsSpace(r) })
	if len(trimmed) == len(rest) {
		return trimmed == "", len(text)
	}
	next, _ := utf8.DecodeRuneInString(trimmed)
	return !unicode.IsLower(next), len(text) - len(trimmed)
}
