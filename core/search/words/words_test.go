package words_test

import (
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/words"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, literal string
		yes, no          string // terms, by spaces
	}{
		{"re*", "re", "re red rewrite", "r Red are"},
		{"*e?", "", "red blues é_ex ree!", "e re"},
		{"b?g", "b", "big bäg", "bg bigg"},
		{`a\*b`, "a*b", "a*b", "aab ab"},
		{`a.c`, "a.c", "a.c", "abc"},
		{"", "", "", "a"},
		{"**", "", "a ab", ""},
		{"a*b*c", "a", "abc axbxc abcbc", "ab acb"},
	} {
		p := words.ParsePattern(c.pattern)
		if p.Literal() != c.literal {
			t.Errorf("%q starts with %q", c.pattern, p.Literal())
		}
		for _, term := range strings.Fields(c.yes) {
			if !p.Matches(term) {
				t.Errorf("%q does not match %q", c.pattern, term)
			}
		}
		for _, term := range strings.Fields(c.no) {
			if p.Matches(term) {
				t.Errorf("%q matches %q", c.pattern, term)
			}
		}
	}
	p := words.ParsePattern("RE?D")
	p.Fold = true
	if p = p.Folded(); !p.Matches("ReaD") {
		t.Error("a folded pattern looks at the case of letters")
	}
	if q := p.In(&mapping.Field{Family: mapping.Keyword}, search.PartAnalyzed); !q.Matches("reAd") {
		t.Error("a pattern changes in a keyword")
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		word, term string
		most       int
		swap       bool
		want       int
		near       bool
	}{
		{"fox", "fox", 0, true, 0, true},
		{"fox", "fix", 1, true, 1, true},
		{"fox", "fxo", 1, true, 1, true},
		{"fox", "fxo", 1, false, 2, false},
		{"fox", "foxes", 2, true, 2, true},
		{"fox", "foxess", 2, true, 0, false},
		{"é", "e", 1, true, 1, true},
		{"", "ab", 2, true, 2, true},
	} {
		d := words.Distance{To: []rune(c.word), Most: c.most, Swap: c.swap}
		n, near := d.From(c.term)
		if near != c.near || near && n != c.want {
			t.Errorf("%q from %q: %d, %v", c.term, c.word, n, near)
		}
	}
}

// FuzzPattern matches terms that are made of the pattern itself.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"", "*", "a?b*", `\`, `\*`, "(", "[a", "日*本", "\xff?", strings.Repeat("*a", 50)} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, pattern, term string) {
		p := words.ParsePattern(pattern)
		if p.Matches(term) && !strings.HasPrefix(term, p.Literal()) {
			t.Errorf("%q matches %q, which does not start with %q", pattern, term, p.Literal())
		}
		if !strings.ContainsAny(pattern, `*?\`) && pattern == term && !p.Matches(term) {
			t.Errorf("%q does not match itself", pattern)
		}
	})
}
