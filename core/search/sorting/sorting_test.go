package sorting_test

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

func fields(families ...mapping.Family) sorting.Named {
	return func(path string) iter.Seq[*mapping.Field] {
		return func(yield func(*mapping.Field) bool) {
			for _, f := range families {
				if !yield(&mapping.Field{Path: path, Family: f}) {
					return
				}
			}
		}
	}
}

var values = []sorting.Value{
	{State: sorting.AbsentFirst},
	sorting.Number(math.Inf(-1)), sorting.Number(-1), sorting.Number(0), sorting.Number(2), sorting.Number(10), sorting.Number(math.Inf(1)),
	sorting.Text(""), sorting.Text("10"), sorting.Text("2"), sorting.Text("a"), sorting.Text("é"),
	{State: sorting.AbsentLast},
}

// TestOrder shuffles values and looks at what sorting makes of them: all of it
// the other way round with desc, but for those without a value.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	turned := slices.Clone(values)
	slices.Reverse(turned[1 : len(turned)-1])
	for range 100 {
		for desc, want := range map[bool][]sorting.Value{false: values, true: turned} {
			got := slices.Clone(values)
			random.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
			slices.SortFunc(got, func(a, b sorting.Value) int { return a.Compare(&b, desc) })
			if !slices.Equal(got, want) {
				t.Fatalf("desc %v: %v, want %v", desc, got, want)
			}
		}
	}
}

// TestAfter takes what hits show back as search_after: it stands where the hit
// stood.
func TestAfter(t *testing.T) {
	for _, c := range []struct {
		name   string
		key    search.SortKey
		family mapping.Family
		values []sorting.Value
	}{
		{"numbers", search.SortKey{Field: "n"}, mapping.Double, []sorting.Value{sorting.Number(-1.5), sorting.Number(0), sorting.Number(1e15)}},
		{"strings", search.SortKey{Field: "s"}, mapping.Keyword, []sorting.Value{sorting.Text(""), sorting.Text("7"), sorting.Text("é")}},
		{"scores", search.SortKey{Field: "_score", Desc: true}, mapping.Keyword, []sorting.Value{sorting.Number(0.25)}},
		{"without one, last", search.SortKey{Field: "n"}, mapping.Long, []sorting.Value{{State: sorting.AbsentLast}}},
		{"without one, first", search.SortKey{Field: "n", MissingFirst: true}, mapping.Long, []sorting.Value{{State: sorting.AbsentFirst}}},
		{"distances", search.SortKey{Field: "p", Geo: &search.GeoSort{Unit: 1}}, mapping.Geo, []sorting.Value{sorting.Number(12.5), sorting.Number(math.Inf(1))}},
	} {
		for _, v := range c.values {
			shown := v.Shown(false)
			r := &search.Request{
				Sort:  []search.SortKey{c.key},
				After: []search.Value{{Kind: shown.Kind, Text: shown.Text, Num: shown.Num}},
			}
			named := fields(c.family)
			if c.key.Field == "_score" {
				named = fields()
			}
			got, err := sorting.After(r, r.Sort, named)
			if err != nil || got[0].Compare(&v, c.key.Desc) != 0 {
				t.Errorf("%s: %v came back as %v, %v", c.name, v, got, err)
			}
		}
	}
	for name, r := range map[string]*search.Request{
		"a value too much":   {Sort: []search.SortKey{{Field: "n"}}, After: []search.Value{search.String("1"), search.String("2")}},
		"not from the top":   {Sort: []search.SortKey{{Field: "n"}}, After: []search.Value{search.String("1")}, From: 1},
		"no number":          {Sort: []search.SortKey{{Field: "n"}}, After: []search.Value{search.String("x")}},
		"no distance either": {Sort: []search.SortKey{{Field: "n", Geo: &search.GeoSort{Unit: 1}}}, After: []search.Value{search.String("near")}},
	} {
		if got, err := sorting.After(r, r.Sort, fields(mapping.Long)); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestFold(t *testing.T) {
	zero := search.Value{Kind: search.NumberValue}
	for _, c := range []struct {
		name    string
		key     search.SortKey
		numbers []float64
		want    sorting.Value
	}{
		{"the least, ascending", search.SortKey{}, []float64{3, 1, 2}, sorting.Number(1)},
		{"the greatest, descending", search.SortKey{Desc: true}, []float64{3, 1, 2}, sorting.Number(3)},
		{"the least, descending", search.SortKey{Desc: true, Mode: search.SortMin}, []float64{3, 1, 2}, sorting.Number(1)},
		{"the greatest, ascending", search.SortKey{Mode: search.SortMax}, []float64{3, 1, 2}, sorting.Number(3)},
		{"the sum", search.SortKey{Mode: search.SortSum}, []float64{3, 1, 2}, sorting.Number(6)},
		{"the mean", search.SortKey{Mode: search.SortAvg}, []float64{3, 1, 2}, sorting.Number(2)},
		{"none", search.SortKey{}, nil, sorting.Value{State: sorting.AbsentLast}},
		{"none, first", search.SortKey{MissingFirst: true}, nil, sorting.Value{State: sorting.AbsentFirst}},
		{"none, something else", search.SortKey{Missing: &zero}, nil, sorting.Number(0)},
	} {
		f := sorting.NewFold(&c.key, fields(mapping.Long)("n"))
		for range 2 { // a fold is used for one document after another
			f.Reset()
			for _, n := range c.numbers {
				f.Number(n)
			}
			if got := f.Value(); got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		key      search.SortKey
		families []mapping.Family
		ok       bool
	}{
		{search.SortKey{}, nil, true},
		{search.SortKey{}, []mapping.Family{mapping.Keyword}, true},
		{search.SortKey{}, []mapping.Family{mapping.Text}, false},
		{search.SortKey{}, []mapping.Family{mapping.Text, mapping.Keyword}, true},
		{search.SortKey{}, []mapping.Family{mapping.Geo}, false},
		{search.SortKey{Mode: search.SortAvg}, []mapping.Family{mapping.Keyword}, false},
		{search.SortKey{Mode: search.SortAvg}, []mapping.Family{mapping.Double}, true},
		{search.SortKey{Mode: search.SortMin}, []mapping.Family{mapping.Keyword}, true},
	} {
		if err := sorting.Check(&c.key, fields(c.families...)); (err == nil) != c.ok {
			t.Errorf("%+v of %v: %v", c.key, c.families, err)
		}
	}
}
