package typesense

import (
	"regexp"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// pattern is a parsed wildcard pattern.
type pattern struct {
	parts []piece
	fold  bool // texts are in lower case, and terms are to be
	whole *regexp.Regexp
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

// folded gives the pattern with its texts in lower case if that is wanted.
func (p pattern) folded() pattern {
	if !p.fold {
		return p
	}
	return p.mapped(strings.ToLower)
}

// inField gives the pattern as the texts of a field are analyzed.
func (p pattern) inField(f *mapping.Field, how search.PartAnalysis) pattern {
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
	}).folded()
}

func (p pattern) mapped(change func(string) string) pattern {
	parts := make([]piece, len(p.parts))
	for i, x := range p.parts {
		if x.text != "" {
			x.text = change(x.text)
		}
		parts[i] = x
	}
	return pattern{parts: parts, fold: p.fold}
}

// literal gives the text with which every match starts.
func (p *pattern) literal() string {
	if len(p.parts) == 0 {
		return ""
	}
	return p.parts[0].text
}

// matches tells whether the pattern matches all of s.
func (p *pattern) matches(s string) bool {
	if p.fold {
		s = strings.ToLower(s)
	}
	if p.whole == nil {
		var re strings.Builder
		re.WriteString(`(?s)\A`)
		for _, x := range p.parts {
			switch {
			case x.star:
				re.WriteString(".*")
			case x.any:
				re.WriteByte('.')
			default:
				re.WriteString(regexp.QuoteMeta(x.text))
			}
		}
		re.WriteString(`\z`)
		p.whole = regexp.MustCompile(re.String())
	}
	return p.whole.MatchString(s)
}

// distance measures how many edits terms are from a word, as long as it is no
// more than most.
type distance struct {
	to   []rune
	most int
	swap bool
}

// from gives the edits from a term: insertions, deletions, replacements, and
// with swap two neighbours that changed places.
func (d *distance) from(term string) (int, bool) {
	if len(term) > 4*(len(d.to)+d.most) {
		return 0, false
	}
	from := []rune(term)
	if n := len(from) - len(d.to); n > d.most || -n > d.most {
		return 0, false
	}
	before, last := make([]int, len(d.to)+1), make([]int, len(d.to)+1)
	for j := range last {
		last[j] = j
	}
	for i := range from {
		row := make([]int, len(d.to)+1)
		row[0] = i + 1
		for j := range d.to {
			same := from[i] == d.to[j]
			row[j+1] = min(last[j]+1, last[j+1]+1, row[j]+1)
			if same {
				row[j+1] = min(row[j+1], last[j])
			}
			if d.swap && i > 0 && j > 0 && from[i] == d.to[j-1] && from[i-1] == d.to[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	n := last[len(d.to)]
	return n, n <= d.most
}
