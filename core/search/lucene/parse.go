package lucene

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Parse reads the syntax of query_string: words, "phrases"~2, field:value,
// wildcards, fuzzy~, /regexps/, [a TO b}, field:>=1, boosts^2, + - ! AND OR NOT
// && ||, groups and escapes. and makes AND the operator between clauses that
// have none. A query without any clause gives nil.
func Parse(s string, and bool) (*Node, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("the query is no valid text")
	}
	p := &parser{s: s, and: and}
	n, err := p.query("", 0)
	if err == nil && p.at < len(s) {
		err = p.unexpected()
	}
	return n, err
}

type parser struct {
	s     string
	at    int
	and   bool
	nodes int
}

// operator is what may stand before a clause.
type operator uint8

const (
	noOperator operator = iota
	andOperator
	orOperator
	plus
	minus
)

func (p *parser) unexpected() error {
	if p.at >= len(p.s) {
		return fmt.Errorf("the query ends too early")
	}
	r, _ := utf8.DecodeRuneInString(p.s[p.at:])
	return fmt.Errorf("%q is not expected at character %d", r, utf8.RuneCountInString(p.s[:p.at])+1)
}

func (p *parser) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *parser) space() {
	for p.at < len(p.s) {
		if strings.HasPrefix(p.s[p.at:], "\u3000") { // a space to Lucene too
			p.at += len("\u3000")
			continue
		}
		if !isSpace(p.s[p.at]) {
			return
		}
		p.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// word takes one of the words if it is next and ends there.
func (p *parser) word(word string) bool {
	rest, found := strings.CutPrefix(p.s[p.at:], word)
	if !found || rest != "" && !isSpace(rest[0]) && !strings.ContainsRune("()\"[{+-!/", rune(rest[0])) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) conjunction() operator {
	switch {
	case p.word("AND"), p.symbol("&&"):
		return andOperator
	case p.word("OR"), p.symbol("||"):
		return orOperator
	}
	return noOperator
}

func (p *parser) symbol(s string) bool {
	found := strings.HasPrefix(p.s[p.at:], s)
	if found {
		p.at += len(s)
	}
	return found
}

func (p *parser) modifier() operator {
	switch {
	case p.symbol("+"):
		return plus
	case p.symbol("-"), p.symbol("!"), p.word("NOT"):
		return minus
	}
	return noOperator
}

// query reads clauses up to the end or a closing parenthesis.
func (p *parser) query(field string, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("groups are nested more than %d deep", maxDepth)
	}
	group := newNode(Group, "", "")
	bare := false // the last clause is of words without anything
	for {
		p.space()
		if p.at >= len(p.s) || p.peek() == ')' {
			break
		}
		conj := p.conjunction()
		p.space()
		mod := p.modifier()
		p.space()
		if conj != noOperator && len(group.Clauses) == 0 || p.at >= len(p.s) {
			return nil, p.unexpected()
		}
		n, err := p.clause(field, depth)
		if err != nil {
			return nil, err
		}
		plain := conj == noOperator && mod == noOperator && n.Kind == Words && n.Field == field && n.Boost == 1
		if plain && p.operatorFollows() {
			plain = false
		}
		if plain && bare {
			last := group.Clauses[len(group.Clauses)-1].Node
			last.Text += " " + n.Text
			continue
		}
		bare = plain
		p.add(group, n, conj, mod)
	}
	switch {
	case len(group.Clauses) == 0:
		return nil, nil
	case len(group.Clauses) == 1 && group.Clauses[0].Occur != MustNot:
		return group.Clauses[0].Node, nil
	}
	return group, nil
}

// operatorFollows tells whether a conjunction comes next.
func (p *parser) operatorFollows() bool {
	at := p.at
	p.space()
	found := p.conjunction() != noOperator || p.word("NOT")
	p.at = at
	return found
}

// add puts a clause into a group, as Lucene's classic parser does: AND makes
// both its sides required, whatever stands around them.
func (p *parser) add(group, n *Node, conj, mod operator) {
	if last := len(group.Clauses) - 1; last >= 0 && group.Clauses[last].Occur != MustNot {
		switch {
		case conj == andOperator:
			group.Clauses[last].Occur = Must
		case conj == orOperator && p.and:
			group.Clauses[last].Occur = Should
		}
	}
	occur := Should
	switch {
	case mod == minus:
		occur = MustNot
	case mod == plus, conj == andOperator, p.and && conj != orOperator:
		occur = Must
	}
	group.Clauses = append(group.Clauses, Clause{occur, n})
}
