// Package lucene reads the query languages of Lucene: the syntax of
// query_string and of simple_query_string, and its regular expressions.
package lucene

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxRegexp is how long a regular expression may be, in bytes.
const maxRegexp = 1000

// RE2 gives Go's spelling of a regular expression as Lucene writes them, for
// use between \A and \z: in Lucene the whole term has to match, ^ and $ stand
// for themselves, "…" is literal, @ is any string and # is nothing. The
// operators ~ & and <n-m> have no counterpart and are refused.
func RE2(pattern string) (string, error) {
	if len(pattern) > maxRegexp {
		return "", fmt.Errorf("a regular expression may have %d bytes", maxRegexp)
	}
	t := translator{rest: pattern}
	for t.rest != "" {
		if err := t.step(); err != nil {
			return "", err
		}
	}
	out := t.out.String()
	if _, err := regexp.Compile("(?s:" + out + ")"); err != nil {
		return "", fmt.Errorf("%q is no regular expression: %w", pattern, err)
	}
	return out, nil
}

type translator struct {
	rest     string
	out      strings.Builder
	repeated bool // the last thing was a repetition
}

func (t *translator) step() error {
	r, n := utf8.DecodeRuneInString(t.rest)
	t.rest = t.rest[n:]
	repeats := strings.ContainsRune("?*+{", r)
	if repeats && t.repeated {
		return fmt.Errorf("a repetition of a repetition needs parentheses")
	}
	t.repeated = repeats
	switch r {
	case '\\':
		return t.escape()
	case '[':
		return t.class()
	case '"':
		text, rest, found := strings.Cut(t.rest, `"`)
		if !found {
			return fmt.Errorf("a quote is not closed")
		}
		t.rest = rest
		t.out.WriteString("(?:" + regexp.QuoteMeta(text) + ")")
	case '{':
		inside, rest, found := strings.Cut(t.rest, "}")
		if !found || inside == "" || strings.Trim(inside, "0123456789,") != "" || inside[0] == ',' {
			return fmt.Errorf("{ needs numbers and }")
		}
		t.rest = rest
		t.out.WriteString("{" + inside + "}")
	case '@':
		t.out.WriteString("(?:.*)")
	case '#':
		t.out.WriteString(`[^\x00-\x{10FFFF}]`)
	case '~', '&', '<':
		return fmt.Errorf("the operator %q of regular expressions is not supported", r)
	case '(':
		if strings.HasPrefix(t.rest, "?") {
			return fmt.Errorf("(? is not supported in regular expressions")
		}
		t.out.WriteString("(?:")
	case '.', '?', '*', '+', '|', ')':
		t.out.WriteRune(r)
	default:
		t.out.WriteString(regexp.QuoteMeta(string(r)))
	}
	return nil
}

func (t *translator) escape() error {
	r, n := utf8.DecodeRuneInString(t.rest)
	if n == 0 {
		return fmt.Errorf("a backslash at the end of a regular expression")
	}
	t.rest = t.rest[n:]
	if strings.ContainsRune("dDwWsS", r) {
		t.out.WriteString(`\` + string(r))
		return nil
	}
	t.out.WriteString(regexp.QuoteMeta(string(r)))
	return nil
}

// class copies what stands between brackets.
func (t *translator) class() error {
	t.out.WriteByte('[')
	for i := 0; ; i++ {
		r, n := utf8.DecodeRuneInString(t.rest)
		if n == 0 {
			return fmt.Errorf("a [ is not closed")
		}
		t.rest = t.rest[n:]
		switch {
		case r == ']' && i > 0:
			t.out.WriteByte(']')
			return nil
		case r == '^' && i == 0, r == '-':
			t.out.WriteRune(r)
		case r == '\\':
			if err := t.escape(); err != nil {
				return err
			}
		case r < utf8.RuneSelf && strings.ContainsRune("[]^&~", r):
			t.out.WriteString(`\` + string(r))
		default:
			t.out.WriteRune(r)
		}
	}
}
