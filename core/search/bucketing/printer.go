package bucketing

import (
	"iter"
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Printer writes numbers of a field as text: dates and booleans always, plain
// numbers if the request has a format for them.
type Printer struct {
	date   *dates.Format
	zone   *time.Location
	flags  bool
	number *search.NumberFormat
}

// NewPrinter makes the printer of fields, which are of one path. Where there are
// dates, the format is one of dates.
func NewPrinter(fields iter.Seq[*mapping.Field], format, where string) (p Printer, err error) {
	p.zone = time.UTC
	p.date = formatOf(fields)
	for f := range fields {
		p.flags = p.flags || f.Family == mapping.Boolean
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

// Text is empty for what needs no second form.
func (p *Printer) Text(v float64) string {
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
