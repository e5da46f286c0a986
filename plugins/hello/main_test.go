package main

import (
	"testing"

	"github.com/quoin-cms/quoin/sdk/plugin"
	"github.com/quoin-cms/quoin/sdk/plugintest"
)

func TestHello(t *testing.T) {
	h := plugintest.Start(t, build())
	if got := h.Tool("hello", `{"name":"Ada"}`).Text; got != "Hello Ada, from Test User!" {
		t.Errorf("it says %q", got)
	}
	for range 2 { // the same event may come twice
		if err := h.Event(plugin.Event{ID: 7, Type: "content.published.live", Subject: "page:1"}); err != nil {
			t.Error(err)
		}
	}
	if lines, err := h.Command("published"); err != nil || len(lines) != 1 || lines[0] != "page:1" {
		t.Errorf("the command says %v, %v", lines, err)
	}
}
