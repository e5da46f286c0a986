package search

import (
	"fmt"
	"strconv"
	"strings"
)

// Minimum is a parsed minimum_should_match.
type Minimum struct {
	steps []step // conditional steps in ascending order of above
}

type step struct {
	above   int // holds for more than so many optional clauses
	n       int
	percent bool
}

// aroundLess takes the spaces around < away.
var aroundLess = strings.NewReplacer(" < ", "<", " <", "<", "< ", "<")

// ParseMinimum reads a minimum_should_match: "2", "-1", "75%", "-25%" or
// conditions such as "2<75% 9<-3".
func ParseMinimum(s string) (*Minimum, error) {
	var m Minimum
	for _, word := range strings.Fields(aroundLess.Replace(s)) {
		st := step{above: -1}
		if cond, rest, found := strings.Cut(word, "<"); found {
			n, err := strconv.Atoi(cond)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("%q is no minimum_should_match", s)
			}
			st.above, word = n, rest
		}
		if cut, found := strings.CutSuffix(word, "%"); found {
			st.percent, word = true, cut
		}
		n, err := strconv.Atoi(word)
		if err != nil || n > 1_000_000 || n < -1_000_000 {
			return nil, fmt.Errorf("%q is no minimum_should_match", s)
		}
		st.n = n
		m.steps = append(m.steps, st)
	}
	if len(m.steps) == 0 || len(m.steps) > 1 && m.steps[0].above < 0 {
		return nil, fmt.Errorf("%q is no minimum_should_match", s)
	}
	return &m, nil
}

// Of gives how many of n optional clauses must match: not below 0, but it may
// be above n, and then nothing matches.
func (m *Minimum) Of(n int) int {
	need := n // conditions that do not hold mean all of them
	for _, st := range m.steps {
		if n <= st.above {
			break
		}
		need = st.n
		if st.percent {
			need = n * st.n / 100
		}
		if st.n < 0 {
			need += n
		}
	}
	return max(need, 0)
}
