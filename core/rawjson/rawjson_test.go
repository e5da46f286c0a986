package rawjson_test

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

func TestIteration(t *testing.T) {
	raw := []byte(` { "a" : 1 , "\u0062" : [ ] , "c" : {"d":"}"} , "e" : "x\"y" } `)
	var got string
	err := rawjson.Members(raw, func(k string, v []byte) error {
		got += k + "=" + string(v) + ";"
		return nil
	})
	if want := `a=1;b=[ ];c={"d":"}"};e="x\"y";`; err != nil || got != want {
		t.Errorf("members %q, %v, want %q", got, err, want)
	}
	got = ""
	err = rawjson.Elements([]byte(`[1, "a,b" ,{"x":[1]},[]]`), func(i int, v []byte) error {
		got += fmt.Sprintf("%d=%s;", i, v)
		return nil
	})
	if want := `0=1;1="a,b";2={"x":[1]};3=[];`; err != nil || got != want {
		t.Errorf("elements %q, %v, want %q", got, err, want)
	}
	stop := errors.New("stop")
	if err := rawjson.Members(raw, func(string, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the callback's error must come back, got %v", err)
	}
	if err := rawjson.Members([]byte(`[]`), func(string, []byte) error { return stop }); err != nil {
		t.Errorf("[] must count as an empty object, got %v", err)
	}
	if err := rawjson.Members([]byte(`[1]`), nil); !problem.Is(err, problem.Invalid) {
		t.Errorf("members of an array: %v", err)
	}
	if err := rawjson.Elements([]byte(`{}`), nil); !problem.Is(err, problem.Invalid) {
		t.Errorf("elements of an object: %v", err)
	}
}

func TestGetAndString(t *testing.T) {
	raw := []byte(`{"a":{"b":2},"b":"é\n\ud83d\ude00","n":null}`)
	v, ok := rawjson.Get(raw, "b")
	if s, isString := rawjson.String(v); !ok || !isString || s != "é\n😀" {
		t.Errorf("b is %q, %v, %v", s, ok, isString)
	}
	if v, ok := rawjson.Get(raw, "n"); !ok || string(v) != "null" {
		t.Errorf("n is %s, %v", v, ok)
	}
	if _, ok := rawjson.Get(raw, "x"); ok {
		t.Error("x does not exist")
	}
	if _, ok := rawjson.Get([]byte(`["b"]`), "b"); ok {
		t.Error("an array has no members")
	}
	if _, ok := rawjson.String([]byte(`1`)); ok {
		t.Error("1 is no string")
	}
}

func TestMergeSetWithout(t *testing.T) {
	base := []byte(`{"z":1, "a":{"x":1,"y":2}, "l":[1,2], "e":{}, "f":[]}`)
	cases := []struct{ name, got, want string }{
		{"merge", string(rawjson.Merge(nil, base, []byte(`{"new":1.0,"a":{"x":9},"\u006c":[]}`))),
			`{"z":1,"a":{"x":9},"l":[],"e":{},"f":[],"new":1.0}`},
		{"merge nothing", string(rawjson.Merge(nil, base, []byte(`[]`))), `{"z":1,"a":{"x":1,"y":2},"l":[1,2],"e":{},"f":[]}`},
		{"merge into nothing", string(rawjson.Merge(nil, []byte(`[]`), []byte(`{"b":1,"a":2}`))), `{"b":1,"a":2}`},
		{"append", string(rawjson.Merge([]byte("x"), nil, nil)), `x{}`},
		{"set in place", string(rawjson.Set(nil, base, "a", []byte(`null`))), `{"z":1,"a":null,"l":[1,2],"e":{},"f":[]}`},
		{"set at the end", string(rawjson.Set(nil, []byte(`{"a":1}`), "b\"", []byte(`2`))), `{"a":1,"b\"":2}`},
		{"set in nothing", string(rawjson.Set(nil, []byte(`{}`), "b", []byte(`2`))), `{"b":2}`},
		{"without", string(rawjson.Without(nil, base, "z", "l", "none")), `{"a":{"x":1,"y":2},"e":{},"f":[]}`},
		{"without all", string(rawjson.Without(nil, []byte(`{"a":1}`), "a")), `{}`},
		{"compact", string(rawjson.Compact(nil, []byte(" { \"b\" : [ 1.0 , \"a b\\u00e9\" ] ,\n\"a\":{ } } "))), `{"b":[1.0,"a b\u00e9"],"a":{}}`},
		{"normal", string(rawjson.Normalize(nil, []byte(`{"b":{"d":1.0,"c":"\u00e9\/\u0001"},"a":[{"z":1,"y":[]}]}`))),
			`{"a":[{"y":[],"z":1}],"b":{"c":"é/\u0001","d":1.0}}`},
		{"string", string(rawjson.AppendString(nil, "a\"\\\n\x01é\xff😀")), `"a\"\\\n\u0001é` + "\uFFFD" + `😀"`},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestMergeManyKeys(t *testing.T) {
	var base, patch []byte
	for i := range 100 {
		base = rawjson.Set(nil, base, fmt.Sprintf("k%d", i), []byte("1"))
		patch = rawjson.Set(nil, patch, fmt.Sprintf("k%d", i+50), []byte("2"))
	}
	got := rawjson.Merge(nil, base, patch)
	n := 0
	for it := rawjson.Iterate(got); it.Next(); n++ {
		want := "1"
		if n >= 50 {
			want = "2"
		}
		if string(it.Key()) != fmt.Sprintf("k%d", n) || string(it.Value()) != want {
			t.Fatalf("member %d is %s=%s", n, it.Key(), it.Value())
		}
	}
	if n != 150 {
		t.Errorf("%d members, want 150", n)
	}
}

func TestEqual(t *testing.T) {
	cases := []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[]}`, ` { "\u0061" : 1 , "b" : [ ] } `, true},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, false},
		{`{"a":{}}`, `{"a":[]}`, false},
		{`1`, `1.0`, false},
		{`"\/é"`, `"/\u00e9"`, true},
		{`[1]`, `[1,2]`, false},
		{`[1]`, `[1`, false},
	}
	for _, c := range cases {
		if got := rawjson.Equal([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, got)
		}
	}
}

// TestHasher: the hash is that of the canonical form, whatever was hashed
// before.
func TestHasher(t *testing.T) {
	var h rawjson.Hasher
	large := `{"x":"` + strings.Repeat("y", 100_000) + `"}`
	for _, c := range [][2]string{
		{`{"b":1.0,"a":[{"d":1,"c":"\u00e9"},2]}`, `{"a":[{"c":"é","d":1},2],"b":1.0}`}, {`{}`, `{}`}, {large, large},
		{`{"a":{"b":{"c":{}}}}`, `{"a":{"b":{"c":{}}}}`}, {`{"b":1.0,"a":[2,{"d":1,"c":"\u00e9"}]}`, `{"a":[2,{"c":"é","d":1}],"b":1.0}`},
	} {
		if got, want := h.SHA1([]byte(c[0])), sha1.Sum([]byte(c[1])); got != want {
			t.Errorf("%.40s: %x, want %x", c[0], got, want)
		}
	}
}
