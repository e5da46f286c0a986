package typesense_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search/typesense"
)

// values are keywords that a server would fold, cut or misread.
func values() []string {
	list := []string{
		"", "a", "Foo-Bar", "foobar", "FooBar!", "*", "a*", "a,b", "a && b", "a||b", "[a..b]", "a`b", " leading", "é", "e", "日本", "日", "z", "zz", "z0",
		"\x00", "\x00\x00", "\xff", "a\x00b", "true", "1", "10", "9", "-1", "привет", "{", "~", "\x7f",
	}
	for _, n := range []int{46, 47, 48, 63, 64, 94, 95, 96, 189, 190, 191, 300, 1500} {
		list = append(list, strings.Repeat("a", n), strings.Repeat("a", n)+"b", strings.Repeat("1", n), strings.Repeat("é", n), strings.Repeat("z", n)+"\xf0")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = "abzAZ019 .-_é\xffy{`"[r.IntN(18)]
		}
		list = append(list, string(b))
	}
	return list
}

// safe tells whether a code has nothing that the server folds, splits or reads
// as syntax, and no token that it would cut.
func safe(code string) bool {
	for token := range strings.SplitSeq(code, " ") {
		if token == "" || len(token) > 100 || strings.Trim(token, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
			return false
		}
	}
	return true
}

func TestKeywordCode(t *testing.T) {
	list := values()
	seen := map[string]string{}
	for _, v := range list {
		code := typesense.EncodeKeyword(v)
		if !safe(code) || len(code) > 235 {
			t.Fatalf("%q has the code %q", v, code)
		}
		if other, ok := seen[code]; ok && other != v {
			t.Fatalf("%q and %q have the same code", v, other)
		}
		seen[code] = v
		if back, ok := typesense.DecodeKeyword(code); ok && back != v {
			t.Errorf("%q comes back as %q", v, back)
		} else if !ok && len(v) < 63 {
			t.Errorf("%q does not come back", v)
		}
	}
	for _, p := range list {
		code, ok := typesense.EncodeKeywordPrefix(p)
		if !ok {
			if len(p) < 63 {
				t.Errorf("the prefix %q is refused", p)
			}
			continue
		}
		for _, v := range list[:200] {
			if got, want := strings.HasPrefix(typesense.EncodeKeyword(v), code), strings.HasPrefix(v, p); got != want {
				t.Fatalf("%q begins with %q: %v by the codes", v, p, got)
			}
		}
	}
}

func TestSortCodeKeepsTheOrder(t *testing.T) {
	list := values()
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		a, b := typesense.EncodeSort(list[i-1]), typesense.EncodeSort(list[i])
		if a > b || a == b && list[i-1] != list[i] && len(list[i]) < 600 {
			t.Fatalf("%.50q stands before %.50q, and their codes do not", list[i-1], list[i])
		}
		if len(b) > 2000 {
			t.Fatalf("a code of %d bytes", len(b))
		}
	}
}

func TestNumberCode(t *testing.T) {
	list := []float64{
		math.Inf(-1), -math.MaxFloat64, -1e300, -1 << 53, -2, -1.5, -1, -0.3, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64,
		0.3, 0.30000000000000004, 1, 1.5, 2, 9007199254740992, 9007199254740994, 1e300, math.MaxFloat64, math.Inf(1),
	}
	for i, x := range list {
		n := typesense.EncodeNumber(x)
		if back := typesense.DecodeNumber(n); back != x {
			t.Errorf("%g comes back as %g", x, back)
		}
		if i > 0 && n <= typesense.EncodeNumber(list[i-1]) {
			t.Errorf("%g is not above %g", x, list[i-1])
		}
		if n <= typesense.MinNumber || n >= typesense.MaxNumber {
			t.Errorf("%g has no room beside it", x)
		}
	}
	if typesense.EncodeNumber(math.Copysign(0, -1)) != 0 {
		t.Error("the zeros differ")
	}
}

func TestTokenCode(t *testing.T) {
	seen := map[string]string{}
	for _, v := range values() {
		if v == "" {
			continue
		}
		code := typesense.EncodeToken(v)
		if !safe(code) || strings.Contains(code, " ") {
			t.Fatalf("%q has the code %q", v, code)
		}
		if other, ok := seen[code]; ok && other != v {
			t.Fatalf("%q and %q have the same code", v, other)
		}
		seen[code] = v
		if back, ok := typesense.DecodeToken(code); ok && back != v || !ok && len(v) < 15 {
			t.Errorf("%q comes back as %q, %v", v, back, ok)
		}
		for _, p := range []string{strings.ToValidUTF8(v[:len(v)/2], ""), "a", "é", "日"} {
			prefix, ok := typesense.EncodeTokenPrefix(p)
			if ok && strings.HasPrefix(v, p) && !strings.HasPrefix(code, prefix) {
				t.Errorf("%q begins with %q, and the codes do not: %q, %q", v, p, code, prefix)
			}
		}
	}
	for token, want := range map[string]string{"quick": "quick", "2024": "2024", "zoo": "z0oo", "c++": "cz27z27", "café": "cafz96h"} {
		if got := typesense.EncodeToken(token); got != want {
			t.Errorf("%q has the code %q, want %q", token, got, want)
		}
	}
}

func TestFieldNames(t *testing.T) {
	for _, path := range []string{
		"title", "a.b", "a_b", "a__b", "a._b", "_d", "", "é", "a b", "$x", "a(b)", "a&&b", "日本.語", "a\x00b", strings.Repeat("a.", 40), strings.Repeat("é", 400), strings.Repeat("x", 9000),
	} {
		for _, tag := range []string{"", "0a1b2c3d"} {
			name := typesense.FieldName("k", path, tag)
			if len(name)+len("_max") > 200 || strings.Trim(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
				t.Errorf("%.40q has the name %.250q", path, name)
			}
			prefix, back, gotTag, ok := typesense.ParseName(name)
			if ok != (len(path) < 100) || ok && (prefix != "k" || back != path || gotTag != tag) {
				t.Errorf("%.40q comes back as %q, %q, %q, %v", path, prefix, back, gotTag, ok)
			}
		}
	}
	for _, name := range []string{"", "x", "_p", "k", "k_a_", "k_a_q", "k_a_x1", "k_a_xzz", "k__h0123"} {
		if _, _, _, ok := typesense.ParseName(name); ok && name != "_p" {
			t.Errorf("%q is no name", name)
		}
	}
}

func FuzzCodes(f *testing.F) {
	for _, v := range values()[:60] {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		code := typesense.EncodeKeyword(v)
		if back, ok := typesense.DecodeKeyword(code); ok && back != v || !safe(code) || len(code) > 235 {
			t.Fatalf("%q: %q, %q", v, code, back)
		}
		if token := typesense.EncodeToken(v); v != "" {
			if back, ok := typesense.DecodeToken(token); ok && back != v || !safe(token) {
				t.Fatalf("%q: %q, %q", v, token, back)
			}
		}
		if _, path, _, ok := typesense.ParseName(typesense.FieldName("k", v, "")); ok && path != v {
			t.Fatalf("%q: the path %q", v, path)
		}
		typesense.DecodeKeyword(v)
		typesense.DecodeToken(v)
		typesense.ParseName(v)
	})
}
