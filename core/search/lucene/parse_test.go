package lucene_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search/lucene"
)

var kinds = [...]string{"", "phrase", "wild", "prefix", "fuzzy", "regexp", "range", "exists", "every", "group"}

// show writes a tree in a form of its own.
func show(n *lucene.Node) string {
	if n == nil {
		return "nil"
	}
	var b strings.Builder
	b.WriteString(kinds[n.Kind])
	b.WriteString("(")
	if n.Field != "" {
		b.WriteString(n.Field + ":")
	}
	b.WriteString(n.Text)
	for i, c := range n.Clauses {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString([]string{"", "+", "-"}[c.Occur] + show(c.Node))
	}
	if n.Kind == lucene.Range {
		low, high := "*", "*"
		if n.Low != nil {
			low = *n.Low
		}
		if n.High != nil {
			high = *n.High
		}
		fmt.Fprintf(&b, "%s%v..%s%v", low, n.OpenLow, high, n.OpenHigh)
	}
	b.WriteString(")")
	if n.Slop >= 0 {
		fmt.Fprintf(&b, "~%d", n.Slop)
	}
	if n.Edits >= 0 {
		fmt.Fprintf(&b, "~%d", n.Edits)
	}
	if n.Boost != 1 {
		fmt.Fprintf(&b, "^%g", n.Boost)
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "nil"}, {"a", "(a)"}, {"a b c", "(a b c)"}, {"a AND b", "group(+(a) +(b))"}, {"a OR b", "group((a) (b))"},
		{"a b AND c", "group((a) +(b) +(c))"}, {"a OR b AND c", "group((a) +(b) +(c))"}, {"+a -b", "group(+(a) -(b))"}, {"!a", "group(-(a))"},
		{"a && b || c", "group(+(a) +(b) (c))"}, {"f:a", "(f:a)"}, {"f:(a OR b)^2", "group(group((f:a) (f:b)))^2"}, {"a* b?c *", "group(prefix(a) wild(b?c) exists(*))"},
		{`f:"a b"~3^2`, "phrase(f:a b)~3^2"}, {"a~ b~1 c~0.5", "group(fuzzy(a) fuzzy(b)~1 fuzzy(c)~0)"}, {"/a.b\\/c/", "regexp(a.b/c)"},
		{"n:[1 TO 2}", "range(n:1false..2true)"}, {"n:{* TO \"b c\"]", "range(n:*true..b cfalse)"}, {"n:>1", "range(n:1true..*false)"}, {"n:<=1", "range(n:*false..1false)"},
		{`a\:b\ c`, "(a:b c)"}, {"*:*", "every()"}, {"_exists_:f", "exists(f:)"}, {"all_*:x", "(all_*:x)"}, {"(a) (b)", "group(group((a)) group((b)))"},
		{"ANDROID ORANGE NOTE", "(ANDROID ORANGE NOTE)"}, {"a-b+c/d", "(a-b+c/d)"}, {"()", "group()"}, {"a NOT b", "group((a) -(b))"},
		{"n:(>=1 AND <5)", "group(group(+range(n:1false..*false) +range(n:*false..5true)))"}, {"n:(+>1 +<=\"2 3\"^2)", "group(group(+range(n:1true..*false) +range(n:*false..2 3false)^2))"},
		{"n:(> 1)", "group((n:> 1))"}, {"f:(>)", "group((f:>))"}, {">1 <2", "(>1 <2)"},
	} {
		n, err := lucene.Parse(c.in, false)
		if err != nil || show(n) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.in, show(n), err, c.want)
		}
	}
	for in, want := range map[string]string{"a b": "(a b)", "a OR b c": "group((a) (b) +(c))", "f:a -b": "group(+(f:a) -(b))"} {
		if n, err := lucene.Parse(in, true); err != nil || show(n) != want {
			t.Errorf("%s: %s, %v, want %s", in, show(n), err, want)
		}
	}
	for _, bad := range []string{"AND a", "a AND", "(a", "a)", `"a`, "[a TO b", "f:", "f::a", "a^", "^2", "(a)~1", "/a", "+", "f:[a b", "\xff",
		strings.Repeat("(", 100) + "a" + strings.Repeat(")", 100), strings.Repeat("+a ", 2000), strings.Repeat("f:", 100) + "a"} {
		if n, err := lucene.Parse(bad, false); err == nil {
			t.Errorf("%s became %s", bad, show(n))
		}
	}
}

func TestParseSimple(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "nil"}, {"a", "(a)"}, {"a b", "group((a) (b))"}, {"a + b", "group(+(a) +(b))"}, {"a + b | c", "group(group(+(a) +(b)) (c))"},
		{"-a", "group(-(a))"}, {"a* b~1 \"c d\"~2", "group(prefix(a) fuzzy(b)~1 phrase(c d)~2)"}, {"a (b + c)", "group((a) group(+(b) +(c)))"},
		{"(((", "nil"}, {`"a`, "(a)"}, {") | + -", "nil"}, {`a\+b`, "(a+b)"}, {"a-b", "(a-b)"}, {"*", "every()"}, {`\`, `(\)`},
		{" * ", "every()"}, {"a *", "group((a) (*))"}, {"a - b", "group((a) (b))"}, {"a -+ b", "group(+(a) +(b))"}, {"a - (b --c -d)", "group((a) group((b) (c) group(-(d))))"},
		{`-"" a`, "group(group(-phrase()) (a))"}, {"-() a", "(a)"},
	} {
		if n := lucene.ParseSimple(c.in, false); show(n) != c.want {
			t.Errorf("%s: %s, want %s", c.in, show(n), c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`+a -f:"b c"~2^3 (d OR e*) [1 TO 2} /x/ y~ \q`, "a && b || !c", "n:>=5 _exists_:x *:*", strings.Repeat("(", 70), "((a) b", "\u3000a"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, and bool) {
		if n, err := lucene.Parse(s, and); err == nil {
			check(t, n, 0)
		}
		check(t, lucene.ParseSimple(s, and), 0)
	})
}

func check(t *testing.T, n *lucene.Node, depth int) {
	if n == nil {
		return
	}
	if depth > 2000 || n.Boost < 0 || n.Edits > 2 || n.Slop > 1e6 {
		t.Errorf("%+v", n)
	}
	for _, c := range n.Clauses {
		if c.Node == nil {
			t.Error("a clause without a node")
		}
		check(t, c.Node, depth+1)
	}
}
