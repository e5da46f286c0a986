package embedded_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/search/embedded"
)

// FuzzMatcher compares the automaton with Go's own matcher.
func FuzzMatcher(f *testing.F) {
	for _, seed := range [][2]string{
		{`.*(perl|ruby)[0-9.]*-(doc|dev)`, "libperl5.36-doc"}, {`(?i:éa+)`, "ÉAa"}, {`a{2,5}b?`, "aaaa"}, {``, ""}, {`(a|b)*c`, "ababc"},
		{`[^x]+`, "日本"}, {`(a*)*`, "aaaaaaaaaaaaaaaaaaaaaaaaa!"}, {`\bx`, "x"}, {`.{3,40}z`, strings.Repeat("ab", 30)},
		{`(.*a.{12}|.*b.{11})c`, strings.Repeat("abba", 200) + "c"}, // more states than are kept
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if _, err := regexp.Compile(pattern); err != nil {
			return
		}
		pattern = "(?s:" + pattern + ")"
		whole, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
		if err != nil || len(pattern) > 200 {
			return
		}
		matches, err := embedded.Matcher(pattern)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		for _, s := range []string{text, text + text, strings.ToUpper(text), ""} {
			if got, want := matches(s), whole.MatchString(s); got != want {
				t.Errorf("%q on %q: %v, want %v", pattern, s, got, want)
			}
		}
	})
}

// FuzzWildcard compares the matcher with a regular expression.
func FuzzWildcard(f *testing.F) {
	for _, seed := range [][2]string{
		{"*-dev", "libx-dev"}, {"*a*b?", "aabab日"}, {"?*", ""}, {"a**c", "abcabc"}, {`\**\?`, "*x?"}, {"*ab*ab", "abab"}, {"*ab", "b"}, {"*??a", "日a"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 40 || len(text) > 200 || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			return
		}
		var re strings.Builder
		escaped := false
		for i, r := range pattern {
			switch {
			case r == '\\' && !escaped && i+1 < len(pattern):
				escaped = true
				continue
			case r == '*' && !escaped:
				re.WriteString(".*")
			case r == '?' && !escaped:
				re.WriteString(".")
			default:
				re.WriteString(regexp.QuoteMeta(string(r)))
			}
			escaped = false
		}
		whole := regexp.MustCompile(`\A(?s:` + re.String() + `)\z`)
		matches := embedded.Wildcard(pattern)
		for _, s := range []string{text, text + text, text + pattern} {
			if got, want := matches(s), whole.MatchString(s); got != want {
				t.Errorf("%q on %q: %v, want %v", pattern, s, got, want)
			}
		}
	})
}

// FuzzEdits compares the banded measure, which goes on from term to term, with
// the plain one.
func FuzzEdits(f *testing.F) {
	f.Add("library", "library librery libarry lib libraries ylibrar", 2)
	f.Add("é", "e é éé", 1)
	f.Add("", "a ab", 2)
	f.Add("ab", "ba abab abba", 1)
	f.Fuzz(func(t *testing.T, word, text string, most int) {
		if len(word) > 40 || len(text) > 400 || most < 0 || most > 3 {
			return
		}
		terms := strings.Fields(text)
		slices.Sort(terms)
		for _, swap := range []bool{true, false} {
			next := embedded.Edits(word, most, swap)
			for _, term := range terms {
				want := edits([]rune(word), []rune(term), swap)
				got, ok := next(term)
				if ok != (want <= most) || ok && got != want {
					t.Errorf("%q to %q, most %d, swap %v: %d %v, want %d", word, term, most, swap, got, ok, want)
				}
			}
		}
	})
}

// edits is the optimal string alignment distance.
func edits(a, b []rune, swap bool) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if swap && i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
