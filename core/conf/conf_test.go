package conf_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/conf"
)

type server struct {
	Listen  string         `yaml:"listen" doc:"Address to listen on."`
	Data    string         `yaml:"data" doc:"Folder for everything that is stored."`
	Body    conf.Bytes     `yaml:"body_limit" doc:"Largest body."`
	Read    time.Duration  `yaml:"read_timeout"`
	Proxies []string       `yaml:"proxies" doc:"Addresses of trusted proxies."`
	Nets    []netip.Prefix `yaml:"nets"`
	Format  string         `yaml:"format" enum:"json,text" doc:"Form of the log."`
	Workers int            `yaml:"workers"`
	Small   uint8          `yaml:"small"`
	Ratio   float64        `yaml:"ratio"`
	TLS     tls            `yaml:"tls" doc:"Transport security."`
	Peers   []peer         `yaml:"peers"`
	Labels  map[string]int `yaml:"labels"`
	Limit   *int           `yaml:"limit"`
}

type tls struct {
	Cert string      `yaml:"cert"`
	Key  conf.Secret `yaml:"key"`
}

// Validate uses the form with one error.
func (t *tls) Validate() error {
	if (t.Cert == "") != (t.Key == "") {
		return errors.Join(errors.New("cert and key come together"), errors.New("key: both or none"))
	}
	return nil
}

type peer struct {
	Name string `yaml:"name"`
	Port int    `yaml:"port"`
}

// Validate uses the form with Problems.
func (p *peer) Validate(problems *conf.Problems) {
	if p.Port < 1 {
		problems.Add("port", "must be above 0, not %d", p.Port)
	}
}

type search struct {
	Refresh time.Duration `yaml:"refresh"`
}

type enabled struct {
	Enabled bool `yaml:"enabled"`
}

type fixture struct {
	server  server
	enabled enabled
	search  search
}

func newFixture() *fixture {
	return &fixture{
		server: server{Listen: "127.0.0.1:8080", Body: 32 * conf.MiB, Read: 5 * time.Minute, Format: "json",
			Proxies: []string{"::1"}, Labels: map[string]int{"a": 1}, Ratio: 0.5},
		enabled: enabled{Enabled: true},
		search:  search{Refresh: 90 * time.Second},
	}
}

func (f *fixture) sections() []conf.Section {
	return []conf.Section{
		{Name: "server", Value: &f.server, Doc: "The HTTP server."},
		{Name: "modules.search", Value: &f.enabled, Doc: "Search."},
		{Name: "modules.search", Value: &f.search},
	}
}

func check(t *testing.T, opts conf.Options) (*fixture, *conf.Tree, error) {
	t.Helper()
	f := newFixture()
	tree, err := conf.Load(opts)
	if err != nil {
		return f, nil, err
	}
	return f, tree, conf.Check(tree, f.sections())
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "quoin.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLayersLieOverOneAnother(t *testing.T) {
	opts := conf.Options{
		Defaults: []byte("server: {listen: default, data: default, body_limit: 1, workers: 1, small: 1, labels: {b: 2}}"),
		Env: []string{"QUOIN_SERVER__BODY_LIMIT=2KiB", "QUOIN_SERVER__WORKERS=2", "QUOIN_SERVER__SMALL=2", "QUOIN_LISTEN=short",
			"QUOIN_SERVER__LISTEN=long", "QUOIN_DATA=", "QUOIN_MODULES__SEARCH__ENABLED=false", "PATH=/bin",
			"QUOIN_SERVER__PROXIES=10.0.0.1, 10.0.0.2", "QUOIN_SERVER__LABELS__C=3", "QUOIN_SERVER__LIMIT=7",
			`QUOIN_SERVER__PEERS=[{"name":"n","port":1}]`, "QUOIN_SERVER__NETS=10.0.0.0/8,::/0"},
		Set:   []string{"server.workers=3", "server.small=3"},
		Flags: []conf.Flag{{Name: "--small", Path: "server.small", Value: "4"}},
	}
	opts.File = file(t, "server:\n  data: file\n  listen: file\n  read_timeout: 1h30m\n  tls:\nmodules:\n")
	f, tree, err := check(t, opts)
	if err != nil {
		t.Fatal(err)
	}
	limit := 7
	want := server{Listen: "short", Data: "file", Body: 2 * conf.KiB, Read: 90 * time.Minute, Format: "json", Workers: 3, Small: 4,
		Proxies: []string{"10.0.0.1", "10.0.0.2"}, Ratio: 0.5, Peers: []peer{{"n", 1}}, Limit: &limit,
		Nets: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::/0")}, Labels: map[string]int{"a": 1, "b": 2, "c": 3}}
	if !reflect.DeepEqual(f.server, want) {
		t.Errorf("got  %+v\nwant %+v", f.server, want)
	}
	if f.enabled.Enabled || f.search.Refresh != 90*time.Second {
		t.Errorf("sections that share a name: %+v %+v", f.enabled, f.search)
	}
	for path, want := range map[string]string{
		"server.data": opts.File + ":2", "server.listen": "environment QUOIN_LISTEN", "server.small": "--small",
		"server.workers": "--set server.workers", "server.labels.b": "default", "server.ratio": opts.File + ":1",
	} {
		if got := tree.Origin(path).String(); got != want {
			t.Errorf("origin of %s is %q, want %q", path, got, want)
		}
	}
}

func TestEveryFindingIsToldAtOnce(t *testing.T) {
	name := file(t, strings.Join([]string{
		"server:",
		"  listn: a",          // 2
		"  body_limit: 3XB",   // 3
		"  read_timeout: 5",   // 4
		"  format: xml",       // 5
		"  workers: many",     // 6
		"  workers: 2",        // 7
		"  small: 256",        // 8
		"  ratio: .nan",       // 9
		"  proxies: one",      // 10
		"  tls: {cert: c}",    // 11
		"  peers:",            // 12
		"    - {name: a}",     // 13
		"    - {nam: b}",      // 14
		"  labels: [1]",       // 15
		"  data: ${env:NOPE}", // 16
		"  limit: [1]",        // 17
		"sevrer: {}",          // 18
		"modules:",            // 19
		"  serch: {}",         // 20
		"  search: {refresh: '${evn:X}', enabled: maybe}", // 21
		"  user: &a {}", // 22
		"  mcp: *a",     // 23
	}, "\n"))
	_, _, err := check(t, conf.Options{File: name, Env: []string{"QUOIN_SERVER_LISTEN=x", "QUOIN_DATABASE=x", "QUOIN_SERVER__NETS=10",
		"QUOIN_SERVER__LISTEN__X=1", "QUOIN_TEST_DATA=/x", "QUOIN_PORT=tcp://1", "QUOIN_SERVICE_HOST=x", "QUOIN___A=1", "QUOIN_MINE=1"},
		OtherVariables: []string{"QUOIN_MINE"}, Set: []string{"server", "a..b=1"}})
	if err == nil {
		t.Fatal("nothing was found")
	}
	got := strings.ReplaceAll(err.Error(), name, "F")
	want := strings.TrimSpace(`
--set a..b: "a..b" is not a dotted key
--set server: must have the form a.b=value
F:2: server.listn: unknown key; did you mean "listen"?
F:3: server.body_limit: "3XB" is not a size such as 512KiB, 32MiB or 1GB
F:4: server.read_timeout: "5" is not a duration such as 30s or 5m
F:5: server.format: "xml" is not one of json, text
F:6: server.workers: "many" is not a whole number
F:7: server.workers: given twice, first in F:6
F:8: server.small: "256" is out of range
F:9: server.ratio: ".nan" is not a number
F:10: server.proxies: must be a list
F:11: server.tls: cert and key come together
F:11: server.tls.key: both or none
F:13: server.peers[0].port: must be above 0, not 0
F:14: server.peers[1].nam: unknown key; did you mean "name"?
F:14: server.peers[1].port: must be above 0, not 0
F:15: server.labels: must be a mapping of keys
F:16: server.data: the environment variable NOPE is not set
F:17: server.limit: must be a whole number, not a list or mapping
F:18: sevrer: unknown section; did you mean "server"?
F:20: modules.serch: unknown key; did you mean "search"?
F:21: modules.search.refresh: ${evn:…} is not a reference; there are ${env:NAME} and ${file:/path}, and $${ is a literal ${
F:21: modules.search.enabled: "maybe" is not true or false
F:22: modules.user: unknown key; known are search
F:23: modules.mcp: aliases (*a) are not read here; write the value out
F:23: modules.mcp: unknown key; known are search
environment QUOIN_DATABASE: unknown variable; did you mean QUOIN_DATABASE_URL?
environment QUOIN_SERVER_LISTEN: unknown variable; did you mean QUOIN_SERVER__LISTEN?
environment QUOIN_SERVER__LISTEN__X: server.listen: must be a text, not a list or mapping
environment QUOIN_SERVER__NETS: server.nets[0]: "10" netip.ParsePrefix("10"): no '/'
environment QUOIN___A: ".a" is not a dotted key`)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestContradictingVariables(t *testing.T) {
	_, _, err := check(t, conf.Options{Env: []string{"QUOIN_SERVER__TLS=x", "QUOIN_SERVER__TLS__CERT=y"}})
	if err == nil || !strings.Contains(err.Error(), "sets a key below one that has a plain value from environment QUOIN_SERVER__TLS") {
		t.Errorf("got %v", err)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"not YAML":      "server: [1",
		"two documents": "server: {}\n---\nserver: {}\n",
		"a control":     "server: \x01",
		"not UTF-8":     "server: \xff",
		"too large":     strings.Repeat("#", 1<<20+1),
	} {
		if tree, err := conf.Load(conf.Options{File: file(t, text)}); err == nil || tree != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := conf.Load(conf.Options{Env: []string{"QUOIN_CONFIG=/does/not/exist"}}); err == nil {
		t.Error("a file that is missing must be told")
	}
	for name, text := range map[string]string{
		"a list":    "[1]",
		"deep":      strings.Repeat("{a: ", 70) + "1" + strings.Repeat("}", 70),
		"merge key": "server: {<<: {listen: a}}",
		"list key":  "? [a]\n: 1",
	} {
		if _, _, err := check(t, conf.Options{File: file(t, text)}); err == nil {
			t.Errorf("%s must be refused", name)
		}
	}
	if _, _, err := check(t, conf.Options{File: file(t, "")}); err != nil {
		t.Errorf("an empty file changes nothing: %v", err)
	}
}

func TestReferences(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"A=1", "EMPTY=", "NESTED=${env:A}", "LIST=a,b"}
	for _, c := range []struct{ value, want, failure string }{
		{value: "${env:A}", want: "1"},
		{value: "x${env:A}y${env:A}z", want: "x1y1z"},
		{value: "${env:EMPTY}", want: ""},
		{value: "${env:EMPTY:-d}", want: "d"},
		{value: "${env:NONE:-}", want: ""},
		{value: "${env:NONE:-a:b}", want: "a:b"},
		{value: "${env:NESTED}", want: "${env:A}"},
		{value: "${file:" + secret + "}", want: "s3cret"},
		{value: "$${env:A}", want: "${env:A}"},
		{value: "${A} $A ${", want: "${A} $A ${"},
		{value: "${env:NONE}", failure: "NONE is not set"},
		{value: "${env:A", failure: "not closed"},
		{value: "${file:relative}", failure: "absolute"},
		{value: "${file:/does/not/exist}", failure: "cannot be read"},
		{value: "${http://x}", failure: "is not a reference"},
	} {
		f, _, err := check(t, conf.Options{File: file(t, fmt.Sprintf("server: {data: '%s'}", c.value)), Env: env})
		switch {
		case c.failure == "" && (err != nil || f.server.Data != c.want):
			t.Errorf("%s: got %q, %v", c.value, f.server.Data, err)
		case c.failure != "" && (err == nil || !strings.Contains(err.Error(), c.failure)):
			t.Errorf("%s: got %v, want %q", c.value, err, c.failure)
		}
	}
	f, _, err := check(t, conf.Options{File: file(t, "server: {proxies: '${env:LIST}', workers: '${env:A}', '${env:A}': 1}"), Env: env})
	if !reflect.DeepEqual(f.server.Proxies, []string{"a", "b"}) || f.server.Workers != 1 {
		t.Errorf("got %+v", f.server)
	}
	if err == nil || !strings.Contains(err.Error(), "server.${env:A}: unknown key") {
		t.Errorf("keys must not be expanded: %v", err)
	}
}

func TestWhatAReferenceGaveIsNotRepeated(t *testing.T) {
	env := []string{"P=hunter2"}
	text := "server: {workers: '${env:P}', nets: '${env:P}', format: '${env:P}', peers: '${env:P}', tls: '${env:P}', small: 'x${env:P}'}"
	_, _, err := check(t, conf.Options{File: file(t, text), Env: env})
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Count(err.Error(), "\n") < 4 {
		t.Errorf("got %v", err)
	}
}

func TestWhatAFileWithAStructureGaveIsNotRepeated(t *testing.T) {
	for key, content := range map[string]string{
		"peers": "[{name: a, port: hunter2}]", "labels": "{a: hunter2}", "nets": `["hunter2"]`,
	} {
		_, _, err := check(t, conf.Options{Env: []string{"P=" + content, "QUOIN_SERVER__" + strings.ToUpper(key) + "=${env:P}"}})
		if err == nil || !strings.Contains(err.Error(), "server."+key) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", key, err)
		}
	}
}

func TestDeclarationsThatCannotBe(t *testing.T) {
	tree, err := conf.Load(conf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, sections := range map[string][]conf.Section{
		"no pointer":   {{Name: "a", Value: search{}}},
		"nil":          {{Name: "a"}},
		"upper case":   {{Name: "A", Value: &search{}}},
		"twice":        {{Name: "a", Value: &search{}}, {Name: "a", Value: &search{}}},
		"key as child": {{Name: "a", Value: &search{}}, {Name: "a.refresh", Value: &search{}}},
		"channel":      {{Name: "a", Value: &struct{ C chan int }{}}},
		"map of ints":  {{Name: "a", Value: &struct{ C map[int]int }{}}},
	} {
		if err := conf.Check(tree, sections); err == nil {
			t.Errorf("%s must be refused", name)
		}
	}
}
