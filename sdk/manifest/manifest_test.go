package manifest_test

import (
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/sdk/manifest"
)

const good = `name: hello
version: 0.1.0
protocol: 1
capabilities: [kv]
events: ["content.published.*"]
programs:
  any: {file: main.js, interpreter: /usr/bin/node}
`

func TestParse(t *testing.T) {
	m, err := manifest.Parse([]byte(good))
	if err != nil || m.Name != "hello" || m.Events[0] != "content.published.*" {
		t.Fatalf("%+v, %v", m, err)
	}
	if p, err := m.Program(); err != nil || p.File != "main.js" {
		t.Errorf("the program is %+v, %v", p, err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"hello", "Hello World", "name:"},
		{"main.js", "../main.js", "inside the folder"},
		{"main.js", "/bin/sh", "inside the folder"},
		{"/usr/bin/node", "node", "absolute"},
		{"main.js,", "main.js, sha256: abc,", "sha256"},
		{"protocol: 1", "protocol: 1\ncommand: rm", "command"},
		{"published.*", "*.published", "events[0]"},
		{"0.1.0", `""`, "version:"},
		{"  any: {file: main.js, interpreter: /usr/bin/node}", "  {}", "programs: is empty"},
	} {
		if _, err := manifest.Parse([]byte(strings.Replace(good, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{good, "", "a: &a [*a]", "programs: {x: {file: ../x}}", "name: [1]", strings.Repeat("a: {", 50)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := manifest.Parse(text)
		if err != nil {
			return
		}
		out, err := m.Write()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := manifest.Parse(out); err != nil {
			t.Errorf("what was read cannot be read again: %v\n%s", err, out)
		}
	})
}
