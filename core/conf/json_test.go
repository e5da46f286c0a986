package conf_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/conf"
)

func TestYAMLToJSON(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "null",
		"# only a comment":                       "null",
		"b: 1\na: [x, 2.50, -0]":                 `{"b":1,"a":["x",2.50,-0]}`,
		"a: {}\nb: []\nc:\nd: ~":                 `{"a":{},"b":[],"c":null,"d":null}`,
		"a: 0x1F\nb: 1_000\nc: +5":               `{"a":31,"b":1000,"c":5}`,
		"a: 1e3\nb: .5\nc: 12345678901234567890": `{"a":1e3,"b":0.5,"c":12345678901234567890}`,
		"a: '1'\nb: yes\nc: TRUE":                `{"a":"1","b":"yes","c":true}`,
		"a: 2030-01-02\nb: <é\"\n":               `{"a":"2030-01-02","b":"<é\""}`,
		"1: a\ntrue: b":                          `{"1":"a","true":"b"}`,
		"${env:A}: ${env:A}":                     `{"${env:A}":"${env:A}"}`,
	} {
		got, err := conf.JSON("x.yaml", []byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%q\ngot  %s, %v\nwant %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"a: [1":                          "x.yaml:1: did not find",
		"a: 1\nb:\n  a: .inf":            "x.yaml:3: b.a: \".inf\" is not a number",
		"a: .nan\na: 2":                  "x.yaml:1: a: \".nan\" is not a number that JSON has\nx.yaml:2: a: given twice",
		"a: &x 1\nb: [*x]":               "x.yaml:2: b[0]: aliases",
		"a: {<<: {b: 1}}":                "x.yaml:1: a: a key must be",
		"[a]: 1":                         "a key must be",
		"a: !!binary aGk=":               "the tag !!binary",
		"a: !mine x":                     "the tag !mine",
		"a: !!int 'true'":                "a: \"true\" is not a number that JSON has",
		"a: !!float '{\"b\":1,\"b\":2}'": "is not a number that JSON has",
		"a: 1\n---\nb: 1":                "more than one",
		strings.Repeat("[", 80) + strings.Repeat("]", 80): "nested deeper",
	} {
		if got, err := conf.JSON("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\ngot  %s, %v\nwant %s", text, got, err, want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{"a: 1", "? [a]\n: b", "- 0o7\n- 0b1\n- 1__0\n- .5e-3", "a: |\n  x\n", "a: &b [*b]", "\"\\ud800\": 1", "!!int x", "{a: b, a: c}", "!!bool yes"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := conf.JSON("f", text); err == nil && !json.Valid(got) {
			t.Fatalf("%q became %q, which is not JSON", text, got)
		}
	})
}
