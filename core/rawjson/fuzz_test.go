package rawjson_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
)

func decode(t *testing.T, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses what Check accepts or what we made of it: %v\n%q", err, raw)
	}
	if d.More() {
		t.Fatalf("more than one value: %q", raw)
	}
	return v
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+3,true,null,"x\u00e9\ud83d\ude00\/"]}`, `{"a":1,"\u0061":2}`, `[]`, `"\ud800"`, `1e999`,
		` { "b" : { "d":1.0 , "c":"\\\"" } , "a":[ ] } `, `{"a":"\u0000"}`, "\"\xff\"", `[1,]`, `{"":{"":[[]]}}`, `{"\\":"\\\\"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		accepted := rawjson.Check(raw, rawjson.Limits{}) == nil
		compact := rawjson.Compact(nil, raw)
		normal := rawjson.Normalize(nil, raw)
		merged := rawjson.Merge(nil, raw, raw)
		_ = rawjson.Set(nil, raw, "a", []byte("1"))
		_ = rawjson.Without(nil, raw, "a")
		_ = rawjson.Equal(raw, compact)
		if !accepted {
			return
		}
		want := decode(t, raw)
		if !reflect.DeepEqual(want, decode(t, compact)) || !reflect.DeepEqual(want, decode(t, normal)) {
			t.Fatalf("the meaning changed: %q, compact %q, normal %q", raw, compact, normal)
		}
		if !rawjson.Equal(raw, compact) || !bytes.Equal(normal, rawjson.Normalize(nil, compact)) {
			t.Fatalf("compact form differs: %q", raw)
		}
		if !bytes.Equal(normal, rawjson.Normalize(nil, normal)) {
			t.Fatalf("the canonical form is not stable: %q", normal)
		}
		if rawjson.KindOf(raw) == rawjson.Map {
			if !rawjson.Equal(merged, compact) {
				t.Fatalf("merging with itself changed %q to %q", compact, merged)
			}
			roundTrip(t, want.(map[string]any), raw)
		}
	})
}

// roundTrip compares Get, Set and Without with the decoded map.
func roundTrip(t *testing.T, want map[string]any, raw []byte) {
	for key, value := range want {
		got, ok := rawjson.Get(raw, key)
		if !ok || !reflect.DeepEqual(value, decode(t, got)) {
			t.Fatalf("member %q of %q is %q", key, raw, got)
		}
		if s, isString := value.(string); isString {
			if mine, ok := rawjson.String(got); !ok || mine != s {
				t.Fatalf("string %q became %q", s, mine)
			}
		}
		set := decode(t, rawjson.Set(nil, raw, key, []byte("17"))).(map[string]any)
		if len(set) != len(want) || set[key] != json.Number("17") {
			t.Fatalf("Set %q gave %v", key, set)
		}
		rest := decode(t, rawjson.Without(nil, raw, key)).(map[string]any)
		if _, still := rest[key]; still || len(rest) != len(want)-1 {
			t.Fatalf("Without %q gave %v", key, rest)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x01é\xff😀")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(rawjson.AppendString(nil, s), &back); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := string([]rune(s)); back != want {
			t.Fatalf("%q became %q, want %q", s, back, want)
		}
	})
}
