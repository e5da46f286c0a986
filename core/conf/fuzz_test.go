package conf_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/conf"
)

func noFiles(string) ([]byte, error) { return nil, errors.New("no files in this test") }

// FuzzLoad gives hostile text to each layer. Whatever it holds, the loader
// must not panic, and what it accepts must survive printing and loading.
func FuzzLoad(f *testing.F) {
	f.Add("server: {listen: a}", "QUOIN_SERVER__WORKERS", "3", "server.ratio=1e400")
	f.Add("server: &a [*a]", "QUOIN_SERVER__PEERS", "[{name: x}]", "=")
	f.Add("? {}\n: - -", "QUOIN_LISTEN", "${env:QUOIN_LISTEN}", "server.tls={cert: [}")
	f.Add("server:\n  labels: {a: 1, ? b}\n", "QUOIN_SERVER__LABELS", "{a: b: c}", "server.peers[0].port=1")
	f.Add("server: {nets: ['${env:X:-::/0}']}", "QUOIN_", "", "server.listen.x=1")
	f.Fuzz(func(t *testing.T, yaml, name, value, set string) {
		tree, err := conf.Load(conf.Options{Defaults: []byte(yaml), Env: []string{name + "=" + value}, Set: []string{set}, ReadFile: noFiles})
		if err != nil {
			return
		}
		fixture := newFixture()
		if err := conf.Check(tree, fixture.sections()); err != nil {
			if strings.Contains(err.Error(), "conf: ") {
				t.Fatalf("a finding looks like a mistake of the program: %v", err)
			}
			return
		}
		if fixture.server.TLS.Key.Set() {
			return // stars cannot be loaded again
		}
		printed := conf.Print(tree, fixture.sections())
		again, err := conf.Load(conf.Options{Defaults: escape(printed), ReadFile: noFiles})
		if err != nil {
			t.Fatalf("what was printed cannot be loaded: %v\n%s", err, printed)
		}
		second := newFixture()
		if err := conf.Check(again, second.sections()); err != nil {
			t.Fatalf("what was printed is refused: %v\n%s", err, printed)
		}
	})
}

// escape keeps literal ${ of values literal when they are loaded again.
func escape(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), "${", "$${")) }

// FuzzExpand gives hostile text as the value of a key.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"${env:A}", "${env:A:-x}", "$${env:A}", "${file:/x}", "${", "${env:", "$$$${${env:A}}", "${x:}", "a${env:}b"} {
		f.Add(seed, "v")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		tree, err := conf.Load(conf.Options{Env: []string{"A=" + value}, Set: []string{"s.v=" + text}, ReadFile: noFiles})
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			V string `yaml:"v"`
		}
		err = conf.Check(tree, []conf.Section{{Name: "s", Value: &s}})
		if !strings.Contains(text, "${") && (err != nil || s.V != text) {
			t.Fatalf("text without references must stay: %q became %q, %v", text, s.V, err)
		}
		if err == nil && utf8.ValidString(text) && utf8.ValidString(value) && !utf8.ValidString(s.V) {
			t.Fatalf("%q with %q became %q", text, value, s.V)
		}
	})
}

func BenchmarkLoadAndCheck(b *testing.B) {
	f := newFixture()
	defaults := conf.Defaults(f.sections())
	env := []string{"QUOIN_LISTEN=:1", "QUOIN_MODULES__SEARCH__ENABLED=false", "PATH=/bin"}
	b.ReportAllocs()
	for b.Loop() {
		tree, err := conf.Load(conf.Options{Defaults: defaults, Env: env})
		if err != nil {
			b.Fatal(err)
		}
		if err := conf.Check(tree, f.sections()); err != nil {
			b.Fatal(err)
		}
	}
}
