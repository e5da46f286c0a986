package main

import (
	"testing"

	"github.com/quoin-cms/quoin/sdk/plugintest"
)

func TestRedact(t *testing.T) {
	const body = `{"a":[{"email":"x","n":12345678901234567890}],"email":{"deep":1}}`
	for config, want := range map[string]string{
		`{"fields":["email"]}`:              `{"a":[{"n":12345678901234567890}]}`,
		`{"fields":["email"],"with":"***"}`: `{"a":[{"email":"***","n":12345678901234567890}],"email":"***"}`,
		`{"fields":[]}`:                     body,
	} {
		h := plugintest.Start(t, build(), plugintest.WithConfig(config))
		if d, err := h.Transform("content.finalize", body); err != nil || string(d.Body) != want {
			t.Errorf("%s: the body becomes %s, %v", config, d.Body, err)
		}
	}
	h := plugintest.Start(t, build(), plugintest.WithConfig(`{"fields":["x"]}`))
	if _, err := h.Transform("content.finalize", `{`); err == nil {
		t.Error("a body that is no JSON passes")
	}
}
