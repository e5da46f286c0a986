package module_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
)

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                          nil,
		" a\tb ":                    {"a", "b"},
		`a'b c'd`:                   {"ab cd"},
		`"a \"b\" \\ \n" ''`:        {`a "b" \ \n`, ""},
		`a\ b \' \\`:                {"a b", "'", `\`},
		`'a"b' "a'b" é`:             {`a"b`, "a'b", "é"},
		`--query='{"a":["b;c|d"]}'`: {`--query={"a":["b;c|d"]}`},
	} {
		if got, err := module.Words(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q %v", line, got, err)
		}
	}
	for line, want := range map[string]string{
		"a\nb": "one line", "'a\nb'": "one line", "a\\\nb": "one line", "a\rb": "one line", "a;b": ";", "a|b": "|", "a&b": "&", "a>b": ">", "a<b": "<",
		"'a": "not closed", `"a\"`: "not closed", `a\`: "backslash", "a\x00": "control",
	} {
		if _, err := module.Words(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{`a 'b c' "d\"e"`, `\`, `'`, "a\nb", ";", "--x=1 -- --y"} {
		f.Add(seed)
	}
	admin := auth.System("fuzz")
	c := registry(func(*module.Call) {})
	f.Fuzz(func(t *testing.T, line string) {
		words, err := module.Words(line)
		if err == nil && len(words) > 0 {
			var quoted []string
			for _, w := range words {
				quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
			}
			if again, err := module.Words(strings.Join(quoted, " ")); err != nil || !slices.Equal(again, words) {
				t.Errorf("%q became %q, then %q: %v", line, words, again, err)
			}
		}
		_, _ = c.Parse("do "+line, admin)
	})
}

func registry(see func(*module.Call)) *module.Commands {
	return module.NewCommands([]module.Spec{{Name: "a", Commands: []module.Command{
		module.Plain(module.Command{Use: "do THING [MORE]", Args: [2]int{1, 2}, Aliases: []string{"old:do"}, Roles: []string{}, Flags: []module.Flag{
			{Name: "n", Default: 1}, {Name: "b", Default: false}, {Name: "s", Default: "x"}, {Name: "l", Default: []string{"d"}}, {Name: "d", Default: time.Second},
		}}, func(_ context.Context, call *module.Call) error {
			see(call)
			return call.Table(1, []string{"h"}, [][]string{{"v"}})
		}),
		module.Plain(module.Command{Use: "do not THING", Args: [2]int{1, 1}}, nil),
	}}})
}

func TestALineIsRun(t *testing.T) {
	var got *module.Call
	c := registry(func(call *module.Call) { got = call })
	who := auth.New(auth.Identity{Username: "ada"})
	l, err := c.Parse(`old:do -5 --n 3 --b --s= --l a,b --l c --d=2m -- --x`, who)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := l.Run(t.Context(), &out); err != nil || out.String() != "H\nv\n" {
		t.Errorf("%q %v", out.String(), err)
	}
	if !slices.Equal(got.Args, []string{"-5", "--x"}) || got.Flags("n") != 3 || !got.Bool("b") || got.String("s") != "" ||
		!slices.Equal(got.Strings("l"), []string{"a", "b", "c"}) || got.Flags("d") != 2*time.Minute {
		t.Errorf("%q %v", got.Args, got.Flags("l"))
	}
	l, err = c.Parse("do it --json", who)
	if err != nil || !slices.Equal(l.Args, []string{"it"}) {
		t.Fatal(l, err)
	}
	out.Reset()
	if err := l.Run(t.Context(), &out); err != nil || out.String() != "1\n" || !slices.Equal(got.Strings("l"), []string{"d"}) {
		t.Errorf("%q %v", out.String(), err)
	}
	// the longest path wins, and its role counts
	if _, err := c.Parse("do not it", who); err == nil || !strings.Contains(err.Error(), "do not needs ROLE_ADMIN") {
		t.Error(err)
	}
	l, err = c.Parse("do not it", auth.System("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context(), &out); err == nil {
		t.Error("a command that nobody bound was run")
	}
	if len(c.For(who)) != 1 || len(c.List()) != 2 {
		t.Errorf("%d of %d", len(c.For(who)), len(c.List()))
	}
}
