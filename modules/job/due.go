package job

import (
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// timetable is a cron expression in a time zone. Where clocks are changed it
// does what cron does: a time of day that they skip comes when they are put
// forward, and one that they show twice comes once. What runs all day long (a *
// for the minutes or the hours) follows the clock instead: it leaves out what is
// skipped and does again what is shown again.
type timetable struct {
	spec  cron.Schedule
	zone  *time.Location
	fixed bool // at times of day
}

// readTimetable reads a cron expression of five fields, or one such as @daily.
func readTimetable(text string, zone *time.Location) (timetable, error) {
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	spec, err := parser.Parse(sundays(text))
	fixed := text != "@hourly"
	for i, field := range strings.Fields(text) {
		if i < 2 && strings.ContainsAny(field[:1], "*?") {
			fixed = false
		}
	}
	return timetable{spec, zone, fixed}, err
}

// sundays writes 7, which is Sunday in the crontabs of Linux and in elasticms, as
// the parser reads it: 5-7 is 5,6,0. What it does not understand stays, and is
// refused by the parser.
func sundays(text string) string {
	fields := strings.Fields(text)
	if len(fields) != 5 || !strings.Contains(fields[4], "7") {
		return text
	}
	days := strings.Split(fields[4], ",")
	for i, day := range days {
		span, by, _ := strings.Cut(day, "/")
		from, to, isSpan := strings.Cut(span, "-")
		switch first, err := strconv.Atoi(from); {
		case day == "7":
			days[i] = "0"
		case isSpan && to == "7" && err == nil && first >= 0 && first <= 7:
			step := 1
			if by != "" {
				step, _ = strconv.Atoi(by)
			}
			if step < 1 || strings.HasSuffix(day, "/") {
				continue
			}
			var list []string
			for d := first; d <= 7; d += min(step, 7) {
				list = append(list, strconv.Itoa(d%7))
			}
			days[i] = strings.Join(list, ",")
		}
	}
	fields[4] = strings.Join(days, ",")
	return strings.Join(fields, " ")
}

// farthest is how far ahead a run may be.
const farthest = 5

// next gives the first run after now; the zero time when there is none. The
// expression is asked about the clock on the wall, which it takes for one that
// is never changed, between one change of it and the next.
func (t timetable) next(now time.Time) time.Time {
	at := now.In(t.zone)
	wall := shown(at)
	if begin, _ := at.ZoneBounds(); t.fixed && !begin.IsZero() {
		if before := shownBefore(begin); before.After(wall) { // what it shows again has been
			wall = before.Add(-time.Nanosecond)
		}
	}
	for at.Before(now.AddDate(farthest, 0, 0)) {
		due := t.spec.Next(wall)
		if due.IsZero() {
			return due
		}
		_, end := at.ZoneBounds()
		// Where only the rules of a zone are known, which is from 2038 on, package
		// time ends the last day of leap years before it begins.
		if run := at.Add(due.Sub(shown(at))); !end.After(at) || run.Before(end) {
			return run
		}
		at = end
		before, after := shownBefore(end), shown(end)
		if t.fixed && due.Before(after) { // skipped
			return end
		}
		if wall = after; t.fixed && before.After(after) {
			wall = before
		}
		wall = wall.Add(-time.Nanosecond)
	}
	return time.Time{}
}

// shown gives what the clock shows, as the time of a clock that is never changed.
func shown(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// shownBefore gives what the clock would have shown at a change of it.
func shownBefore(change time.Time) time.Time {
	return shown(change.Add(-time.Nanosecond)).Add(time.Nanosecond)
}
