package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules"
)

// The files below config are made from the code by the tests here; `make
// generate` writes them.
const (
	generated = "../../config"
	reference = generated + "/reference"
)

func TestDefaultFile(t *testing.T) {
	testkit.Golden(t, filepath.Join(generated, "default.yaml"), []byte(must(t, nil, "config", "defaults")))
}

func TestConfigSchema(t *testing.T) {
	testkit.Golden(t, filepath.Join(generated, "schema.json"), []byte(must(t, nil, "config", "schema")))
}

func TestHelpOfEveryCommand(t *testing.T) {
	var all bytes.Buffer
	help(t, &all)
	testkit.Golden(t, filepath.Join(reference, "commands.txt"), all.Bytes())
}

// help writes the help of a command and of all below it.
func help(t *testing.T, all *bytes.Buffer, path ...string) {
	text := must(t, nil, append(path, "--help")...)
	if len(path) > 0 { // they are the same everywhere
		text, _, _ = strings.Cut(text, "\nGlobal Flags:")
	}
	fmt.Fprintf(all, "=== %s\n\n%s\n", strings.Join(append([]string{"quoin"}, path...), " "), strings.TrimSpace(text)+"\n")
	_, list, found := strings.Cut(text, "Available Commands:\n")
	if !found {
		return
	}
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		if name := strings.Fields(line)[0]; name != "help" {
			help(t, all, append(path[:len(path):len(path)], name)...)
		}
	}
}

func TestRoleTable(t *testing.T) {
	b := bytes.NewBufferString("# Roles\n\nA role includes what the roles it implies may do. ROLE_USER is everybody's.\n\n| Role | Implies | What it is for |\n|---|---|---|\n")
	for _, r := range auth.Roles() {
		fmt.Fprintf(b, "| %s | %s | %s |\n", r.Name, strings.Join(r.Implies, ", "), r.Doc)
	}
	testkit.Golden(t, filepath.Join(reference, "roles.md"), b.Bytes())
}

func TestEventCatalogue(t *testing.T) {
	b := bytes.NewBufferString("# Events\n\nEach is emitted in the transaction that causes it and delivered at least once.\n")
	var all []event.Type
	owner := map[string]string{}
	for _, s := range modules.All() {
		for _, e := range s.Events {
			owner[e.Name] = s.Name
		}
		all = append(all, s.Events...)
	}
	all, err := event.Catalogue(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		var sample bytes.Buffer
		if err := json.Indent(&sample, e.Sample, "", "  "); err != nil {
			t.Fatal(err)
		}
		if err := valid(e.Schema, e.Sample); err != nil {
			t.Errorf("the sample of %s does not fit its schema: %v", e.Name, err)
		}
		fmt.Fprintf(b, "\n## %s\n\n%s (module %s)\n\n```json\n%s\n```\n\nSchema of `data`:\n\n```json\n%s\n```\n", e.Name, e.Doc, owner[e.Name], sample.String(), e.Schema)
	}
	testkit.Golden(t, filepath.Join(reference, "events.md"), b.Bytes())
}

// valid checks a JSON value against a JSON Schema.
func valid(schema, value []byte) error {
	s, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("event.json", s); err != nil {
		return err
	}
	compiled, err := c.Compile("event.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	return compiled.Validate(v)
}

func TestAPIDocument(t *testing.T) {
	doc := document(t)
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	testkit.Golden(t, filepath.Join(reference, "openapi.json"), b.Bytes())
}

// document is the API document of all modules.
func document(t *testing.T) []byte {
	t.Helper()
	examples, err := os.ReadFile(filepath.Join(generated, "examples.json")) // TestExamples may just have written it
	if err != nil {
		t.Fatal(err)
	}
	c, err := app.Load(modules.All(), conf.Options{Set: []string{"server.data=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), c, app.Options{Log: telemetry.Discard(), Examples: examples})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	if err := a.Assemble("0"); err != nil {
		t.Fatal(err)
	}
	doc, err := a.Router.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
