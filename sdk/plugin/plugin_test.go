package plugin_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/sdk/plugin"
	"github.com/quoin-cms/quoin/sdk/plugintest"
)

func TestTheExampleOfATool(t *testing.T) {
	h := plugintest.Start(t, titles(), plugintest.WithDocument("page", "one", `{"title":"One","body":"Über alles"}`))
	for args, want := range map[string]plugintest.Answer{
		`{"page":"one"}`:             {Text: `{"title":"One","text":"Über alles"}`},
		`{"page":"one","max":4}`:     {Text: `{"title":"One","text":"Über"}`},
		`{"page":"two"}`:             {Text: "there is no page two", Failed: true},
		`{}`:                         {Text: "there is no page ", Failed: true},
		`{"page":"one","max":"4"}`:   {Text: "max: must be int, not string", Failed: true},
		`{"page":"one","colour":""}`: {Text: "colour: is not known", Failed: true},
	} {
		if got := h.Tool("summary", args); got.Text != want.Text || got.Failed != want.Failed {
			t.Errorf("%s is answered %+v", args, got)
		}
	}
	h = plugintest.Start(t, titles(), plugintest.WithGrants())
	if got := h.Tool("summary", `{"page":"one"}`); !got.Failed || got.Text != "the plugin has not been granted documents:read" {
		t.Errorf("without the grant: %+v", got)
	}
}

func TestTheExampleOfAnEvent(t *testing.T) {
	status := http.StatusOK
	var told []string
	cache := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told = append(told, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		w.WriteHeader(status)
	}))
	defer cache.Close()
	h := plugintest.Start(t, purge(cache.Client()), plugintest.WithConfig(`{"url":"`+cache.URL+`","token":"t"}`))
	e := plugin.Event{ID: 1, Type: "content.published.live", Subject: "page:one"}
	if err := h.Event(e); err != nil || !slices.Equal(told, []string{"PURGE /page:one Bearer t"}) {
		t.Errorf("%v, the cache was told %v", err, told)
	}
	for s, says := range map[int]string{http.StatusTooManyRequests: "busy", http.StatusInternalServerError: "500"} {
		status = s
		if err := h.Event(e); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%d: %v", s, err)
		}
	}
	var wrong *plugin.FieldError
	if err := h.Configure(`{"url":""}`); !errors.As(err, &wrong) || wrong.Path != "url" {
		t.Errorf("wrong settings: %v", err)
	}
}

func TestTheExampleOfAWebhook(t *testing.T) {
	h := plugintest.Start(t, slim())
	d, err := h.Transform("content.finalize", `{"event":"content.finalize","data":{"ouuid":"1","raw_data":{"a":1}}}`)
	if err != nil || string(d.Body) != `{"event":"content.finalize","data":{"ouuid":"1"}}` || d.Headers["X-Slim"] != "1" || d.Skip {
		t.Errorf("%s %+v, %v", d.Body, d, err)
	}
	if d, err := h.Transform("content.delete", `{}`); err != nil || !d.Skip {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := h.Transform("content.finalize", `{`); err == nil {
		t.Error("a body that is no JSON passes")
	}
}

func TestTheExampleOfACommand(t *testing.T) {
	search := func(json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"hits":{"total":{"value":7}}}`), nil
	}
	h := plugintest.Start(t, counter(), plugintest.WithSearch(search))
	for _, want := range []string{"7 pages", "7 pages\nthe last time there were 7"} {
		if lines, err := h.Command("pages"); err != nil || strings.Join(lines, "\n") != want {
			t.Errorf("it prints %q, %v", lines, err)
		}
	}
	if _, err := h.Command("pages", "all"); err == nil {
		t.Error("it takes arguments")
	}
	if h.Value("running") != nil || string(h.Value("last")) != "7" {
		t.Errorf("it keeps %q and %q", h.Value("running"), h.Value("last"))
	}
}
