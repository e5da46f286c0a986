package schema_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/quoin-cms/quoin/modules/content/schema"
)

func TestDateFormats(t *testing.T) {
	cases := []struct {
		format string
		good   []string
		bad    []string
	}{
		{"yyyy/MM/dd", []string{"2024/12/31"}, []string{"2024/13/01", "2024/00/01", "24/01/01", "2024/1/1", "2024/12/31 ", "2024/04/31"}},
		{"d/M/yy", []string{"1/2/24", "31/12/99"}, []string{"/2/24", "32/1/24", "1/2/2024"}},
		{"dd MMMM yyyy", []string{"17 mei 2024", "01 décembre 2024"}, []string{"17 2024", "17 05 2024"}},
		{"yyyy-MM-dd'T'HH:mm:ssXXX", []string{"2024-05-17T09:30:00+02:00", "2024-05-17T09:30:00Z"}, []string{"2024-05-17 09:30:00Z", "2024-05-17T25:30:00Z"}},
		{"hh 'o''clock' a", []string{"09 o'clock PM"}, []string{"13 o'clock PM"}},
		{"yyyy-MM-dd||epoch_millis", []string{"2024-05-17", "1715900000000"}, []string{"x"}},
		{"strict_date_optional_time", []string{"2024", "2024-05", "2024-05-17", "2024-05-17T09:30", "2024-05-17T09:30:00.123456Z"}, []string{"2024-05-17T", "24"}},
		{"basic_date", []string{"20240517"}, []string{"2024-05-17"}},
		{"HH:mm[:ss]", []string{"09:30", "09:30:15"}, []string{"09", "09:30:61"}},
		{"date_time", []string{"2024-05-17T09:30:00.1Z"}, []string{"2024-05-17T09:30:00Z"}},
	}
	for _, k := range cases {
		short, err := json.Marshal(map[string]any{"name": "t", "fields": []any{map[string]any{"name": "d", "type": "date", "format": k.format}}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := schema.Compile(mustParse(t, string(short)), nil)
		if err != nil || len(c.Warnings) > 0 {
			t.Fatalf("%s: %v %v", k.format, err, c.Warnings)
		}
		v := compileSchema(t, c)
		for _, s := range k.good {
			raw := []byte(fmt.Sprintf(`{"d":%q}`, s))
			if res := c.Validate(raw); !res.OK() {
				t.Errorf("%s refuses %q: %+v", k.format, s, res.Errors)
			}
			if err := v.validate(t, raw); err != nil {
				t.Errorf("%s: the schema refuses %q: %v", k.format, s, err)
			}
		}
		for _, s := range k.bad {
			if res := c.Validate([]byte(fmt.Sprintf(`{"d":%q}`, s))); res.OK() {
				t.Errorf("%s accepts %q", k.format, s)
			}
		}
	}
	for _, format := range []string{"yyyy-QQ", "yyyy'", "[yyyy", "yyyy]", "~", "[[[[[[[[yyyy]MM]dd]HH]mm]ss]a]E][yy][MM][dd][HH][mm][ss][a]"} {
		ct := mustParse(t, `{"name":"t","fields":[{"name":"d","type":"date"}]}`)
		ct.Root.Children[0].Format = format
		c, err := schema.Compile(ct, nil)
		if err != nil || codes(c.Warnings) != "d:unknown_format" {
			t.Errorf("%s: %v, %v", format, c.Warnings, err)
		} else if !c.Validate([]byte(`{"d":"whatever"}`)).OK() {
			t.Errorf("%s must accept any string", format)
		}
	}
}
