package search

import (
	"math"
	"math/big"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
)

// NumberFormat writes numbers by a pattern of Java's DecimalFormat: digits 0
// (always) and # (where there is one), a dot, a comma for groups of
// thousands, % for hundredths, and text around them, in quotes if need be.
// After a semicolon stands the pattern of negative numbers, of which only the
// text counts.
type NumberFormat struct {
	before, after       string
	minus, tail         string // around negative numbers
	least, small, large int    // digits: whole, and the fewest and most behind the dot
	group               int    // digits of a group, 0 for none
	percent             bool
}

// maxFormat is the longest pattern, in bytes.
const maxFormat = 128

// ParseNumberFormat reads a pattern; what is wrong with it is Invalid.
func ParseNumberFormat(pattern string) (*NumberFormat, error) {
	bad := problem.New(problem.Invalid, "%q is no format of numbers", pattern)
	if len(pattern) > maxFormat {
		return nil, bad
	}
	plus, minus, both := cutUnquoted(pattern)
	f := &NumberFormat{}
	var digits string
	var ok bool
	if f.before, digits, f.after, ok = affixes(plus); !ok || digits == "" {
		return nil, bad
	}
	f.minus, f.tail = "-"+f.before, f.after
	if both {
		if f.minus, _, f.tail, ok = affixes(minus); !ok {
			return nil, bad
		}
	}
	f.percent = strings.Contains(f.before+f.after, "%")
	whole, part, _ := strings.Cut(digits, ".")
	if i := strings.LastIndexByte(whole, ','); i >= 0 {
		f.group = len(whole) - i - 1
	}
	whole = strings.ReplaceAll(whole, ",", "")
	if strings.Contains(strings.TrimLeft(whole, "#"), "#") || strings.ContainsAny(strings.TrimLeft(part, "0"), "0.,") {
		return nil, bad
	}
	f.least = strings.Count(whole, "0")
	f.small, f.large = strings.Count(part, "0"), len(part)
	return f, nil
}

// cutUnquoted cuts a pattern at the first semicolon outside quotes.
func cutUnquoted(s string) (before, after string, found bool) {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case s[i] == ';' && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// affixes splits a pattern into its digits and the texts around them.
func affixes(s string) (before, digits, after string, ok bool) {
	quoted := false
	var text strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\'' && i+1 < len(s) && s[i+1] == '\'':
			text.WriteByte(c)
			i++
		case c == '\'':
			quoted = !quoted
		case !quoted && strings.IndexByte("0#.,", c) >= 0:
			if digits != "" && after != "" || digits != "" && text.Len() > 0 {
				return "", "", "", false
			}
			if digits == "" {
				before = text.String()
				text.Reset()
			}
			digits += string(c)
		default:
			text.WriteByte(c)
		}
	}
	if digits == "" {
		return text.String(), "", "", !quoted
	}
	return before, digits, text.String(), !quoted
}

// Text writes a number, rounded half to even. What is no number is "NaN" or
// "∞".
func (f *NumberFormat) Text(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return map[bool]string{true: f.before + "∞" + f.after, false: f.minus + "∞" + f.tail}[v > 0]
	}
	if f.percent {
		v *= 100
	}
	digits := new(big.Float).SetPrec(1100).SetFloat64(math.Abs(v)).Text('f', f.large)
	whole, part, _ := strings.Cut(digits, ".")
	for len(part) > f.small && strings.HasSuffix(part, "0") {
		part = part[:len(part)-1]
	}
	whole = strings.TrimLeft(whole, "0")
	whole = strings.Repeat("0", max(f.least-len(whole), 0)) + whole
	if whole == "" && part == "" {
		whole = "0"
	}
	zero := strings.Trim(whole+part, "0") == ""
	if f.group > 0 {
		for i := len(whole) - f.group; i > 0; i -= f.group {
			whole = whole[:i] + "," + whole[i:]
		}
	}
	if part != "" {
		whole += "." + part
	}
	if v < 0 && !zero || v < 0 && f.minus != "-"+f.before {
		return f.minus + whole + f.tail
	}
	return f.before + whole + f.after
}
