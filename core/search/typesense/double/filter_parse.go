package double

import (
	"strings"
)

// node is a parsed filter: a condition, a join, or two nodes combined.
type node struct {
	op          string // "&&", "||" or "" for a leaf
	left, right *node
	leaf        string // text of a condition: `field:value`
	join        string // joined collection
	body        string // filter inside the join
	negated     bool   // !$collection(…)
}

func unparsable() *failure { return fail(400, "Could not parse the filter query.") }

// scanner walks over a filter; backticks make everything inside plain text.
type scanner struct {
	text string
	pos  int
	ops  int
}

func (p *scanner) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \n\t\r", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *scanner) at(s string) bool { return strings.HasPrefix(p.text[p.pos:], s) }

// parseFilter parses a filter that is not empty. Both operators bind equally,
// from left to right.
func parseFilter(filter string) (*node, *failure) {
	p := &scanner{text: filter}
	n, err := p.sequence(0)
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.text) {
		return nil, unparsable()
	}
	if p.ops > maxOps {
		return nil, fail(400, "`filter_by` has too many operations. Maximum allowed: 100. "+
			"Use `--filter-by-max-ops` command line argument to customize this value.")
	}
	return n, nil
}

// sequence parses up to the end or to an unmatched parenthesis.
func (p *scanner) sequence(depth int) (*node, *failure) {
	if depth > 1000 {
		return nil, unparsable()
	}
	left, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	for {
		p.space()
		var op string
		switch {
		case p.pos == len(p.text) || p.at(")"):
			return left, nil
		case p.at("&&"):
			op = "&&"
		case p.at("||"):
			op = "||"
		default:
			return nil, unparsable()
		}
		p.pos += 2
		p.ops++
		right, err := p.operand(depth)
		if err != nil {
			return nil, err
		}
		left = &node{op: op, left: left, right: right}
	}
}

func (p *scanner) operand(depth int) (*node, *failure) {
	p.space()
	switch {
	case p.at("("):
		p.pos++
		n, err := p.sequence(depth + 1)
		if err != nil {
			return nil, err
		}
		if !p.at(")") {
			return nil, unparsable()
		}
		p.pos++
		return n, nil
	case p.at("$"), p.at("!$"):
		p.ops++
		return p.joined()
	}
	p.ops++
	return p.condition()
}

func (p *scanner) joined() (*node, *failure) {
	n := &node{negated: p.at("!")}
	open := strings.IndexByte(p.text[p.pos:], '(')
	if open < 0 {
		return nil, unparsable()
	}
	n.join = strings.TrimLeft(p.text[p.pos:p.pos+open], "!$")
	end := closing(p.text, p.pos+open)
	if end < 0 {
		return nil, unparsable()
	}
	n.body = p.text[p.pos+open+1 : end]
	p.pos = end + 1
	return n, nil
}

// closing gives the index of the parenthesis that closes the one at open.
func closing(text string, open int) int {
	depth, quoted := 0, false
	for i := open; i < len(text); i++ {
		switch c := text[i]; {
		case c == '`':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// condition reads `field:value` up to the next operator. A parenthesis may
// only open right after the colon (a place on the globe).
func (p *scanner) condition() (*node, *failure) {
	start, quoted, listed := p.pos, false, false
	for ; p.pos < len(p.text); p.pos++ {
		c := p.text[p.pos]
		switch {
		case c == '`':
			quoted = !quoted
		case quoted:
		case c == '[':
			listed = true
		case c == ']':
			listed = false
		case c == '(':
			if head := strings.TrimRight(p.text[start:p.pos], " ="); !listed && !strings.HasSuffix(head, ":") {
				return nil, unparsable()
			}
			end := closing(p.text, p.pos)
			if end < 0 {
				return nil, unparsable()
			}
			p.pos = end
		case listed:
		case c == ')', p.at("&&"), p.at("||"):
			return leaf(p.text[start:p.pos])
		}
	}
	return leaf(p.text[start:p.pos])
}

func leaf(text string) (*node, *failure) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, ":") {
		return nil, unparsable()
	}
	return &node{leaf: text}, nil
}
