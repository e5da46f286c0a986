package dsl

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// maxRanges is how many ranges, filters or percents an aggregation may have.
const maxRanges = 256

// rangedAgg reads the aggregations whose buckets the request spells out, and
// histograms; nil if kind is another one.
func (p *parser) rangedAgg(kind string, o *object) (search.AggBody, error) {
	switch kind {
	case "range", "date_range":
		return rangeAgg(kind, o)
	case "histogram":
		return histogramAgg(o)
	case "date_histogram":
		return dateHistogramAgg(o)
	case "filters":
		return p.filtersAgg(o)
	case "missing":
		field, err := o.must("field", kind)
		return &search.MissingAgg{Field: field}, err
	case "percentiles":
		return percentilesAgg(o)
	case "top_hits":
		return p.topHits(o)
	case "composite":
		return compositeAgg(o)
	case "bucket_sort":
		return bucketSort(o)
	}
	return nil, o.unknownAgg(kind)
}

func rangeAgg(kind string, o *object) (search.AggBody, error) {
	a := &search.RangeAgg{Dates: kind == "date_range"}
	var err error
	if a.Field, err = o.must("field", kind); err != nil {
		return nil, err
	}
	if a.Keyed, err = o.flag("keyed"); err != nil {
		return nil, err
	}
	if a.Dates {
		if a.Format, a.TimeZone, err = datesOf(o); err != nil {
			return nil, err
		}
	} else if a.Format, err = format(o); err != nil {
		return nil, err
	}
	if a.Missing, err = missing(o); err != nil {
		return nil, err
	}
	n := o.get("ranges")
	if n == nil || n.kind != jsonx.Array || len(n.kids) == 0 || len(n.kids) > maxRanges {
		return nil, o.bad("%s needs the parameter %q with up to %d ranges", kind, "ranges", maxRanges)
	}
	for _, kid := range n.kids {
		in, err := open(kid)
		if err != nil {
			return nil, err
		}
		var r search.AggRange
		if r.Key, err = in.text("key", ""); err != nil {
			return nil, err
		}
		for name, to := range map[string]**search.Value{"from": &r.From, "to": &r.To} {
			if bound := in.get(name); bound != nil {
				v, err := bound.value()
				if err != nil {
					return nil, err
				}
				*to = &v
			}
		}
		if err := in.done("a range"); err != nil {
			return nil, err
		}
		a.Ranges = append(a.Ranges, r)
	}
	return a, nil
}

// datesOf reads format and time_zone.
func datesOf(o *object) (format, zone string, err error) {
	if format, err = o.text("format", ""); err != nil {
		return "", "", err
	}
	if _, err := dates.Parse(format); err != nil {
		return "", "", o.get("format").bad("%s", err)
	}
	if zone, err = o.text("time_zone", ""); err != nil {
		return "", "", err
	}
	if zone != "" {
		if _, err := dates.ParseZone(zone); err != nil {
			return "", "", o.get("time_zone").bad("%s", err)
		}
	}
	return format, zone, nil
}

func histogramAgg(o *object) (search.AggBody, error) {
	a := &search.HistogramAgg{Zone: time.UTC}
	var err error
	if a.Interval, err = interval(o); err != nil {
		return nil, err
	}
	if a.Offset, err = o.float("offset", 0); err != nil {
		return nil, err
	}
	if a.Format, err = format(o); err != nil {
		return nil, err
	}
	return a, sharedHistogram(a, "histogram", o)
}

// sharedHistogram reads what both kinds of histogram have.
func sharedHistogram(a *search.HistogramAgg, kind string, o *object) (err error) {
	if math.Abs(a.Offset) > 1e15 {
		return o.get("offset").bad("the offset is too large")
	}
	if a.Field, err = o.must("field", kind); err != nil {
		return err
	}
	if a.Keyed, err = o.flag("keyed"); err != nil {
		return err
	}
	if a.MinDocCount, err = o.whole("min_doc_count", 0, 0, 1<<31); err != nil {
		return err
	}
	if a.Missing, err = missing(o); err != nil {
		return err
	}
	if n := o.get("order"); !n.empty() {
		if a.Order, err = bucketOrder(n); err != nil {
			return err
		}
	}
	if a.BoundMin, a.BoundMax, err = histogramBounds(o, "extended_bounds"); err != nil {
		return err
	}
	a.HardMin, a.HardMax, err = histogramBounds(o, "hard_bounds")
	return err
}

func histogramBounds(o *object, name string) (low, high *search.Value, err error) {
	n := o.get(name)
	if n.empty() {
		return nil, nil, nil
	}
	in, err := open(n)
	if err != nil {
		return nil, nil, err
	}
	for end, to := range map[string]**search.Value{"min": &low, "max": &high} {
		if bound := in.get(end); bound != nil {
			v, err := bound.value()
			if err != nil {
				return nil, nil, err
			}
			*to = &v
		}
	}
	return low, high, in.done(name)
}

var calendarUnits = map[string]search.CalendarUnit{
	"minute": search.Minute, "1m": search.Minute, "hour": search.Hour, "1h": search.Hour, "day": search.Day, "1d": search.Day,
	"week": search.Week, "1w": search.Week, "month": search.Month, "1M": search.Month,
	"quarter": search.Quarter, "1q": search.Quarter, "year": search.Year, "1y": search.Year,
}

func dateHistogramAgg(o *object) (search.AggBody, error) {
	a := &search.HistogramAgg{Dates: true, Zone: time.UTC}
	if err := dateIntervals(a, o); err != nil {
		return nil, err
	}
	return a, sharedHistogram(a, "date_histogram", o)
}

// dateIntervals reads how dates are cut into intervals.
func dateIntervals(a *search.HistogramAgg, o *object) error {
	var zone string
	var err error
	if a.Format, zone, err = datesOf(o); err != nil {
		return err
	}
	if zone != "" {
		if a.Zone, err = dates.ParseZone(zone); err != nil {
			return err
		}
	}
	given := 0
	for _, name := range []string{"calendar_interval", "fixed_interval", "interval"} {
		n := o.get(name)
		if n == nil {
			continue
		}
		given++
		unit, calendar := calendarUnits[n.text]
		width, fixed := duration(n.text)
		switch {
		case calendar && name != "fixed_interval":
			a.Calendar = unit
		case fixed && width >= 1 && name != "calendar_interval":
			a.Interval = width
		default:
			if name == "fixed_interval" {
				return n.bad("%q is no %s, which is a number with ms, s, m, h or d, from 1ms to 366000d", n.text, name)
			}
			return n.bad("%q is no %s", n.text, name)
		}
	}
	if given != 1 {
		return o.bad("date_histogram needs one of calendar_interval and fixed_interval")
	}
	if n := o.get("offset"); n != nil {
		text, negative := strings.CutPrefix(strings.TrimPrefix(n.text, "+"), "-")
		v, ok := duration(text)
		if !ok && text != "0" {
			return n.bad("%q is no offset, which is a number with ms, s, m, h or d, at most 366000d, behind + or -", n.text)
		}
		if a.Offset = v; negative {
			a.Offset = -v
		}
	}
	return nil
}

// longest is the most milliseconds of an interval or offset, a thousand years:
// with any date, a float64 has them exactly.
const longest = 366_000 * 86_400_000

// duration reads "90m" as milliseconds, at most longest.
func duration(s string) (ms float64, ok bool) {
	for _, u := range []struct {
		suffix string
		ms     float64
	}{{"ms", 1}, {"s", 1000}, {"m", 60_000}, {"h", 3_600_000}, {"d", 86_400_000}} {
		if cut, found := strings.CutSuffix(s, u.suffix); found {
			n, err := strconv.ParseUint(cut, 10, 31)
			ms = float64(n) * u.ms
			return ms, err == nil && ms <= longest
		}
	}
	return 0, false
}

func (p *parser) filtersAgg(o *object) (search.AggBody, error) {
	a := &search.FiltersAgg{}
	n := o.get("filters")
	if n.empty() || len(n.kids) > maxRanges {
		return nil, o.bad("filters needs the parameter %q with up to %d queries", "filters", maxRanges)
	}
	if n.kind == jsonx.Object {
		a.Names = n.keys
	}
	for _, kid := range n.kids {
		q, err := p.query(kid)
		if err != nil {
			return nil, err
		}
		a.Queries = append(a.Queries, q)
	}
	if o.get("keyed") != nil {
		keyed, err := o.flag("keyed")
		if err != nil {
			return nil, err
		}
		a.List = !keyed
	}
	other, err := o.flag("other_bucket")
	if err != nil {
		return nil, err
	}
	fallback := ""
	if other {
		fallback = "_other_"
	}
	a.Other, err = o.text("other_bucket_key", fallback)
	return a, err
}

func percentilesAgg(o *object) (search.AggBody, error) {
	a := &search.PercentilesAgg{Percents: []float64{1, 5, 25, 50, 75, 95, 99}, Keyed: true}
	var err error
	if a.Field, err = o.must("field", "percentiles"); err != nil {
		return nil, err
	}
	if o.get("keyed") != nil {
		if a.Keyed, err = o.flag("keyed"); err != nil {
			return nil, err
		}
	}
	if a.Missing, err = missing(o); err != nil {
		return nil, err
	}
	if a.Format, err = format(o); err != nil {
		return nil, err
	}
	o.get("tdigest", "hdr") // say how to approximate, and these are exact
	n := o.get("percents")
	if n == nil {
		return a, nil
	}
	if n.kind != jsonx.Array || len(n.kids) > maxRanges {
		return nil, n.bad("an array of up to %d numbers is expected", maxRanges)
	}
	a.Percents = nil
	for _, kid := range n.kids {
		v, err := kid.value()
		f, ok := v.Number()
		if err != nil || !ok || f < 0 || f > 100 {
			return nil, kid.bad("a number from 0 to 100 is expected")
		}
		a.Percents = append(a.Percents, f)
	}
	return a, nil
}
