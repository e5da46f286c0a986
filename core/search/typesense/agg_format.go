package typesense

import (
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// printer writes numbers of a field as text: dates and booleans always, plain
// numbers if the request has a format for them.
type printer struct {
	date   *dates.Format
	zone   *time.Location
	flags  bool
	number *search.NumberFormat
}

// printerOf gives the printer of a field. A field that has dates takes the
// format as one of dates.
func printerOf(families [][]column, format, where string) (p printer, err error) {
	p.zone = time.UTC
	for _, list := range families {
		for _, f := range list {
			switch f.Field.Family {
			case mapping.Date:
				if p.date == nil {
					p.date = f.Field.Format
				}
			case mapping.Boolean:
				p.flags = true
			}
		}
	}
	switch {
	case format == "":
		return p, nil
	case p.date != nil:
		p.date, err = dates.Parse(format)
	default:
		p.flags = false
		p.number, err = search.ParseNumberFormat(format)
	}
	if err != nil {
		return p, problem.Field(problem.Invalid, where+".format", "%s", err)
	}
	return p, nil
}

// text is empty for what needs no second form.
func (p *printer) text(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return ""
	case p.date != nil && math.Abs(v) < 1e17:
		return p.date.TextIn(int64(v), p.zone)
	case p.date != nil:
		return ""
	case p.flags && v == 0:
		return "false"
	case p.flags:
		return "true"
	case p.number != nil:
		return p.number.Text(v)
	}
	return ""
}
