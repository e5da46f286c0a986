package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/sdk/plugin"
	"github.com/quoin-cms/quoin/sdk/plugintest"
)

func TestPosts(t *testing.T) {
	bodies := make(chan string, 10)
	status := http.StatusOK
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // the client is ours
		bodies <- string(b)
		w.WriteHeader(status)
	}))
	defer chat.Close()
	h := plugintest.Start(t, build(), plugintest.WithConfig(fmt.Sprintf(`{"channels":[{"url":%q,"events":["content.*"]}]}`, chat.URL)))
	e := plugin.Event{Type: "content.finalize", Subject: "page:1", Actor: "ada"}
	if err := h.Event(e); err != nil {
		t.Fatal(err)
	}
	if got := <-bodies; got != `{"text":"page:1: content.finalize by ada"}` {
		t.Errorf("the chat gets %s", got)
	}
	if err := h.Event(plugin.Event{Type: "user.created"}); err != nil || len(bodies) != 0 {
		t.Errorf("an event that nobody wants: %v", err)
	}
	status = http.StatusInternalServerError
	if err := h.Event(e); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("a chat that fails gives %v", err)
	}
	if err := h.Configure(`{"channels":[{"url":"nowhere","events":["*"]}]}`); err == nil || !strings.Contains(err.Error(), "channels[0].url") {
		t.Errorf("wrong settings give %v", err)
	}
}
