// Package jsonx is a pull parser and an appender of JSON for the search
// packages: it walks documents without allocating, keeps the bytes of values
// and refuses depth.
package jsonx

import (
	"bytes"
	"errors"
	"fmt"
)

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of values. Bad is the kind of what is no value.
const (
	Bad Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// ErrDepth tells that a value is nested deeper than the parser allows.
var ErrDepth = errors.New("JSON is nested too deeply")

// Parser reads one JSON text from its start to its end. Slices that it gives
// are valid until the next call that reads a string.
type Parser struct {
	data     []byte
	pos      int
	depth    int
	maxDepth int
	scratch  []byte
	escaped  bool // the last string
}

// Reset starts to read data, in which arrays and objects may be nested as
// deeply as maxDepth.
func (p *Parser) Reset(data []byte, maxDepth int) {
	p.data, p.pos, p.depth, p.maxDepth = data, 0, 0, maxDepth
}

// Peek gives the kind of the next value without reading it.
func (p *Parser) Peek() Kind {
	p.space()
	if p.pos >= len(p.data) {
		return Bad
	}
	switch c := p.data[p.pos]; {
	case c == '"':
		return String
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '-' || c >= '0' && c <= '9':
		return Number
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	}
	return Bad
}

// End is an error unless only white space is left.
func (p *Parser) End() error {
	p.space()
	if p.pos < len(p.data) {
		return p.fail("unexpected %q after the value", p.data[p.pos])
	}
	return nil
}

// Object reads an object and calls member for each key. member must read the
// value, and must not keep the key.
func (p *Parser) Object(member func(key []byte) error) error {
	if err := p.open('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		done, err := p.more('}', first)
		if done || err != nil {
			return err
		}
		if p.Peek() != String {
			return p.fail("a key must be a string")
		}
		key, err := p.String()
		if err != nil {
			return err
		}
		p.space()
		if p.pos >= len(p.data) || p.data[p.pos] != ':' {
			return p.fail("a key must be followed by ':'")
		}
		p.pos++
		if err := member(key); err != nil {
			return err
		}
	}
}

// Array reads an array and calls element for each index. element must read the
// value.
func (p *Parser) Array(element func(i int) error) error {
	if err := p.open('['); err != nil {
		return err
	}
	for i := 0; ; i++ {
		done, err := p.more(']', i == 0)
		if done || err != nil {
			return err
		}
		if err := element(i); err != nil {
			return err
		}
	}
}

// Skip reads the next value, whatever it is, and gives its bytes.
func (p *Parser) Skip() ([]byte, error) {
	kind := p.Peek()
	start := p.pos
	var err error
	switch kind {
	case Object:
		err = p.Object(func([]byte) error { _, err := p.Skip(); return err })
	case Array:
		err = p.Array(func(int) error { _, err := p.Skip(); return err })
	case String:
		_, err = p.rawString()
	default:
		_, err = p.Literal()
	}
	return p.data[start:p.pos], err
}

// Literal reads a number, true, false or null and gives its bytes.
func (p *Parser) Literal() ([]byte, error) {
	switch p.Peek() {
	case Number:
		return p.number()
	case Bool, Null:
		start := p.pos
		for _, word := range [...]string{"true", "false", "null"} {
			if bytes.HasPrefix(p.data[p.pos:], []byte(word)) {
				p.pos += len(word)
				return p.data[start:p.pos], nil
			}
		}
	}
	return nil, p.fail("a value is expected")
}

func (p *Parser) number() ([]byte, error) {
	start := p.pos
	if p.data[p.pos] == '-' {
		p.pos++
	}
	whole := p.digits()
	if whole == 0 || whole > 1 && p.data[p.pos-whole] == '0' {
		return nil, p.fail("not a number")
	}
	if p.pos < len(p.data) && p.data[p.pos] == '.' {
		p.pos++
		if p.digits() == 0 {
			return nil, p.fail("not a number")
		}
	}
	if p.pos < len(p.data) && (p.data[p.pos] == 'e' || p.data[p.pos] == 'E') {
		p.pos++
		if p.pos < len(p.data) && (p.data[p.pos] == '+' || p.data[p.pos] == '-') {
			p.pos++
		}
		if p.digits() == 0 {
			return nil, p.fail("not a number")
		}
	}
	return p.data[start:p.pos], nil
}

func (p *Parser) digits() int {
	start := p.pos
	for p.pos < len(p.data) && p.data[p.pos] >= '0' && p.data[p.pos] <= '9' {
		p.pos++
	}
	return p.pos - start
}

func (p *Parser) open(c byte) error {
	p.space()
	if p.pos >= len(p.data) || p.data[p.pos] != c {
		return p.fail("%q is expected", c)
	}
	p.pos++
	if p.depth++; p.depth > p.maxDepth {
		return ErrDepth
	}
	return nil
}

// more steps over a comma or the end of an array or object.
func (p *Parser) more(end byte, first bool) (done bool, err error) {
	p.space()
	if p.pos >= len(p.data) {
		return false, p.fail("%q is missing", end)
	}
	if p.data[p.pos] == end {
		p.pos++
		p.depth--
		return true, nil
	}
	if first {
		return false, nil
	}
	if p.data[p.pos] != ',' {
		return false, p.fail("',' or %q is expected", end)
	}
	p.pos++
	p.space()
	if p.pos < len(p.data) && p.data[p.pos] == end {
		return false, p.fail("a value is missing after ','")
	}
	return false, nil
}

func (p *Parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\n', '\r', '\t':
			p.pos++
		default:
			return
		}
	}
}

func (p *Parser) fail(format string, args ...any) error {
	return fmt.Errorf("invalid JSON at byte %d: %s", p.pos, fmt.Sprintf(format, args...))
}
