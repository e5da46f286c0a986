// Package scoring is what engines have in common when functions change scores.
package scoring

import (
	"math"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// Mix combines the functions of a query that hold for an object.
type Mix struct {
	mode    search.Combine
	value   float64
	weights float64
	n       int
}

// NewMix makes the mix of a mode without any function yet.
func NewMix(mode search.Combine) Mix { return Mix{mode: mode, value: 1} }

// Add adds what a function comes to, with its weight in it. It tells whether
// functions behind it count too.
func (m *Mix) Add(value, weight float64) bool {
	m.weights += weight
	if m.n++; m.n == 1 {
		m.value = value
		return m.mode != search.CombineFirst
	}
	switch m.mode {
	case search.CombineSum, search.CombineAvg:
		m.value += value
	case search.CombineMax:
		m.value = max(m.value, value)
	case search.CombineMin:
		m.value = min(m.value, value)
	default:
		m.value *= value
	}
	return true
}

// Value gives what the functions come to; 1 if none holds.
func (m *Mix) Value() float64 {
	if m.mode != search.CombineAvg || m.n == 0 {
		return m.value
	}
	if m.weights == 0 {
		return 0
	}
	return m.value / m.weights
}

// Boosted combines the score of a query with what its functions come to.
func Boosted(mode search.Combine, score, by float64) float64 {
	switch mode {
	case search.CombineReplace:
		return by
	case search.CombineSum:
		return score + by
	case search.CombineAvg:
		return (score + by) / 2
	case search.CombineMax:
		return max(score, by)
	case search.CombineMin:
		return min(score, by)
	}
	return score * by
}

// Factor gives what the least number of an object comes to; +Inf stands for
// none. The error names the path of the function.
func Factor(b *search.FieldFactor, path string, least float64) (float64, error) {
	if math.IsInf(least, 1) {
		if b.Missing == nil {
			return 0, problem.Field(problem.Invalid, path, "a hit has no number in the field %q; give missing", b.Field)
		}
		least = *b.Missing
	}
	s := modified(b.Modifier, least*b.Factor)
	if s < 0 || math.IsNaN(s) || math.IsInf(s, 0) {
		return 0, problem.Field(problem.Invalid, path, "the field %q gives a score of %v, which must be a number and not below 0", b.Field, s)
	}
	return s, nil
}

func modified(modifier string, n float64) float64 {
	switch modifier {
	case "log":
		return math.Log10(n)
	case "log1p":
		return math.Log10(n + 1)
	case "log2p":
		return math.Log10(n + 2)
	case "ln":
		return math.Log(n)
	case "ln1p":
		return math.Log1p(n)
	case "ln2p":
		return math.Log1p(n + 1)
	case "square":
		return n * n
	case "sqrt":
		return math.Sqrt(n)
	case "reciprocal":
		return 1 / n
	}
	return n
}

// Fraction makes a number from 0 up to 1 of a hash. It spreads its bits first,
// of which FNV leaves the high ones alike.
func Fraction(h uint64) float64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return float64((h^h>>33)>>40) / (1 << 24)
}
