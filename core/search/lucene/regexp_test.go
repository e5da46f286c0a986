package lucene_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search/lucene"
)

func TestRE2(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"a.c", "abc", true}, {"a.c", "a\nc", true}, {"ab", "abc", false}, {"^a$", "^a$", true}, {"a@", "abc", true}, {"#", "", false},
		{`a"b.c"d`, "ab.cd", true}, {`a\.b`, "a.b", true}, {`a\.b`, "axb", false}, {`\d{2,3}`, "123", true}, {"[^a-c]+", "xyz", true},
		{"[[&]", "&", true}, {"[]a]", "]", true}, {"(ab|c)*", "abcab", true}, {"é?", "é", true}, {"", "", true},
	} {
		out, err := lucene.RE2(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if got := regexp.MustCompile(`\A(?s:` + out + `)\z`).MatchString(c.s); got != c.want {
			t.Errorf("%s (%s) on %q: %v", c.pattern, out, c.s, got)
		}
	}
	for _, bad := range []string{"a&b", "~a", "<1-9>", "(?i)a", "a**", "a+?", "[a", `"a`, "a{", "a{,3}", "a{x}", `\`, "(a", "a)", "[z-a]", strings.Repeat("a", 1001), "(a{1000}){1000}"} {
		if out, err := lucene.RE2(bad); err == nil {
			t.Errorf("%s was accepted as %s", bad, out)
		}
	}
}

func FuzzRE2(f *testing.F) {
	for _, s := range []string{"a.c", `[^a\]]{1,3}`, `"x`, `a\d@#`, "(a|b)+?", "[[:alpha:]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		out, err := lucene.RE2(pattern)
		if err != nil {
			return
		}
		for _, flags := range []string{"s", "si"} {
			if _, err := regexp.Compile(`\A(?` + flags + ":" + out + `)\z`); err != nil {
				t.Errorf("%q became %q: %v", pattern, out, err)
			}
		}
	})
}
