package chart_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write values.schema.json")

// open are the values whose members the chart hands on without looking.
func open() []string {
	return []string{"config", "annotations", "labels", "podAnnotations", "podLabels", "nodeSelector", "affinity", "resources"}
}

// schemaOf is the JSON Schema of a default: its type, and for objects that are
// ours the members there are.
func schemaOf(name string, v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		if slices.Contains(open(), name) {
			return map[string]any{"type": "object"}
		}
		members := map[string]any{}
		for key, member := range v {
			members[key] = schemaOf(key, member)
		}
		return map[string]any{"type": "object", "properties": members, "additionalProperties": false}
	case []any:
		return map[string]any{"type": "array"}
	case bool:
		return map[string]any{"type": "boolean"}
	case float64:
		return map[string]any{"type": "number", "minimum": 0}
	}
	return map[string]any{"type": "string"}
}

// switches is the schema of the modules that the server has.
func switches(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../../config/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Properties struct {
			Modules struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(text, &config); err != nil || len(config.Properties.Modules.Properties) == 0 {
		t.Fatalf("%v: no modules in config/schema.json", err)
	}
	members := map[string]any{}
	for name := range config.Properties.Modules.Properties {
		members[name] = map[string]any{"type": "boolean"}
	}
	return map[string]any{"type": "object", "properties": members, "additionalProperties": false}
}

func TestTheSchemaIsThatOfTheValues(t *testing.T) {
	text, err := os.ReadFile("../quoin/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	schema := schemaOf("", values)
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["properties"].(map[string]any)["global"] = map[string]any{"type": "object"} // Helm's own
	schema["properties"].(map[string]any)["modules"] = switches(t)
	want, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	const path = "../quoin/values.schema.json"
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("%v: values.schema.json is out of date: run go test -update", err)
	}
}
