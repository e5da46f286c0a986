package jsonx_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// read builds the value as encoding/json would.
func read(p *jsonx.Parser) (any, error) {
	switch p.Peek() {
	case jsonx.Object:
		m := map[string]any{}
		err := p.Object(func(key []byte) error {
			k := string(key)
			v, err := read(p)
			m[k] = v
			return err
		})
		return m, err
	case jsonx.Array:
		l := []any{}
		err := p.Array(func(int) error {
			v, err := read(p)
			l = append(l, v)
			return err
		})
		return l, err
	case jsonx.String:
		b, err := p.String()
		return string(b), err
	}
	lit, err := p.Literal()
	if err != nil {
		return nil, err
	}
	switch string(lit) {
	case "true", "false":
		return lit[0] == 't', nil
	case "null":
		return nil, nil
	}
	return strconv.ParseFloat(string(lit), 64)
}

var texts = []string{
	`{}`, `[]`, `null`, `true`, `-0.5e+3`, `""`, `"a\"b\\c\/\b\f\n\r\té\ud83d\ude00"`, `"\ud800x\udc00"`,
	`{"a":[1,{"b":"é"},[]],"":null}`, ` { "a" : 1 , "b" : [ 1 , 2 ] } `,
	`{`, `[1,]`, `{"a":1,}`, `{"a"}`, `01`, `1.`, `-`, `"`, `"\"`, `"\x"`, `"\u12g4"`, `tru`, `[1 2]`, `{} x`, ``,
}

func TestReadsWhatEncodingJSONReads(t *testing.T) {
	for _, text := range texts {
		compare(t, text)
	}
}

func compare(t *testing.T, text string) {
	t.Helper()
	var want any
	wantErr := json.Unmarshal([]byte(text), &want)
	var p jsonx.Parser
	p.Reset([]byte(text), 100)
	got, err := read(&p)
	if err == nil {
		err = p.End()
	}
	if wantErr != nil {
		// Control characters inside strings and numbers out of range are let
		// through; anything else must be refused here too.
		if err == nil && !strings.Contains(wantErr.Error(), "in string literal") && !strings.Contains(wantErr.Error(), "cannot unmarshal number") {
			t.Errorf("%q: read as %v, want error %v", text, got, wantErr)
		}
		return
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
	}
	p.Reset([]byte(text), 100)
	if raw, err := p.Skip(); err != nil || string(raw) != strings.Trim(text, " \t\r\n") {
		t.Errorf("%q: skipped %q, %v", text, raw, err)
	}
}

func TestDepthIsBounded(t *testing.T) {
	var p jsonx.Parser
	p.Reset([]byte(strings.Repeat("[", 1_000_000)), 64)
	if _, err := p.Skip(); !errors.Is(err, jsonx.ErrDepth) {
		t.Errorf("got %v", err)
	}
}

func TestAppendString(t *testing.T) {
	cases := map[string]string{
		"": "", "plain": "plain", "a\"b\\c\n\t\r\x01": "a\"b\\c\n\t\r\x01", "é日本😀": "é日本😀",
		"bad\xffend": "bad\ufffdend", "\xf0\x9f": "\ufffd\ufffd",
	}
	for s, want := range cases {
		var back string
		if err := json.Unmarshal(jsonx.AppendString(nil, s), &back); err != nil || back != want {
			t.Errorf("%q became %q, %v", s, back, err)
		}
	}
}

func FuzzParser(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "\xff") && json.Valid([]byte(text)) && strings.ToValidUTF8(text, "") == text && !hasTwins(text) {
			compare(t, text)
			return
		}
		var p jsonx.Parser
		p.Reset([]byte(text), 50)
		_, _ = read(&p)
	})
}

// hasTwins tells whether an object may hold a key twice; encoding/json merges
// such values, which is not compared.
func hasTwins(text string) bool { return strings.Count(text, `"`) > 3 && strings.Count(text, ":") > 1 }
