package dates

import "strings"

// namedPattern gives the Java pattern behind a name of Elasticsearch. The
// strict_ forms of most names have the same pattern, because ours always
// wants the digits that the pattern shows.
func namedPattern(name string) (string, bool) {
	const (
		day   = "yyyy-MM-dd"
		clock = "HH:mm:ss"
	)
	switch strings.TrimPrefix(name, "strict_") {
	case "date", "year_month_day", "yearMonthDay":
		return day, true
	case "date_time", "dateTime":
		return day + "'T'" + clock + ".SSSX", true
	case "date_time_no_millis", "dateTimeNoMillis":
		return day + "'T'" + clock + "X", true
	case "date_hour":
		return day + "'T'HH", true
	case "date_hour_minute":
		return day + "'T'HH:mm", true
	case "date_hour_minute_second", "dateHourMinuteSecond":
		return day + "'T'" + clock, true
	case "date_hour_minute_second_millis", "date_hour_minute_second_fraction":
		return day + "'T'" + clock + ".SSS", true
	case "basic_date":
		return "yyyyMMdd", true
	case "basic_date_time":
		return "yyyyMMdd'T'HHmmss.SSSX", true
	case "basic_date_time_no_millis":
		return "yyyyMMdd'T'HHmmssX", true
	case "basic_time_no_millis":
		return "HHmmssX", true
	case "basic_ordinal_date":
		return "yyyyDDD", true
	case "ordinal_date":
		return "yyyy-DDD", true
	case "time":
		return clock + ".SSSX", true
	case "time_no_millis":
		return clock + "X", true
	case "hour":
		return "HH", true
	case "hour_minute", "hourMinute":
		return "HH:mm", true
	case "hour_minute_second", "hourMinuteSecond":
		return clock, true
	case "hour_minute_second_millis", "hour_minute_second_fraction":
		return clock + ".SSS", true
	case "year":
		return "yyyy", true
	case "year_month", "yearMonth":
		return "yyyy-MM", true
	}
	return "", false
}
