package scoring_test

import (
	"math"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/scoring"
)

func TestMix(t *testing.T) {
	for mode, want := range map[search.Combine]float64{
		search.CombineMultiply: 4 * 2 * 6,
		search.CombineSum:      4 + 2 + 6,
		search.CombineAvg:      (4 + 2 + 6) / 8.0, // by the sum of the weights
		search.CombineMax:      6,
		search.CombineMin:      2,
		search.CombineFirst:    4,
	} {
		m := scoring.NewMix(mode)
		if m.Value() != 1 {
			t.Errorf("%s of no function is %v", mode, m.Value())
		}
		for _, f := range []struct{ value, weight float64 }{{4, 2}, {2, 4}, {6, 2}} {
			if !m.Add(f.value, f.weight) {
				break
			}
		}
		if m.Value() != want {
			t.Errorf("%s is %v, want %v", mode, m.Value(), want)
		}
	}
}

func TestBoosted(t *testing.T) {
	for mode, want := range map[search.Combine]float64{
		search.CombineMultiply: 12, search.CombineSum: 8, search.CombineAvg: 4,
		search.CombineMax: 6, search.CombineMin: 2, search.CombineReplace: 2,
	} {
		if got := scoring.Boosted(mode, 6, 2); got != want {
			t.Errorf("%s: %v, want %v", mode, got, want)
		}
	}
}

// TestFactor has the modifiers of Elasticsearch, of a factor of 2.
func TestFactor(t *testing.T) {
	for modifier, want := range map[string]float64{
		"": 18, "log": math.Log10(18), "log1p": math.Log10(19), "log2p": math.Log10(20), "ln": math.Log(18),
		"ln1p": math.Log(19), "ln2p": math.Log(20), "square": 324, "sqrt": math.Sqrt(18), "reciprocal": 1 / 18.0,
	} {
		got, err := scoring.Factor(&search.FieldFactor{Factor: 2, Modifier: modifier}, "", 9)
		if err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %v, %v, want %v", modifier, got, err, want)
		}
	}
	nine := 9.0
	if got, err := scoring.Factor(&search.FieldFactor{Factor: 2, Missing: &nine}, "", math.Inf(1)); err != nil || got != 18 {
		t.Errorf("instead of what is missing: %v, %v", got, err)
	}
	for name, f := range map[string]struct {
		modifier string
		least    float64
	}{"nothing": {"", math.Inf(1)}, "below 0": {"", -1}, "no number": {"sqrt", -1}, "infinite": {"reciprocal", 0}} {
		if got, err := scoring.Factor(&search.FieldFactor{Factor: 1, Modifier: f.modifier}, "", f.least); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestDecay holds each curve to its definition: 1 up to the offset, decay at the
// scale behind it, and never more further away.
func TestDecay(t *testing.T) {
	for _, curve := range []search.DecayCurve{search.Gauss, search.Exponential, search.Linear} {
		origin := search.String("100")
		d := &search.Decay{
			Field: "n", Curve: curve, Origin: &origin, By: 0.25,
			Scale: search.Span{Number: 10}, Offset: search.Span{Number: 5},
		}
		away, err := scoring.Away(d, &mapping.Field{Family: mapping.Double}, "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		at := func(n float64) float64 {
			var ds scoring.Distances
			ds.Add(away(n))
			return ds.Score(d)
		}
		for n, want := range map[float64]float64{100: 1, 95: 1, 105: 1, 115: 0.25, 85: 0.25} {
			if got := at(n); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s of %v is %v, want %v", curve, n, got, want)
			}
		}
		last := 1.0
		for n := 100.0; n < 200; n++ {
			s := at(n)
			if s > last || s < 0 {
				t.Errorf("%s of %v is %v, after %v", curve, n, s, last)
			}
			last = s
		}
		if got := new(scoring.Distances).Score(d); got != 1 {
			t.Errorf("%s of no number is %v", curve, got)
		}
	}
}

func TestDecayOfSeveral(t *testing.T) {
	for mode, want := range map[search.SortMode]float64{
		search.SortDefault: 0.5, search.SortMin: 0.5, search.SortMax: 0.125, search.SortSum: 0.0625, search.SortAvg: 0.25,
	} {
		var ds scoring.Distances
		ds.Add(3)
		ds.Add(1)
		if got := ds.Score(&search.Decay{Curve: search.Exponential, By: 0.5, Mode: mode}); got != want {
			t.Errorf("%q: %v, want %v", mode, got, want)
		}
	}
}

func TestAwayRefused(t *testing.T) {
	number, word := search.String("1"), search.String("soon")
	good := search.Span{Number: 1, Millis: 1, Meters: 1}
	for name, c := range map[string]struct {
		decay  search.Decay
		family mapping.Family
	}{
		"no origin":      {search.Decay{Scale: good}, mapping.Double},
		"no number":      {search.Decay{Scale: good, Origin: &word}, mapping.Double},
		"no point":       {search.Decay{Scale: good, Origin: &number}, mapping.Geo},
		"no scale":       {search.Decay{Origin: &number}, mapping.Double},
		"offset below 0": {search.Decay{Scale: good, Offset: search.Span{Number: -1}, Origin: &number}, mapping.Double},
	} {
		if _, err := scoring.Away(&c.decay, &mapping.Field{Family: c.family}, "functions[0]", time.Time{}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// TestFraction puts hashes that differ in few bits into ten classes of alike
// size.
func TestFraction(t *testing.T) {
	const n = 100_000
	var classes [10]int
	for h := range uint64(n) {
		f := scoring.Fraction(h)
		if f < 0 || f >= 1 {
			t.Fatalf("%d gives %v", h, f)
		}
		classes[int(f*10)]++
	}
	for i, got := range classes {
		if got < n/10*95/100 || got > n/10*105/100 {
			t.Errorf("class %d has %d of %d", i, got, n)
		}
	}
}
