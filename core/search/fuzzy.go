package search

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fuzziness says how far terms may be from a word and still match. The first
// PrefixLength characters must be equal; of the terms that are near enough the
// nearest MaxExpansions count. Two letters that changed places are one edit,
// unless NoTranspositions.
type Fuzziness struct {
	// Edits holds for words of any length, unless it is below 0 (AUTO): then
	// words shorter than Low must be equal, those shorter than High may differ
	// by one edit and longer ones by two.
	Edits     int
	Low, High int

	PrefixLength, MaxExpansions int
	NoTranspositions            bool
}

// ParseFuzziness reads "AUTO", "AUTO:3,6" or 0, 1 or 2 and leaves the other
// members as Elasticsearch has them: 0 and 50.
func ParseFuzziness(s string) (*Fuzziness, error) {
	f := &Fuzziness{Edits: -1, Low: 3, High: 6, MaxExpansions: 50}
	upper := strings.ToUpper(strings.TrimSpace(s))
	if upper == "AUTO" {
		return f, nil
	}
	if rest, found := strings.CutPrefix(upper, "AUTO:"); found {
		low, high, _ := strings.Cut(rest, ",")
		var err, err2 error
		f.Low, err = strconv.Atoi(low)
		f.High, err2 = strconv.Atoi(high)
		if err != nil || err2 != nil || f.Low < 0 || f.High < f.Low {
			return nil, fmt.Errorf("%q is no fuzziness; AUTO:low,high has two lengths", s)
		}
		return f, nil
	}
	n, err := strconv.ParseFloat(upper, 64)
	if err != nil || n != 0 && n != 1 && n != 2 {
		return nil, fmt.Errorf("%q is no fuzziness; it may be 0, 1, 2 or AUTO", s)
	}
	f.Edits = int(n)
	return f, nil
}

// Of gives how many edits a word allows.
func (f *Fuzziness) Of(word string) int {
	n := utf8.RuneCountInString(word)
	switch {
	case f.Edits >= 0:
		return f.Edits
	case n < f.Low:
		return 0
	case n < f.High:
		return 1
	}
	return 2
}
