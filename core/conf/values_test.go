package conf_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/conf"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func TestSecretNeverShows(t *testing.T) {
	s := conf.Secret("hunter2")
	holder := struct{ S conf.Secret }{s}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		fmt.Fprintf(&out, verb+" "+verb+" "+verb+"\n", s, holder, &holder)
	}
	fmt.Fprintln(&out, s, []conf.Secret{s}, map[conf.Secret]conf.Secret{s: s})
	for _, marshal := range []func(any) ([]byte, error){json.Marshal, yaml.Marshal} {
		text, err := marshal(map[string]any{"s": s, "h": holder})
		if err != nil || !strings.Contains(string(text), conf.Stars) {
			t.Errorf("%s %v", text, err)
		}
		out.Write(text)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "s", s, "h", holder)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "s", s, "h", holder)
	if strings.Contains(out.String(), "hunter2") || strings.Contains(out.String(), fmt.Sprintf("%x", "hunter2")) {
		t.Errorf("the secret shows:\n%s", out.String())
	}
	if s.Reveal() != "hunter2" || !s.Set() || conf.Secret("").Set() {
		t.Error("Reveal and Set")
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "12": "12", "1KiB": "1KiB", "1024": "1KiB", "32 MiB": "32MiB", "1.5GiB": "1536MiB", "1kb": "1KB", "2TB": "2TB", "1023": "1023", "7B": "7",
	} {
		got, err := conf.ParseBytes(text)
		if err != nil || got.String() != want {
			t.Errorf("%q: got %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1e3", "NaN", "Inf", "9223372036854775808", "9000000TiB", "1.2.3", "0x10", "12 XB", "99999999999.5TB"} {
		if got, err := conf.ParseBytes(text); err == nil {
			t.Errorf("%q: got %d", text, got)
		}
	}
}

func TestPrintTellsWhereEveryValueCameFrom(t *testing.T) {
	name := file(t, "server:\n  tls: {cert: c, key: k}\n  peers:\n    - {name: p, port: 1}\n")
	f, tree, err := check(t, conf.Options{File: name, Env: []string{"QUOIN_LISTEN=:1", "QUOIN_SERVER__PROXIES=a,true"}})
	if err != nil {
		t.Fatal(err)
	}
	want := `server:
  listen: :1 # environment QUOIN_LISTEN
  data: "" # default
  body_limit: 32MiB # default
  read_timeout: 5m # default
  proxies: [a, "true"] # environment QUOIN_SERVER__PROXIES
  nets: [] # default
  format: json # default
  workers: 0 # default
  small: 0 # default
  ratio: 0.5 # default
  tls:
    cert: c # F:2
    key: '***' # F:2
  peers:
    - name: p # F:4
      port: 1 # F:4
  labels:
    a: 1 # default
modules:
  search:
    enabled: true # default
    refresh: 1m30s # default
`
	if got := strings.ReplaceAll(string(conf.Print(tree, f.sections())), name, "F"); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestDefaultsLoadAsTheyAre(t *testing.T) {
	f := newFixture()
	f.server.TLS.Key = "k"
	f.server.TLS.Cert = "c"
	text := conf.Defaults(f.sections())
	for _, want := range []string{"# The HTTP server.\nserver:\n  # Address to listen on.\n  listen: 127.0.0.1:8080\n", "  format: json # [json text]\n", "  # Transport security.\n  tls:\n", "key: \"\"\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	tree, err := conf.Load(conf.Options{Defaults: bytes.ReplaceAll(text, []byte(`key: ""`), []byte("key: k"))})
	if err != nil {
		t.Fatal(err)
	}
	var empty fixture
	if err := conf.Check(tree, empty.sections()); err != nil {
		t.Fatal(err)
	}
	if got := conf.Defaults(empty.sections()); !bytes.Equal(got, text) {
		t.Errorf("the default file does not give the defaults:\n%s", got)
	}
}

func TestSchemaAcceptsWhatTheLoaderAccepts(t *testing.T) {
	f := newFixture()
	text := conf.Schema(f.sections())
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("config.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{string(conf.Defaults(f.sections())), true},
		{"server:\nmodules:\n", true},
		{"server: {workers: '${env:A:-1}', read_timeout: '${env:A:-5m}', proxies: '${env:A:-a}', body_limit: 7, labels: {x: 1}, peers: [{name: a, port: 1}]}", true},
		{"server: {body_limit: 1.5 GB, read_timeout: 1h2m}", true},
		{"server: {workers: many}", false},
		{"server: {format: xml}", false},
		{"server: {read_timeout: 5}", false},
		{"server: {body_limit: 3XB}", false},
		{"server: {listn: a}", false},
		{"server: {peers: [{nam: a}]}", false},
		{"sevrer: {}", false},
	} {
		var value any
		if err := yaml.Unmarshal([]byte(c.text), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.text, err)
		}
		_, _, err := check(t, conf.Options{Defaults: []byte(c.text)})
		if (err == nil) != c.ok {
			t.Errorf("the loader disagrees on %s: %v", c.text, err)
		}
	}
	for _, want := range []string{`"default": "5m"`, `"default": "32MiB"`, `"description": "The HTTP server."`, `"writeOnly": true`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}
