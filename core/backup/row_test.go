package backup_test

import (
	"reflect"
	"testing"

	"github.com/quoin-cms/quoin/core/backup"
)

func TestRowsSurvive(t *testing.T) {
	kinds := []string{"bigint", "text", "text", "boolean", "text", "bytea"}
	row := []any{int64(-9007199254740993), "é\n\"\u2028 🙂 <&", "not \xff UTF-8", true, nil, []byte{0, 255}}
	line, err := backup.AppendRow(nil, row)
	if err != nil {
		t.Fatal(err)
	}
	got, err := backup.ParseRow(line, kinds)
	if err != nil || !reflect.DeepEqual(got, row) {
		t.Errorf("%v: %#v from %s", err, got, line)
	}
}

func TestRowsThatAreNone(t *testing.T) {
	for _, line := range []string{``, `{}`, `[1]`, `[1,2,3]`, `[1.5,""]`, `[1e400,""]`, `[99999999999999999999,""]`, `[{"base64":"*"},""]`, `[{"a":"b"},""]`, `[[],""]`, `[true,""]`} {
		if v, err := backup.ParseRow([]byte(line), []string{"bigint", "text"}); err == nil {
			t.Errorf("%s is %v", line, v)
		}
	}
}

// FuzzParseRow: what is read is written as it was meant.
func FuzzParseRow(f *testing.F) {
	for _, line := range []string{`[1,"a",null]`, `[0,"\ud800",{"base64":"AA=="}]`, `[-1,"",{"base64":"/w=="}]`} {
		f.Add([]byte(line))
	}
	kinds := []string{"bigint", "text", "text"}
	f.Fuzz(func(t *testing.T, line []byte) {
		row, err := backup.ParseRow(line, kinds)
		if err != nil {
			return
		}
		again, err := backup.AppendRow(nil, row)
		if err != nil {
			t.Fatalf("%v of %q", err, line)
		}
		got, err := backup.ParseRow(again, kinds)
		if err != nil || !reflect.DeepEqual(got, row) {
			t.Errorf("%q is %#v, then %q is %#v: %v", line, row, again, got, err)
		}
	})
}
