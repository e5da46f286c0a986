package lucene

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// clause reads one clause with what may stand behind it.
func (p *parser) clause(field string, depth int) (*Node, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, fmt.Errorf("more than %d clauses", maxNodes)
	}
	var n *Node
	var err error
	switch p.peek() {
	case '(':
		p.at++
		if n, err = p.query(field, depth+1); err != nil {
			return nil, err
		}
		if !p.symbol(")") {
			return nil, p.unexpected()
		}
		inner := n
		n = newNode(Group, "", "")
		if inner != nil {
			n.Clauses = []Clause{{Should, inner}}
		}
	case '"':
		var text string
		if text, err = p.until('"'); err != nil {
			return nil, err
		}
		n = newNode(Phrase, field, Unescape(text))
	case '/':
		var text string
		if text, err = p.until('/'); err != nil {
			return nil, err
		}
		n = newNode(Regexp, field, strings.ReplaceAll(text, `\/`, "/"))
	case '[', '{':
		n, err = p.bounds(field)
	case '>', '<':
		if field != "" && p.bounded() { // n:(>=1 AND <5)
			return p.oneSided(field)
		}
		return p.term(field, depth)
	default:
		return p.term(field, depth)
	}
	if err != nil {
		return nil, err
	}
	return n, p.suffix(n)
}

// until takes what stands between two marks, escapes still in it.
func (p *parser) until(mark byte) (string, error) {
	for i := p.at + 1; i < len(p.s); i++ {
		switch p.s[i] {
		case '\\':
			i++
		case mark:
			text := p.s[p.at+1 : i]
			p.at = i + 1
			return text, nil
		}
	}
	return "", fmt.Errorf("a %c is not closed", mark)
}

// Unescape takes the backslashes away.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// raw takes the characters of a term and tells whether there are wildcards.
func (p *parser) raw() (text string, stars bool) {
	start := p.at
	for p.at < len(p.s) && !isSpace(p.s[p.at]) && !strings.ContainsRune(`()[]{}":^~`, rune(p.s[p.at])) {
		switch p.s[p.at] {
		case '\\':
			p.at++
			if p.at >= len(p.s) {
				return p.s[start:], stars
			}
		case '*', '?':
			stars = true
		}
		_, n := utf8.DecodeRuneInString(p.s[p.at:])
		p.at += n
	}
	return p.s[start:p.at], stars
}

// term reads a word, or a field with what it must hold.
func (p *parser) term(field string, depth int) (*Node, error) {
	text, stars := p.raw()
	if text == "" {
		return nil, p.unexpected()
	}
	if p.symbol(":") {
		return p.inField(Unescape(text), depth)
	}
	n := newNode(Words, field, text)
	switch {
	case !stars:
		n.Text = Unescape(text)
	case text == "*":
		n.Kind = Exists
	case strings.HasSuffix(text, "*") && !strings.HasSuffix(text, `\*`) && !strings.ContainsAny(text[:len(text)-1], "*?"):
		n.Kind, n.Text = Prefix, Unescape(text[:len(text)-1])
	default:
		n.Kind = Wildcard
	}
	return n, p.suffix(n)
}

func (p *parser) inField(name string, depth int) (*Node, error) {
	p.space()
	switch {
	case name == "*" && p.symbol("*"):
		n := newNode(Every, "", "")
		return n, p.suffix(n)
	case name == "_exists_":
		text, _ := p.raw()
		n := newNode(Exists, Unescape(text), "")
		if text == "" {
			return nil, p.unexpected()
		}
		return n, p.suffix(n)
	case p.peek() == '>' || p.peek() == '<':
		return p.oneSided(name)
	case p.at >= len(p.s) || p.peek() == ':' || depth >= maxDepth:
		return nil, p.unexpected()
	}
	return p.clause(name, depth+1)
}

// bounded tells whether a bound stands right behind the sign that is next.
func (p *parser) bounded() bool {
	rest := strings.TrimPrefix(p.s[p.at+1:], "=")
	return rest != "" && !isSpace(rest[0]) && rest[0] != ')'
}

// oneSided reads >1, >=1, <1 and <=1.
func (p *parser) oneSided(field string) (*Node, error) {
	sign := p.peek()
	p.at++
	open := !p.symbol("=")
	text, err := p.bound()
	if err != nil {
		return nil, err
	}
	n := newNode(Range, field, "")
	if sign == '>' {
		n.Low, n.OpenLow = text, open
	} else {
		n.High, n.OpenHigh = text, open
	}
	return n, p.suffix(n)
}

// bounds reads [a TO b], where { and } leave the bounds out.
func (p *parser) bounds(field string) (*Node, error) {
	n := newNode(Range, field, "")
	n.OpenLow = p.peek() == '{'
	p.at++
	var err error
	if n.Low, err = p.bound(); err != nil {
		return nil, err
	}
	p.space()
	if p.word("TO") {
		p.space()
	}
	if n.High, err = p.bound(); err != nil {
		return nil, err
	}
	p.space()
	switch p.peek() {
	case '}':
		n.OpenHigh = true
	case ']':
	default:
		return nil, p.unexpected()
	}
	p.at++
	return n, nil
}

// bound reads one end of a range, nil for *.
func (p *parser) bound() (*string, error) {
	p.space()
	if p.peek() == '"' {
		text, err := p.until('"')
		text = Unescape(text)
		return &text, err
	}
	start := p.at
	for p.at < len(p.s) && !isSpace(p.s[p.at]) && !strings.ContainsRune("]})", rune(p.s[p.at])) {
		p.at++
	}
	text := Unescape(p.s[start:p.at])
	switch text {
	case "":
		return nil, p.unexpected()
	case "*":
		return nil, nil
	}
	return &text, nil
}

// suffix reads ~ and ^ behind a clause.
func (p *parser) suffix(n *Node) error {
	for {
		switch {
		case p.symbol("~"):
			v, given := p.number()
			switch {
			case n.Kind == Phrase && v <= 1e6:
				n.Slop = int(v)
			case n.Kind == Words || n.Kind == Fuzzy:
				n.Kind = Fuzzy
				n.Edits = edits(v, given, n.Text)
			default:
				return fmt.Errorf("~ must stand behind a word or a phrase")
			}
		case p.symbol("^"):
			v, given := p.number()
			if !given || v > 1e9 {
				return fmt.Errorf("^ needs a number up to 1e9")
			}
			n.Boost = v
		default:
			return nil
		}
	}
}

// edits reads the number behind a fuzzy word. Below 1 it is a similarity, as
// it was before Lucene 4.
func edits(v float64, given bool, text string) int {
	switch {
	case !given:
		return -1
	case v > 0 && v < 1:
		return int(math.Min((1-v)*float64(utf8.RuneCountInString(text)), 2))
	}
	return int(math.Min(v, 2))
}

func (p *parser) number() (v float64, given bool) {
	start := p.at
	for p.at < len(p.s) && (p.s[p.at] >= '0' && p.s[p.at] <= '9' || p.s[p.at] == '.') {
		p.at++
	}
	v, err := strconv.ParseFloat(p.s[start:p.at], 64)
	if err != nil {
		p.at = start
	}
	return v, err == nil
}
