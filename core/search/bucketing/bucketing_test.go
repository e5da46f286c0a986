package bucketing_test

import (
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// zones have their clocks changed by an hour, by half an hour, at midnight, over
// midnight, by a whole day, and not at all.
var zones = []string{"Europe/Brussels", "Australia/Lord_Howe", "America/Santiago", "America/Havana", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu", "UTC"}

var units = []search.CalendarUnit{search.Minute, search.Hour, search.Day, search.Week, search.Month, search.Quarter, search.Year}

func fields(t testing.TB, families ...mapping.Family) iter.Seq[*mapping.Field] {
	t.Helper()
	format, err := dates.Parse("")
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(*mapping.Field) bool) {
		for _, f := range families {
			if !yield(&mapping.Field{Path: "f", Family: f, Format: format}) {
				return
			}
		}
	}
}

func histogram(t testing.TB, body *search.HistogramAgg, family mapping.Family) *bucketing.Histogram {
	t.Helper()
	if body.Zone == nil {
		body.Zone = time.UTC
	}
	h, err := bucketing.NewHistogram(&search.Agg{Name: "h", Body: body}, body, fields(t, family), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// furthest is the largest offset and width that a request can ask for: so many
// days, in milliseconds.
const furthest = 366_000 * 24 * 3_600_000

// FuzzCalendar holds the buckets of dates to what makes them buckets: each
// instant is in one, which begins at its key and ends where the next begins.
func FuzzCalendar(f *testing.F) {
	for u := range units {
		for z := range zones {
			f.Add(int64(1_700_000_000_000), u, z, int64(0))
			f.Add(int64(-1), u, z, int64(3_600_000))
		}
	}
	f.Add(int64(1_325_203_200_000), 2, 5, int64(0))      // Samoa had no 30 December 2011
	f.Add(int64(1_711_868_400_000), -24*60, 0, int64(0)) // a day of 23 hours
	f.Add(int64(1_729_990_000_000), -24*60, 0, int64(0)) // and one of 25
	for u := range units {
		f.Add(int64(dates.MinMillis), u, 0, int64(furthest))
		f.Add(int64(dates.MaxMillis), u, 3, -int64(furthest))
	}
	f.Fuzz(func(t *testing.T, at int64, unit, zone int, offset int64) {
		if at < dates.MinMillis || at > dates.MaxMillis || offset < -furthest || offset > furthest {
			return
		}
		name := zones[uint(zone)%uint(len(zones))]
		where, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		body := &search.HistogramAgg{Field: "f", Dates: true, Zone: where, Offset: float64(offset)}
		if unit >= 0 {
			body.Calendar = units[unit%len(units)]
		} else {
			body.Interval = min(float64(uint(-unit))*60_000, furthest)
		}
		h := histogram(t, body, mapping.Date)
		v := float64(at)
		key := h.Floor(v)
		after := h.After(key)
		show := func(ms float64) string { return time.UnixMilli(int64(ms)).In(where).Format(time.RFC3339Nano) }
		if !(key <= v && v < after) {
			t.Fatalf("%s%v in %s, offset %d: %s is in the bucket from %s to %s", body.Calendar, body.Interval, name, offset, show(v), show(key), show(after))
		}
		for _, in := range []float64{key, after - 1} {
			if got := h.Floor(in); got != key {
				t.Fatalf("%s%v in %s, offset %d: %s is in the bucket %s, and %s of it in %s", body.Calendar, body.Interval, name, offset, show(v), show(key), show(in), show(got))
			}
		}
	})
}

// FuzzWidth is FuzzCalendar for numbers: rounding must not put one between two
// buckets, or a bucket behind itself.
func FuzzWidth(f *testing.F) {
	f.Add(0.3, 0.1, 0.0)
	f.Add(-7.0, 5.0, 2.5)
	f.Add(1e15, 0.7, 0.1)
	f.Fuzz(func(t *testing.T, v, width, offset float64) {
		if !(width >= 1e-3 && width <= 1e9) || !(math.Abs(v) <= width*1e9) || !(math.Abs(offset) <= width) {
			return
		}
		h := histogram(t, &search.HistogramAgg{Field: "f", Interval: width, Offset: offset}, mapping.Double)
		key := h.Floor(v)
		if slip := width * 1e-6; key > v+slip || key+width < v-slip {
			t.Fatalf("%v is in the bucket of %v, which is %v wide", v, key, width)
		}
		if after := h.After(key); !(after > key) {
			t.Fatalf("behind %v comes %v", key, after)
		}
	})
}

func TestHistogramKeys(t *testing.T) {
	number := func(n float64) *search.Value { return &search.Value{Kind: search.NumberValue, Num: n} }
	for _, c := range []struct {
		name  string
		body  search.HistogramAgg
		found []float64
		want  []float64
	}{
		{"empty ones between", search.HistogramAgg{}, []float64{30, 0}, []float64{0, 10, 20, 30}},
		{"only those that count", search.HistogramAgg{MinDocCount: 1}, []float64{30, 0}, []float64{0, 30}},
		{"none", search.HistogramAgg{}, nil, nil},
		{"up to bounds", search.HistogramAgg{BoundMin: number(-15), BoundMax: number(11)}, []float64{0}, []float64{-20, -10, 0, 10}},
		{"bounds of nothing", search.HistogramAgg{BoundMin: number(0), BoundMax: number(10)}, nil, []float64{0, 10}},
		{"inside hard bounds", search.HistogramAgg{HardMin: number(10), HardMax: number(20)}, []float64{0, 10, 20, 30}, []float64{10, 20}},
	} {
		c.body.Field, c.body.Interval = "f", 10
		got, err := histogram(t, &c.body, mapping.Double).Keys(slices.Values(c.found))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	h := histogram(t, &search.HistogramAgg{Field: "f", Interval: 1}, mapping.Double)
	if keys, err := h.Keys(slices.Values([]float64{0, bucketing.MaxBuckets})); err == nil {
		t.Errorf("%d buckets were made", len(keys))
	}
	body := &search.HistogramAgg{Field: "f", Interval: 1, Zone: time.UTC, BoundMin: number(2), BoundMax: number(1)}
	if _, err := bucketing.NewHistogram(&search.Agg{Body: body}, body, fields(t), time.Time{}); err == nil {
		t.Error("bounds the wrong way round were taken")
	}
}

func TestPercentiles(t *testing.T) {
	numbers := []float64{10, 20, 30, 40}
	nth := func(at int64) float64 { return numbers[at] }
	body := &search.PercentilesAgg{Percents: []float64{0, 25, 50, 100}}
	got := bucketing.NewPercentiles(body, &bucketing.Printer{}, int64(len(numbers)), nth)
	if want := []float64{10, 17.5, 25, 40}; !slices.Equal(got.Values, want) {
		t.Errorf("%v, want %v", got.Values, want)
	}
	for _, v := range bucketing.NewPercentiles(body, &bucketing.Printer{}, 0, nth).Values {
		if !math.IsNaN(v) {
			t.Errorf("%v of nothing", v)
		}
	}
}

func TestSums(t *testing.T) {
	for fn, want := range map[search.MetricFunc]float64{search.Min: 1, search.Max: 5, search.Avg: 2, search.Sum: 8} {
		body := &search.MetricAgg{Field: "f", Func: fn}
		sums, err := bucketing.NewSums(&search.Agg{Body: body}, body, fields(t, mapping.Long))
		if err != nil {
			t.Fatal(err)
		}
		if m := sums.Result(body).(*search.Metric); m.Null != (fn != search.Sum) || m.Value != 0 {
			t.Errorf("%v of nothing is %+v", fn, m)
		}
		sums.Add(1, 3)
		sums.Add(5, 1)
		sums.Add(-100, 0)
		if m := sums.Result(body).(*search.Metric); m.Null || m.Value != want {
			t.Errorf("%v is %+v, want %v", fn, m, want)
		}
	}
	body := &search.MetricAgg{Field: "f", Func: search.Sum}
	if _, err := bucketing.NewSums(&search.Agg{Body: body}, body, fields(t, mapping.Keyword)); err == nil {
		t.Error("the sum of strings was taken")
	}
}

// TestChoice has include and exclude as lists and as expressions, of strings and
// of dates.
func TestChoice(t *testing.T) {
	list := func(texts ...string) *search.TermFilter {
		f := &search.TermFilter{}
		for _, s := range texts {
			f.Values = append(f.Values, search.String(s))
		}
		return f
	}
	day := bucketing.NumberKey(mapping.Date, float64(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC).UnixMilli()))
	for _, c := range []struct {
		name     string
		in, out  *search.TermFilter
		family   mapping.Family
		yes, not bucketing.Key
	}{
		{"a list", list("a", "b"), nil, mapping.Keyword, bucketing.TextKey("b"), bucketing.TextKey("c")},
		{"all but a list", nil, list("a"), mapping.Keyword, bucketing.TextKey("b"), bucketing.TextKey("a")},
		{"exclude is stronger", list("a", "b"), list("a"), mapping.Keyword, bucketing.TextKey("b"), bucketing.TextKey("a")},
		{"the whole of a string", &search.TermFilter{Pattern: "a.c"}, nil, mapping.Keyword, bucketing.TextKey("abc"), bucketing.TextKey("abcd")},
		{"numbers", list("1.0"), nil, mapping.Long, bucketing.NumberKey(mapping.Long, 1), bucketing.NumberKey(mapping.Long, 2)},
		{"dates", list("2024-02-29"), nil, mapping.Date, day, bucketing.NumberKey(mapping.Date, 0)},
		{"booleans", list("true"), nil, mapping.Boolean, bucketing.NumberKey(mapping.Boolean, 1), bucketing.NumberKey(mapping.Boolean, 0)},
	} {
		body := &search.TermsAgg{Field: "f", Include: c.in, Exclude: c.out}
		chosen, err := bucketing.Choice(&search.Agg{Body: body}, body, fields(t, c.family))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !chosen(c.yes) || chosen(c.not) {
			t.Errorf("%s: %v is %v, %v is %v", c.name, c.yes, chosen(c.yes), c.not, chosen(c.not))
		}
	}
	for name, c := range map[string]struct {
		pattern string
		family  mapping.Family
	}{"an expression for numbers": {"1.*", mapping.Long}, "half an expression": {"(", mapping.Keyword}} {
		body := &search.TermsAgg{Field: "f", Include: &search.TermFilter{Pattern: c.pattern}}
		if _, err := bucketing.Choice(&search.Agg{Body: body}, body, fields(t, c.family)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// TestBucketSort sorts by a number that one bucket lacks, and one is empty.
func TestBucketSort(t *testing.T) {
	bucket := func(key string, count int64, avg *search.Metric) search.Bucket {
		return search.Bucket{
			Key:   search.SortValue{Kind: search.StringValue, Text: key},
			Count: count, Subs: []search.AggResult{{Name: "avg", Body: avg}},
		}
	}
	for _, c := range []struct {
		name string
		body search.BucketSortAgg
		want string
	}{
		{"by a number", search.BucketSortAgg{Sort: []search.BucketOrder{{By: "avg", Desc: true}}, Size: -1}, "ca"},
		{"with 0 for what is missing", search.BucketSortAgg{Sort: []search.BucketOrder{{By: "avg"}}, Size: -1, Zeros: true}, "bdac"},
		{"then by key", search.BucketSortAgg{Sort: []search.BucketOrder{{By: "_count"}, {By: "_key", Desc: true}}, Size: -1}, "dcba"},
		{"a window", search.BucketSortAgg{From: 1, Size: 2}, "bc"},
		{"a window behind the end", search.BucketSortAgg{From: 9, Size: 2}, ""},
	} {
		list := []search.Bucket{
			bucket("a", 1, &search.Metric{Value: 1}), bucket("b", 1, &search.Metric{Null: true}),
			bucket("c", 1, &search.Metric{Value: 2}), bucket("d", 0, &search.Metric{Value: 9}),
		}
		got := ""
		for _, b := range bucketing.Resort(&search.Agg{Subs: []search.Agg{{Body: &c.body}}}, list) {
			got += b.Key.Text
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestOrderOfWhatIsNotThere(t *testing.T) {
	subs := []search.Agg{
		{Name: "stats", Body: &search.MetricAgg{Func: search.Stats}},
		{Name: "inner", Body: &search.NestedAgg{}, Subs: []search.Agg{{Name: "max", Body: &search.MetricAgg{Func: search.Max}}}},
	}
	for by, ok := range map[string]bool{
		"_count": true, "_key": true, "stats.avg": true, "stats[max]": true, "inner": true, "inner>max": true, "inner>max.value": true, "inner>_count": true,
		"stats": false, "stats.median": false, "inner>min": false, "nothing": false, "inner>max>more": false, "": false,
	} {
		if err := bucketing.Check(&search.Agg{Subs: subs}, []search.BucketOrder{{By: by}}); (err == nil) != ok {
			t.Errorf("%q: %v", by, err)
		}
	}
}

// TestChangedClocks has the keys of buckets from the one that holds an instant
// on, by the clocks of the zone.
func TestChangedClocks(t *testing.T) {
	for _, c := range []struct {
		zone, at string
		unit     search.CalendarUnit
		width    time.Duration
		want     []string
	}{
		{"Europe/Brussels", "2024-03-31T12:00:00+02:00", search.Day, 0, []string{"2024-03-31T00:00:00+01:00", "2024-04-01T00:00:00+02:00"}},
		{"Europe/Brussels", "2024-03-31T12:00:00+02:00", "", 24 * time.Hour, []string{"2024-03-31T00:00:00+01:00", "2024-04-01T00:00:00+02:00"}},
		{"Europe/Brussels", "2024-10-27T23:30:00+01:00", "", 24 * time.Hour, []string{"2024-10-27T00:00:00+02:00", "2024-10-28T00:00:00+01:00"}},
		{"Europe/Brussels", "2024-10-27T02:30:00+02:00", search.Hour, 0, []string{"2024-10-27T02:00:00+02:00", "2024-10-27T02:00:00+01:00", "2024-10-27T03:00:00+01:00"}},
		{"America/Havana", "2024-11-03T00:30:00-05:00", search.Day, 0, []string{"2024-11-03T00:00:00-04:00", "2024-11-04T00:00:00-05:00"}},
		{"America/Santiago", "2024-09-07T12:00:00-04:00", search.Day, 0, []string{"2024-09-07T00:00:00-04:00", "2024-09-08T01:00:00-03:00", "2024-09-09T00:00:00-03:00"}},
		{"America/Santiago", "2024-09-08T12:00:00-03:00", "", 24 * time.Hour, []string{"2024-09-08T01:00:00-03:00", "2024-09-09T00:00:00-03:00"}},
		{"Australia/Lord_Howe", "2024-04-07T01:45:00+10:30", search.Hour, 0, []string{"2024-04-07T01:00:00+11:00", "2024-04-07T02:00:00+10:30"}},
		{"Pacific/Apia", "2011-12-29T12:00:00-10:00", search.Day, 0, []string{"2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"}},
		{"Pacific/Apia", "2011-12-31T12:00:00+14:00", search.Month, 0, []string{"2011-12-01T00:00:00-10:00", "2012-01-01T00:00:00+14:00"}},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		h := histogram(t, &search.HistogramAgg{Field: "f", Dates: true, Zone: zone, Calendar: c.unit, Interval: float64(c.width.Milliseconds())}, mapping.Date)
		key := h.Floor(float64(at.UnixMilli()))
		for _, want := range c.want {
			if got := time.UnixMilli(int64(key)).In(zone).Format(time.RFC3339); got != want {
				t.Errorf("%s %s%v of %s: %s, want %s", c.zone, c.unit, c.width, c.at, got, want)
			}
			key = h.After(key)
		}
	}
}
