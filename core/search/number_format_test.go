package search_test

import (
	"math"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

func TestNumberFormat(t *testing.T) {
	for _, c := range []struct {
		pattern string
		number  float64
		want    string
	}{
		{"0", 3.5, "4"}, {"0", 2.5, "2"}, {"0", -0.2, "0"}, {"0.00", 1.005, "1.00"}, {"0.##", 1.5, "1.5"}, {"0.##", 1, "1"},
		{"#.00", 0.5, ".50"}, {"#", 0, "0"}, {"000", 7, "007"}, {"#,##0", 1234567, "1,234,567"}, {"#,##0.0", -1234.56, "-1,234.6"},
		{"0%", 0.256, "26%"}, {"$0.00", 2, "$2.00"}, {"0.0 EUR", 2.25, "2.2 EUR"}, {"'#'0", 5, "#5"}, {"0''", 5, "5'"},
		{"0.0;(0.0)", -3, "(3.0)"}, {"0.0;(0.0)", 3, "3.0"}, {"0", math.NaN(), "NaN"}, {"0.0", math.Inf(-1), "-∞"}, {"0", 1e21, "1000000000000000000000"},
	} {
		f, err := search.ParseNumberFormat(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if got := f.Text(c.number); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.pattern, c.number, got, c.want)
		}
	}
	for _, pattern := range []string{"", "abc", "0x0", "0#", "#.#0", "0.0.0", "'0", "0'x", strings.Repeat("0", 200)} {
		if f, err := search.ParseNumberFormat(pattern); !problem.Is(err, problem.Invalid) {
			t.Errorf("%q: %v, %v", pattern, f, err)
		}
	}
}

func FuzzNumberFormat(f *testing.F) {
	f.Add("#,##0.00;(0)", -12.5)
	f.Add("'x'%", 1e308)
	f.Fuzz(func(t *testing.T, pattern string, number float64) {
		n, err := search.ParseNumberFormat(pattern)
		if err != nil {
			if !problem.Is(err, problem.Invalid) {
				t.Errorf("%q: %v", pattern, err)
			}
			return
		}
		if text := n.Text(number); text == "" || len(text) > 1000 {
			t.Errorf("%q of %v: %q", pattern, number, text)
		}
	})
}
