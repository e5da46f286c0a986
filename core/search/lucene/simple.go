package lucene

import (
	"math"
	"strings"
)

// ParseSimple reads the syntax of simple_query_string, in which nothing is an
// error: words, word*, word~1, "phrases"~2, + | - and groups. and makes AND the
// operator between clauses that have none. A query without any clause, or with
// more clauses than any query may have, gives nil.
func ParseSimple(s string, and bool) *Node {
	p := &parser{s: strings.ToValidUTF8(s, "\uFFFD"), and: and}
	n := p.simple(0)
	if p.nodes > maxNodes {
		return nil
	}
	return n
}

// chain is a group on its way: clauses joined by one operator at a time.
type chain struct {
	top        *Node
	by         operator // of the clauses in top
	next       operator // read before the next clause
	negated    bool
	defaultAnd bool
}

func (c *chain) add(n *Node) {
	if n == nil {
		return
	}
	if c.negated {
		not := newNode(Group, "", "")
		not.Clauses = []Clause{{MustNot, n}}
		n = not
	}
	by := c.next
	if by == noOperator {
		by = orOperator
		if c.defaultAnd {
			by = andOperator
		}
	}
	c.next = noOperator
	if c.top == nil {
		c.top = n
		return
	}
	occur := Should
	if by == andOperator {
		occur = Must
	}
	if c.by != by {
		group := newNode(Group, "", "")
		group.Clauses = []Clause{{occur, c.top}}
		c.top, c.by = group, by
	}
	c.top.Clauses = append(c.top.Clauses, Clause{occur, n})
}

// simple reads up to the end or the parenthesis that closes a group.
func (p *parser) simple(depth int) *Node {
	c := chain{defaultAnd: p.and}
	for p.at < len(p.s) && p.nodes <= maxNodes {
		switch b := p.s[p.at]; {
		case b == '(' && depth < maxDepth:
			p.at++
			c.add(p.simple(depth + 1))
		case b == ')' && depth > 0:
			p.at++
			return c.top
		case b == '"':
			c.add(p.simplePhrase())
		case b == '+' || b == '|':
			p.at++
			if c.top != nil && c.next == noOperator {
				c.next = orOperator
				if b == '+' {
					c.next = andOperator
				}
			}
		case b == '-':
			p.at++
			c.negated = !c.negated
			continue
		case isSpace(b) || b == '(' || b == ')':
			p.at++
		default:
			c.add(p.simpleWord())
		}
		c.negated = false // a minus counts only right before a clause
	}
	return c.top
}

func (p *parser) simplePhrase() *Node {
	text, err := p.until('"')
	if err != nil { // a lone quote is nothing
		p.at++
		return nil
	}
	p.nodes++
	n := newNode(Phrase, "", Unescape(text))
	if p.symbol("~") {
		if v, given := p.number(); given {
			n.Slop = int(math.Min(v, 1e6))
		}
	}
	return n
}

func (p *parser) simpleWord() *Node {
	p.nodes++
	start, tilde := p.at, -1
	for p.at < len(p.s) && !isSpace(p.s[p.at]) && !strings.ContainsRune(`"|+()`, rune(p.s[p.at])) {
		switch p.s[p.at] {
		case '\\':
			p.at = min(p.at+1, len(p.s)-1)
		case '~':
			tilde = p.at
		}
		p.at++
	}
	text := p.s[start:p.at]
	switch {
	case strings.TrimSpace(p.s) == "*": // beside other words it is one that no analyzer leaves
		return newNode(Every, "", "")
	case len(text) > 1 && strings.HasSuffix(text, "*") && !strings.HasSuffix(text, `\*`):
		return newNode(Prefix, "", Unescape(text[:len(text)-1]))
	case tilde > start && strings.Trim(p.s[tilde+1:p.at], "0123456789") == "":
		n := newNode(Fuzzy, "", Unescape(p.s[start:tilde]))
		inner := parser{s: p.s[tilde+1 : p.at]}
		v, given := inner.number()
		n.Edits = edits(v, given, n.Text)
		return n
	}
	return newNode(Words, "", Unescape(text))
}
