package job_test

import (
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/modules/job"
)

// TestRunsWhereClocksAreChanged: what is due once a day comes once a day, also
// when its time of day is skipped or shown twice.
func TestRunsWhereClocksAreChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, cron, zone, from, want string }{
		{"an ordinary day", "30 2 * * *", "Europe/Brussels", "2026-05-04T00:00:00Z", "2026-05-04T00:30:00Z 2026-05-05T00:30:00Z"},
		{"a skipped time of day", "30 2 * * *", "Europe/Brussels", "2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"},
		{"several of them", "15,45 2 * * *", "Europe/Brussels", "2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:15:00Z"},
		{"one that would come with the next", "0 2,3 * * *", "Europe/Brussels", "2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:00:00Z"},
		{"a time of day that comes twice", "30 2 * * *", "Europe/Brussels", "2026-10-24T01:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
		{"asked between the two", "45 2 * * *", "Europe/Brussels", "2026-10-25T01:10:00Z", "2026-10-26T01:45:00Z"},
		{"the hour after them", "0 3 * * *", "Europe/Brussels", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z 2026-10-26T02:00:00Z"},
		{"every half an hour, forward", "*/30 * * * *", "Europe/Brussels", "2026-03-29T00:20:00Z", "2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z"},
		{"every half an hour, back", "*/30 * * * *", "Europe/Brussels", "2026-10-25T00:20:00Z", "2026-10-25T00:30:00Z 2026-10-25T01:00:00Z 2026-10-25T01:30:00Z 2026-10-25T02:00:00Z"},
		{"every hour, forward", "@hourly", "Europe/Brussels", "2026-03-29T00:20:00Z", "2026-03-29T01:00:00Z 2026-03-29T02:00:00Z"},
		{"every hour, back", "15 * * * *", "Europe/Brussels", "2026-10-25T00:00:00Z", "2026-10-25T00:15:00Z 2026-10-25T01:15:00Z 2026-10-25T02:15:00Z"},
		{"a skipped midnight", "@daily", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z 2026-09-07T03:00:00Z"},
		{"a day without its midnight", "0 3 6 9 *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T06:00:00Z 2027-09-06T06:00:00Z"},
		{"a Sunday without its midnight", "0 3 * * 0", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T06:00:00Z 2026-09-13T06:00:00Z"},
		{"half an hour forward", "10 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z", "2026-10-03T15:30:00Z 2026-10-04T15:10:00Z"},
		{"half an hour forward, all day long", "*/10 * * * *", "Australia/Lord_Howe", "2026-10-03T15:25:00Z", "2026-10-03T15:30:00Z 2026-10-03T15:40:00Z"},
		{"half an hour back", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-04T14:45:00Z 2026-04-05T15:15:00Z"},
		{"in years of which zones know only rules", "30 2 * * *", "Europe/Brussels", "2040-12-30T02:00:00Z", "2040-12-31T01:30:00Z 2041-01-01T01:30:00Z"},
		{"a zone that keeps its clocks", "0 0 29 2 *", "Asia/Kolkata", "2026-03-01T00:00:00Z", "2028-02-28T18:30:00Z"},
	} {
		x := &job.Schedule{Cron: c.cron, Zone: c.zone}
		at, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range strings.Fields(c.want) {
			if at, err = x.After(at); err != nil {
				t.Fatal(c.what, err)
			}
			got = append(got, at.UTC().Format(time.RFC3339))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s, %s in %s:\n%s, want\n%s", c.what, c.cron, c.zone, text, c.want)
		}
	}
}

// TestSundayIsSevenToo as in the crontabs of Linux, and in the schedules that come
// with a configuration of elasticms.
func TestSundayIsSevenToo(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for days, want := range map[string]string{
		"7": "Sun Sun", "0": "Sun Sun", "7,3": "Wed Sun", "5-7": "Fri Sat Sun Fri", "0-7": "Tue Wed Thu Fri Sat Sun Mon", "1-7/2": "Wed Fri Sun Mon", "1-7/100": "Mon Mon", "7-7": "Sun Sun",
		"8": "", "7-1": "", "5-7/0": "", "5-7/": "", "x-7": "", "-7": "", "-1-7": "", "17": "", "5-77": "",
	} {
		x, at := &job.Schedule{Cron: "0 3 * * " + days, Zone: "UTC"}, monday
		var got []string
		var err error
		for range strings.Fields(want + " .") {
			if at, err = x.After(at); err != nil {
				break
			}
			got = append(got, at.Format("Mon"))
		}
		if text := strings.Join(got, " "); (err != nil) != (want == "") || !strings.HasPrefix(text, want) {
			t.Errorf("%s: %s %v, want %s", days, text, err, want)
		}
	}
}

// TestRunsThatClocksSkipForEver come to an end.
func TestRunsThatClocksSkipForEver(t *testing.T) {
	t.Parallel()
	for _, cron := range []string{"* 2 29 3 *", "0 0 30 2 *"} {
		at, err := (&job.Schedule{Cron: cron, Zone: "Europe/Brussels"}).After(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
		if want := strings.HasPrefix(cron, "* 2"); err != nil || at.IsZero() == want {
			t.Errorf("%s: %s %v", cron, at, err)
		}
	}
}
