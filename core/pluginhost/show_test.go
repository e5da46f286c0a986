package pluginhost_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/pluginhost"
)

func TestSecretsOfSettingsAreNotShown(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"url":{"type":"string"},"n":{"type":"integer"},"key":{"type":"string","format":"password"},"token":{"type":"string","writeOnly":true},
		"list":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"key":{"type":"string","format":"password"}}}},
		"map":{"type":"object","additionalProperties":{"type":"string","writeOnly":true}},
		"box":{"type":"object","writeOnly":true,"properties":{"a":{"type":"string"}}},"any":{}},"additionalProperties":false}`
	for settings, want := range map[string]string{
		`{}`: `{}`,
		`{"url":"https://x","n":12345678901234567890,"key":"s","token":"s"}`: `{"key":"***","n":12345678901234567890,"token":"***","url":"https://x"}`,
		`{"list":[{"name":"a","key":"s"},{"key":7,"more":"s"}]}`:             `{"list":[{"key":"***","name":"a"},{"key":"***","more":"***"}]}`,
		`{"map":{"a":"s","b":["s"]},"box":{"a":"s"}}`:                        `{"box":"***","map":{"a":"***","b":"***"}}`,
		`{"any":{"deep":["s",1]},"unknown":"s"}`:                             `{"any":{"deep":["***","***"]},"unknown":"***"}`,
		`broken`:                                                             `{}`,
	} {
		if got := pluginhost.Redact(settings, schema); got != want {
			t.Errorf("%s shows as %s, not %s", settings, got, want)
		}
	}
	for _, schema := range []string{"", "null", "true", "broken", `{"properties":7}`, `{"type":"object"}`} {
		if got := pluginhost.Redact(`{"a":"s","b":[{"c":"s"}]}`, schema); strings.Contains(got, `"s"`) {
			t.Errorf("without a schema (%s) it shows %s", schema, got)
		}
	}
}

func TestOperatorsSeeWhatAPluginIs(t *testing.T) {
	k := newKit(t, nil)
	k.install("settings-a", goodManifest)
	k.start()
	if out, err := k.run("show", []string{"settings-a"}, nil); err != nil || !strings.Contains(out, `"disabled"`) || strings.Contains(out, "settings-a_echo") {
		t.Errorf("before it is enabled: %s, %v", out, err)
	}
	path := t.TempDir() + "/settings.json"
	write(t, path, `{"limit":3,"key":"s3cr3t"}`)
	if out, err := k.run("enable", []string{"settings-a"}, map[string]any{"settings": path, "grant": []string{"kv"}}); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	out, err := k.run("show", []string{"settings-a"}, nil)
	if err != nil || !strings.Contains(out, "settings-a_echo") || !strings.Contains(out, `"limit": 3`) || !strings.Contains(out, `"key": "***"`) {
		t.Errorf("it shows %s, %v", out, err)
	}
	k.until("settings-a", pluginhost.Ready)
	list, err := k.run("list", nil, nil)
	if err != nil || strings.Contains(out+list+k.log.String(), "s3cr3t") {
		t.Errorf("the secret shows: %v\n%s\n%s\n%s", err, out, list, k.log)
	}
	if _, err := k.run("show", []string{"nobody"}, nil); err == nil {
		t.Error("there is no such plugin")
	}
}

func FuzzSecretsOfSettings(f *testing.F) {
	f.Add(`{"a":"b"}`, `{"properties":{"a":{"format":"password"}}}`)
	f.Add(`[1,{"a":null}]`, `{"items":{"additionalProperties":{"type":["string"]}}}`)
	f.Fuzz(func(t *testing.T, settings, schema string) {
		if got := pluginhost.Redact(settings, schema); !json.Valid([]byte(got)) {
			t.Errorf("%s", got)
		}
	})
}
