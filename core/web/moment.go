package web

import (
	"time"

	"github.com/quoin-cms/quoin/core/problem"
)

// Atom is the layout in which the API writes times: ISO 8601 without fractions
// of a second, and with +00:00 for UTC, not with Z. To PHP clients another form
// is no time.
const Atom = "2006-01-02T15:04:05-07:00"

// Moment reads a parameter that is a time: one of RFC 3339, or a day, which
// stands for its start in UTC. Empty is the zero time.
func Moment(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, problem.Field(problem.Invalid, name, "must be a date and time such as 2026-01-31T10:00:00Z, or a day such as 2026-01-31")
}
