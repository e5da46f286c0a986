package rawjson_test

import (
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

func TestCheck(t *testing.T) {
	ok := []string{
		`{}`, `[]`, ` {"a": [1, -0.5e+3, 0, true, false, null, "x\u00e9\ud83d\ude00é\/"]} `, `"s"`, `0`,
		`{"a":{"a":1},"b":{"a":1}}`, `{"":1}`, `[[],[[]],{}]`, `1e-999`, `"\u001f"`,
	}
	for _, raw := range ok {
		if err := rawjson.Check([]byte(raw), rawjson.Limits{}); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
	deep := strings.Repeat("[", 5) + strings.Repeat("]", 5)
	if err := rawjson.Check([]byte(deep), rawjson.Limits{Depth: 5}); err != nil {
		t.Errorf("depth 5 of 5: %v", err)
	}
	wide := make([]string, 100)
	for i := range wide {
		wide[i] = `"k` + strings.Repeat("x", i) + `":1`
	}
	if err := rawjson.Check([]byte("{"+strings.Join(wide, ",")+"}"), rawjson.Limits{}); err != nil {
		t.Errorf("wide object: %v", err)
	}

	bad := []struct {
		raw, path, says string
		kind            problem.Kind
	}{
		{``, "", "too early", problem.Invalid},
		{`{"a":1`, "a", "comma or }", problem.Invalid},
		{`{"a":1}{`, "", "after the value", problem.Invalid},
		{`{"a":{"b":[1,{"c":1,"\u0063":2}]}}`, "a.b[1].c", "twice", problem.Invalid},
		{"{" + strings.Join(wide, ",") + `,"kxx":2}`, "kxx", "twice", problem.Invalid},
		{`{"a":["x","\ud800"]}`, "a[1]", "surrogate", problem.Invalid},
		{`{"a":"\ud800\u0041"}`, "a", "surrogate", problem.Invalid},
		{`{"a":"x\u0000"}`, "a", "U+0000", problem.Invalid},
		{`{"\u0000":1}`, "\uFFFD", "U+0000", problem.Invalid},
		{"{\"a\":\"\x01\"}", "a", "control", problem.Invalid},
		{"{\"a\":\"\xff\"}", "a", "UTF-8", problem.Invalid},
		{"{\"a\":\"\xed\xa0\x80\"}", "a", "UTF-8", problem.Invalid},
		{`{"a":01}`, "a", "number", problem.Invalid},
		{`{"a":-}`, "a", "number", problem.Invalid},
		{`{"a":1.}`, "a", "number", problem.Invalid},
		{`{"a":1e}`, "a", "number", problem.Invalid},
		{`{"a":1e999}`, "a", "range", problem.Invalid},
		{`{"a":` + strings.Repeat("9", 101) + `}`, "a", "digits", problem.Invalid},
		{`{"a":NaN}`, "a", "expected", problem.Invalid},
		{`{"a":tru}`, "a", "expected", problem.Invalid},
		{`{"a":"x}`, "a", "does not end", problem.Invalid},
		{`{"a":"\x"}`, "a", "escape", problem.Invalid},
		{`{"a":"\u12g4"}`, "a", "hexadecimal", problem.Invalid},
		{`{a:1}`, "", "key", problem.Invalid},
		{`{"a":1,}`, "", "key", problem.Invalid},
		{`{"a" 1}`, "a", "colon", problem.Invalid},
		{`[1,]`, "[1]", "expected", problem.Invalid},
		{`{"a":[[[[[]]]]]}`, "a[0][0][0][0]", "deeper", problem.TooLarge},
	}
	for _, c := range bad {
		err := rawjson.Check([]byte(c.raw), rawjson.Limits{Depth: 5})
		if !problem.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40s: got %v, want %s %q", c.raw, err, c.kind.Name(), c.says)
			continue
		}
		if got := problem.From(err).Fields[0].Path; got != c.path {
			t.Errorf("%.40s: path %q, want %q", c.raw, got, c.path)
		}
	}
}

func TestCheckObject(t *testing.T) {
	for raw, want := range map[string]string{`{}`: `{}`, ` [ ] `: `{}`, " {\"a\":1}\n": `{"a":1}`} {
		if err := rawjson.CheckObject([]byte(raw), rawjson.Limits{}); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if got := string(rawjson.Object([]byte(raw))); got != want {
			t.Errorf("Object(%s) = %s", raw, got)
		}
	}
	for _, raw := range []string{`[1]`, `"a"`, `1`, `null`, `{`, ``} {
		if err := rawjson.CheckObject([]byte(raw), rawjson.Limits{}); !problem.Is(err, problem.Invalid) {
			t.Errorf("%s: got %v, want invalid", raw, err)
		}
	}
}

func TestKindOf(t *testing.T) {
	for raw, want := range map[string]rawjson.Kind{
		`{}`: rawjson.Map, ` [`: rawjson.Array, `""`: rawjson.Text, `-1`: rawjson.Number, `9`: rawjson.Number,
		`true`: rawjson.Bool, `false`: rawjson.Bool, `null`: rawjson.Null, ``: rawjson.None, `x`: rawjson.None,
	} {
		if got := rawjson.KindOf([]byte(raw)); got != want {
			t.Errorf("%s is %s, want %s", raw, got, want)
		}
	}
}
