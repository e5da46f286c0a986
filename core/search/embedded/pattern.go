package embedded

import (
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
)

func (v *view) prefix(q *search.Prefix, sp *space) (op, error) {
	if q.Field == indexField {
		return v.index(sp, q.Boost, func(name string) bool { return strings.HasPrefix(name, q.Value) }), nil
	}
	p := pattern{parts: []piece{{text: q.Value}, {star: true}}, fold: q.CaseInsensitive}
	return v.expand(p, q.Field, sp, q.Boost, q.Analysis)
}

func (v *view) wildcard(q *search.Wildcard, sp *space) (op, error) {
	p := parsePattern(q.Pattern)
	p.fold = q.CaseInsensitive
	if q.Field == indexField {
		return v.index(sp, q.Boost, p.matches), nil
	}
	return v.expand(p, q.Field, sp, q.Boost, q.Analysis)
}

// expand matches the terms of a field that a pattern matches.
func (v *view) expand(whole pattern, field string, sp *space, boost float64, how search.PartAnalysis) (op, error) {
	out := roaring.New()
	if whole.fold {
		for i := range whole.parts {
			whole.parts[i].text = strings.ToLower(whole.parts[i].text)
		}
	}
	for _, f := range v.families(sp, field) {
		if f.field.Family.Numeric() {
			continue
		}
		p := whole.inFamily(f, how)
		literal := ""
		if !p.fold {
			literal = p.literal()
		}
		ords := f.dict.prefixed(literal)
		for i, ord := range ords {
			if i&1023 == 1023 && v.run.ctx.Err() != nil {
				return nil, v.run.ctx.Err()
			}
			if p.matches(f.dict.term(ord)) {
				f.at(ord).into(out)
			}
		}
	}
	return &constant{out, float32(boost)}, nil
}

// pattern is a parsed wildcard pattern.
type pattern struct {
	parts []piece
	fold  bool // texts are in lower case, and terms are to be
}

// piece is a text, any one character, or any characters.
type piece struct {
	text string
	any  bool
	star bool
}

func parsePattern(s string) pattern {
	var p pattern
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			p.parts = append(p.parts, piece{text: text.String()})
			text.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			text.WriteByte(s[i])
		case c == '*':
			flush()
			if n := len(p.parts); n == 0 || !p.parts[n-1].star {
				p.parts = append(p.parts, piece{star: true})
			}
		case c == '?':
			flush()
			p.parts = append(p.parts, piece{any: true})
		default:
			text.WriteByte(c)
		}
	}
	flush()
	return p
}

// literal gives the text with which every match starts.
func (p *pattern) literal() string {
	if len(p.parts) == 0 {
		return ""
	}
	return p.parts[0].text
}

// matches tells whether the pattern matches all of s. After a star that fails
// it only goes back to the last star, so it takes at most len(s) times the
// length of the pattern. A text behind a star is looked for at once.
func (p *pattern) matches(s string) bool {
	if p.fold {
		s = strings.ToLower(s)
	}
	i, at := 0, 0
	star, back := -1, 0
	for {
		switch {
		case i == len(p.parts):
			if at == len(s) {
				return true
			}
		case p.parts[i].star:
			star, back = i, at
			i++
			if i == len(p.parts) {
				return true
			}
			if p.parts[i].text == "" {
				continue
			}
			if i == len(p.parts)-1 {
				return strings.HasSuffix(s[at:], p.parts[i].text)
			}
			if at = p.seek(&back, i, s); at < 0 {
				return false
			}
			i++
			continue
		default:
			if n, ok := p.parts[i].take(s[at:]); ok {
				at += n
				i++
				continue
			}
		}
		if star < 0 || back >= len(s) {
			return false
		}
		_, size := utf8.DecodeRuneInString(s[back:])
		back += size
		i, at = star+1, back
		if p.parts[i].text != "" {
			if at = p.seek(&back, i, s); at < 0 {
				return false
			}
			i++
		}
	}
}

// seek moves back to the next place of a text and gives the place behind it,
// negative if there is none.
func (p *pattern) seek(back *int, i int, s string) int {
	n := strings.Index(s[*back:], p.parts[i].text)
	if n < 0 {
		return n
	}
	*back += n
	return *back + len(p.parts[i].text)
}

func (p *piece) take(s string) (int, bool) {
	if p.any {
		_, size := utf8.DecodeRuneInString(s)
		return size, len(s) > 0
	}
	return len(p.text), strings.HasPrefix(s, p.text)
}
