package dsl

import (
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
)

func (p *parser) rangeOf(o *object) (search.Query, error) {
	name, n, err := field(o, "range")
	if err != nil {
		return nil, err
	}
	in, err := open(n)
	if err != nil {
		return nil, err
	}
	c, err := base(in)
	if err != nil {
		return nil, err
	}
	q := &search.Range{Clause: c, Field: name}
	lower, err := in.text("include_lower", "true")
	if err != nil {
		return nil, err
	}
	upper, err := in.text("include_upper", "true")
	if err != nil {
		return nil, err
	}
	from, to := &q.GTE, &q.LTE
	if lower == "false" {
		from = &q.GT
	}
	if upper == "false" {
		to = &q.LT
	}
	for _, b := range []struct {
		name string
		to   **search.Value
	}{{"from", from}, {"to", to}, {"gt", &q.GT}, {"gte", &q.GTE}, {"lt", &q.LT}, {"lte", &q.LTE}} {
		if bound := in.get(b.name); bound != nil {
			v, err := bound.value()
			if err != nil {
				return nil, err
			}
			*b.to = &v
		}
	}
	if err := rangeDates(in, q); err != nil {
		return nil, err
	}
	if n := in.get("relation"); n != nil && !strings.EqualFold(n.text, "intersects") {
		return nil, n.bad("range supports only the relation intersects")
	}
	return q, in.done("range")
}

// rangeDates reads format and time_zone and refuses what is neither.
func rangeDates(in *object, q *search.Range) (err error) {
	if q.Format, err = in.text("format", ""); err != nil {
		return err
	}
	if q.TimeZone, err = in.text("time_zone", ""); err != nil {
		return err
	}
	loc := time.UTC
	if q.TimeZone != "" {
		if loc, err = dates.ParseZone(q.TimeZone); err != nil {
			return in.get("time_zone").bad("%s", err)
		}
	}
	if q.Format == "" {
		return nil
	}
	f, err := dates.Parse(q.Format)
	if err != nil {
		return in.get("format").bad("%s", err)
	}
	for _, v := range []*search.Value{q.GT, q.GTE, q.LT, q.LTE} {
		if v == nil {
			continue
		}
		if _, err := f.Math(v.Text, time.Unix(0, 0), loc, false); err != nil {
			return in.bad("%s", err)
		}
	}
	return nil
}
