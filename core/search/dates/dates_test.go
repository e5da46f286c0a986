package dates_test

import (
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/search/dates"
)

func at(s string) int64 {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t.UnixMilli()
}

func TestMillis(t *testing.T) {
	brussels, err := dates.ParseZone("+02:00")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		format, in string
		up         bool
		zone       *time.Location
		want       string // empty: refused
	}{
		{"", "2024-02-29", false, time.UTC, "2024-02-29T00:00:00Z"},
		{"", "2024-02-30", false, time.UTC, ""},
		{"", "2024-02", true, time.UTC, "2024-02-29T23:59:59.999Z"},
		{"", "2024", false, time.UTC, "2024-01-01T00:00:00Z"},
		{"", "2024-02-29", true, brussels, "2024-02-29T21:59:59.999Z"},
		{"", "2024-02-29T10:15", true, time.UTC, "2024-02-29T10:15:59.999Z"},
		{"", "2024-02-29T10:15:30.5+0200", false, time.UTC, "2024-02-29T08:15:30.5Z"},
		{"", "2024-02-29T10:15:30+02:00", false, brussels, "2024-02-29T08:15:30Z"},
		{"", "2024-02-29T10:15:30Z", false, brussels, "2024-02-29T10:15:30Z"},
		{"", "1709201730000", false, time.UTC, "2024-02-29T10:15:30Z"},
		{"", "24-2-9", false, time.UTC, ""},
		{"date_optional_time", "2024-2-9", false, time.UTC, "2024-02-09T00:00:00Z"},
		{"epoch_second", "1709201730", false, time.UTC, "2024-02-29T10:15:30Z"},
		{"yyyy/MM/dd", "2024/02/29", false, time.UTC, "2024-02-29T00:00:00Z"},
		{"yyyy/MM/dd", "2024-02-29", false, time.UTC, ""},
		{"yyyy/MM/dd||yyyy-MM-dd", "2024-02-29", false, time.UTC, "2024-02-29T00:00:00Z"},
		{"dd/MM/yyyy HH:mm:ss", "29/02/2024 23:01:02", false, time.UTC, "2024-02-29T23:01:02Z"},
		{"yyyy-MM-dd HH:mm:ss", "2024-02-29 00:00:00", false, brussels, "2024-02-28T22:00:00Z"},
		{"yyyyMMddHHmm", "202402291015", false, time.UTC, "2024-02-29T10:15:00Z"},
		{"d MMM yy", "9 Feb 24", false, time.UTC, "2024-02-09T00:00:00Z"},
		{"d MMMM yyyy, hh:mm a", "9 February 2024, 12:05 am", false, time.UTC, "2024-02-09T00:05:00Z"},
		{"EEE, d MMM yyyy", "Fri, 9 Feb 2024", false, time.UTC, "2024-02-09T00:00:00Z"},
		{"yyyy-MM-dd['T'HH:mm]", "2024-02-29", true, time.UTC, "2024-02-29T23:59:59.999Z"},
		{"yyyy-MM-dd['T'HH:mm]", "2024-02-29T11:12", false, time.UTC, "2024-02-29T11:12:00Z"},
		{"date_time_no_millis", "2018-07-04T11:15:00+0200", false, time.UTC, "2018-07-04T09:15:00Z"},
		{"date_time", "2018-07-04T11:15:00.123Z", false, time.UTC, "2018-07-04T11:15:00.123Z"},
		{"basic_date", "20240229", false, time.UTC, "2024-02-29T00:00:00Z"},
		{"HH:mm", "10:15", false, time.UTC, "1970-01-01T10:15:00Z"},
		{"yyyy-DDD", "2024-060", false, time.UTC, "2024-02-29T00:00:00Z"},
	}
	for _, c := range cases {
		f, err := dates.Parse(c.format)
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		ms, ok := f.Millis(c.in, c.zone, c.up)
		if ok != (c.want != "") || ok && ms != at(c.want) {
			t.Errorf("%q in %q: %s, %v, want %s", c.in, c.format, time.UnixMilli(ms).UTC().Format(time.RFC3339Nano), ok, c.want)
		}
	}
}

func TestText(t *testing.T) {
	ms := at("2018-07-04T21:05:06.078Z")
	cases := map[string]string{
		"":                             "2018-07-04T21:05:06.078Z",
		"date_time_no_millis":          "2018-07-04T21:05:06Z",
		"yyyy/MM/dd":                   "2018/07/04",
		"d MMMM yy hh:mm a":            "4 July 18 09:05 PM",
		"epoch_second":                 "1530738306",
		"EEE dd.MM.yyyy 'o''clock' HH": "Wed 04.07.2018 o'clock 21",
	}
	for format, want := range cases {
		f, err := dates.Parse(format)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Text(ms); got != want {
			t.Errorf("%q: got %q, want %q", format, got, want)
		}
	}
}

func TestFormatsThatAreRefused(t *testing.T) {
	for _, s := range []string{"[yyyy", "yyyy]", "'T", "Q", "yyyyyyyyyy", "YYYY-ww", "||", "yyyy||"} {
		if _, err := dates.Parse(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestMath(t *testing.T) {
	now, _ := time.Parse(time.RFC3339, "2024-02-29T10:15:30Z")
	f, _ := dates.Parse("")
	cases := []struct {
		in   string
		up   bool
		want string
	}{
		{"now", false, "2024-02-29T10:15:30Z"},
		{"now-1d/d", false, "2024-02-28T00:00:00Z"},
		{"now/d", true, "2024-02-29T23:59:59.999Z"},
		{"now/w", false, "2024-02-26T00:00:00Z"},
		{"now+1M", false, "2024-03-29T10:15:30Z"},
		{"now-1y", false, "2023-02-28T10:15:30Z"},
		{"now+12h+5m-30s", false, "2024-02-29T22:20:00Z"},
		{"2024-01-31||+1M/d", false, "2024-02-29T00:00:00Z"},
		{"2024-01||/M", true, "2024-01-31T23:59:59.999Z"},
		{"2024-01-31", true, "2024-01-31T23:59:59.999Z"},
		{"now+", false, ""}, {"now+1x", false, ""}, {"now*2d", false, ""}, {"tomorrow", false, ""},
		{"now+999999999y", false, ""}, {"now/", false, ""}, {"now+999999999h", false, ""},
	}
	for _, c := range cases {
		ms, err := f.Math(c.in, now, time.UTC, c.up)
		if (err == nil) != (c.want != "") || err == nil && ms != at(c.want) {
			t.Errorf("%q: %s, %v, want %s", c.in, time.UnixMilli(ms).UTC().Format(time.RFC3339Nano), err, c.want)
		}
	}
}

func FuzzDates(f *testing.F) {
	f.Add("yyyy/MM/dd||epoch_millis", "2024/01/02")
	f.Add("d MMM yy[ HH:mm]", "1 Jan 24 10:11")
	f.Add("", "now-1d/d")
	f.Add("", "2024-10-27T02:30||/h")
	f.Add("d MMM yy", "1 Jan 41") // of such years zones know only rules
	zone, err := time.LoadLocation("Europe/Brussels")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, format, in string) {
		df, err := dates.Parse(format)
		if err != nil {
			return
		}
		ms, ok := df.Millis(in, zone, false)
		up, okUp := df.Millis(in, zone, true)
		if ok != okUp || ok && up < ms {
			t.Errorf("%q in %q: %d, %d", in, format, ms, up)
		}
		df.Text(ms)
		low, err := df.Math(in, time.Unix(0, 0), zone, false)
		high, errUp := df.Math(in, time.Unix(0, 0), zone, true)
		if err == nil && errUp == nil && high < low && !strings.ContainsAny(in, "+-") {
			t.Errorf("%q in %q is from %d to %d", in, format, low, high)
		}
		dates.LooksISO(in)
	})
}

// TestChangedClocks reads dates that the clocks of a zone show twice or never,
// and rounds beside them.
func TestChangedClocks(t *testing.T) {
	f, err := dates.Parse("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		zone, date string
		up         bool
		want       string
	}{
		{"Europe/Brussels", "2024-03-31T02:30:00", false, "2024-03-31T03:30:00+02:00"},
		{"Europe/Brussels", "2024-10-27T02:30:00", false, "2024-10-27T02:30:00+02:00"},
		{"Europe/Brussels", "2024-10-27T00:30:00Z||/h", false, "2024-10-27T02:00:00+02:00"},
		{"Europe/Brussels", "2024-10-27T01:30:00Z||/h", false, "2024-10-27T02:00:00+01:00"},
		{"Europe/Brussels", "2024-10-27T01:30:00Z||/d", false, "2024-10-27T00:00:00+02:00"},
		{"Europe/Brussels", "2024-10-27||/d", true, "2024-10-27T23:59:59+01:00"},
		{"Europe/Brussels", "2024-03-30T02:30:00||+1d", false, "2024-03-31T03:30:00+02:00"},
		{"Europe/Brussels", "2024-01-31T12:00:00||+1M", false, "2024-02-29T12:00:00+01:00"},
		{"America/Santiago", "2024-09-07||+1d/d", false, "2024-09-08T01:00:00-03:00"},
		{"America/Santiago", "2024-09-07||/d", true, "2024-09-07T23:59:59-04:00"},
		{"America/Havana", "2024-11-03T05:30:00Z||/d", false, "2024-11-03T00:00:00-04:00"},
		{"Australia/Lord_Howe", "2024-04-06T15:15:00Z||/h", false, "2024-04-07T01:00:00+11:00"},
		{"Australia/Lord_Howe", "2024-04-06T15:15:00Z||/h", true, "2024-04-07T01:59:59+10:30"},
		{"Pacific/Apia", "2011-12-29||/d", true, "2011-12-29T23:59:59-10:00"},
		{"Pacific/Apia", "2011-12-29||+1d/d", false, "2011-12-31T00:00:00+14:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		ms, err := f.Math(c.date, time.Time{}, zone, c.up)
		if got := time.UnixMilli(ms).In(zone).Format(time.RFC3339); err != nil || got != c.want {
			t.Errorf("%s in %s: %s, %v, want %s", c.date, c.zone, got, err, c.want)
		}
	}
}
