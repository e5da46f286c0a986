// Package words tells which terms a pattern or a misspelled word stands for,
// one term at a time, for those who have no dictionary of terms to walk.
package words

import (
	"strings"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Pattern is a parsed wildcard pattern.
type Pattern struct {
	Parts []Piece
	// Fold tells that the texts are in lower case, and that terms are to be.
	Fold bool
}

// Piece is a text, any one character, or any characters.
type Piece struct {
	Text string
	Any  bool
	Star bool
}

// ParsePattern reads a pattern: * stands for any characters, ? for one, a
// backslash takes the next one literally.
func ParsePattern(s string) Pattern {
	var p Pattern
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			p.Parts = append(p.Parts, Piece{Text: text.String()})
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
			if n := len(p.Parts); n == 0 || !p.Parts[n-1].Star {
				p.Parts = append(p.Parts, Piece{Star: true})
			}
		case c == '?':
			flush()
			p.Parts = append(p.Parts, Piece{Any: true})
		default:
			text.WriteByte(c)
		}
	}
	flush()
	return p
}

// Prefix makes the pattern of what starts with a text.
func Prefix(text string) Pattern { return Pattern{Parts: []Piece{{Text: text}, {Star: true}}} }

// Folded gives the pattern with its texts in lower case if that is wanted.
func (p Pattern) Folded() Pattern {
	if !p.Fold {
		return p
	}
	return p.mapped(strings.ToLower)
}

// In gives the pattern as the texts of a field are analyzed.
func (p Pattern) In(f *mapping.Field, how search.PartAnalysis) Pattern {
	if how == search.PartVerbatim || f.Family != mapping.Text {
		return p
	}
	return p.mapped(func(text string) string {
		if how == search.PartAnalyzed {
			if terms, _ := f.Search.Terms(text); len(terms) == 1 {
				return terms[0]
			}
		}
		return f.Search.Normalize(text)
	}).Folded()
}

func (p Pattern) mapped(change func(string) string) Pattern {
	parts := make([]Piece, len(p.Parts))
	for i, x := range p.Parts {
		if x.Text != "" {
			x.Text = change(x.Text)
		}
		parts[i] = x
	}
	return Pattern{Parts: parts, Fold: p.Fold}
}

// Literal gives the text with which every match starts.
func (p *Pattern) Literal() string {
	if len(p.Parts) == 0 {
		return ""
	}
	return p.Parts[0].Text
}

// Matches tells whether the pattern matches all of s. After a star that fails
// it only goes back to the last star, so it takes at most len(s) times the
// length of the pattern. A text behind a star is looked for at once.
func (p *Pattern) Matches(s string) bool {
	if p.Fold {
		s = strings.ToLower(s)
	}
	i, at := 0, 0
	star, back := -1, 0
	for {
		switch {
		case i == len(p.Parts):
			if at == len(s) {
				return true
			}
		case p.Parts[i].Star:
			star, back = i, at
			i++
			if i == len(p.Parts) {
				return true
			}
			if p.Parts[i].Text == "" {
				continue
			}
			if i == len(p.Parts)-1 {
				return strings.HasSuffix(s[at:], p.Parts[i].Text)
			}
			if at = p.seek(&back, i, s); at < 0 {
				return false
			}
			i++
			continue
		default:
			if n, ok := p.Parts[i].take(s[at:]); ok {
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
		if p.Parts[i].Text != "" {
			if at = p.seek(&back, i, s); at < 0 {
				return false
			}
			i++
		}
	}
}

// seek moves back to the next place of a text and gives the place behind it,
// negative if there is none.
func (p *Pattern) seek(back *int, i int, s string) int {
	n := strings.Index(s[*back:], p.Parts[i].Text)
	if n < 0 {
		return n
	}
	*back += n
	return *back + len(p.Parts[i].Text)
}

// take gives how many bytes of a text the piece stands for.
func (p *Piece) take(s string) (int, bool) {
	if p.Any {
		_, size := utf8.DecodeRuneInString(s)
		return size, len(s) > 0
	}
	return len(p.Text), strings.HasPrefix(s, p.Text)
}

// Distance measures how many edits terms are from a word, as long as it is no
// more than most.
type Distance struct {
	To   []rune
	Most int
	Swap bool
}

// From gives the edits from a term: insertions, deletions, replacements, and
// with swap two neighbours that changed places.
func (d *Distance) From(term string) (int, bool) {
	if len(term) > 4*(len(d.To)+d.Most) {
		return 0, false
	}
	from := []rune(term)
	if n := len(from) - len(d.To); n > d.Most || -n > d.Most {
		return 0, false
	}
	before, last := make([]int, len(d.To)+1), make([]int, len(d.To)+1)
	for j := range last {
		last[j] = j
	}
	for i := range from {
		row := make([]int, len(d.To)+1)
		row[0] = i + 1
		for j := range d.To {
			same := from[i] == d.To[j]
			row[j+1] = min(last[j]+1, last[j+1]+1, row[j]+1)
			if same {
				row[j+1] = min(row[j+1], last[j])
			}
			if d.Swap && i > 0 && j > 0 && from[i] == d.To[j-1] && from[i-1] == d.To[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	n := last[len(d.To)]
	return n, n <= d.Most
}
