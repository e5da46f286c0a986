package app_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/telemetry/tracetest"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules"
)

const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	callersSpan  = "b7ad6b7169203331"
)

// traced sends a request as part of a trace of the caller.
func (r *running) traced(method, path, token, body string) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", token)
	req.Header.Set("Traceparent", "00-"+callersTrace+"-"+callersSpan+"-01")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestOneTraceFromRequestToWebhook publishes a document and follows it.
func TestOneTraceFromRequestToWebhook(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			collector := tracetest.New(t)
			called := make(chan string, 10)
			receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Webhook-Event") == "content.published.live" {
					called <- r.Header.Get("Traceparent")
				}
			}))
			defer receiver.Close()
			set := append(cheap(), "content.samples=true", "webhook.allow_networks=127.0.0.0/8",
				"telemetry.traces.enabled=true", "telemetry.traces.endpoint="+collector.URL)
			if engine == "postgres" {
				set = append(set, "database.url="+testkit.Postgres(t, testkit.WithoutFsync()))
			}
			r := start(t, load(t, modules.All(), folder(t), set...))
			token := r.login()
			const secretPath = "/hook/s3cret-path"
			if status, body := r.send("POST", "/api/webhook-subscriptions", token, `{"endpointUrl":"`+receiver.URL+secretPath+`","events":["content.published.live"]}`); status != 200 && status != 201 {
				t.Fatalf("%d %s", status, body)
			}
			if status, body := r.send("POST", "/api/data/page/index/one", token, `{"label":"a very private label"}`); status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			if status := r.traced("POST", "/api/data/page/publish/one/live?secret=in-query", token, `[]`); status != 200 {
				t.Fatal(status)
			}
			parent := <-called
			all := collector.Wait(t, func(all []tracetest.Span) bool {
				return tracetest.Named(all, "webhook content.published.live") != nil && served(all) != nil && handled(all)
			})
			follow(t, all, parent)
			for _, s := range all {
				for k, v := range s.Attributes {
					for _, secret := range []string{"private label", "s3cret-path", "in-query", token, "correct horse"} {
						if strings.Contains(v, secret) {
							t.Errorf("the span %s tells %s=%s", s.Name, k, v)
						}
					}
				}
			}
			if !strings.Contains(r.log.String(), `"trace_id":"`+callersTrace+`"`) {
				t.Errorf("the log names no trace\n%s", r.log)
			}
		})
	}
}

// served is the span of the request to publish.
func served(all []tracetest.Span) *tracetest.Span {
	for i := range all {
		if all[i].Trace == callersTrace && all[i].Kind == "SERVER" {
			return &all[i]
		}
	}
	return nil
}

// follow checks the way from the caller to the webhook.
func follow(t *testing.T, all []tracetest.Span, traceparent string) {
	t.Helper()
	root := served(all)
	if root.Parent != callersSpan || root.Attributes["http.route"] == "" || root.Attributes["quoin.request_id"] == "" || root.Resource["service.name"] != "quoin" {
		t.Errorf("the request: %+v", root)
	}
	byID := map[string]tracetest.Span{}
	statements := 0
	for _, s := range all {
		byID[s.ID] = s
		if s.Trace == callersTrace && s.Attributes["db.query.text"] != "" {
			statements++
		}
	}
	if statements < 3 {
		t.Errorf("%d statements are in the trace", statements)
	}
	hook := tracetest.Named(all, "webhook content.published.live")
	if traceparent != "00-"+callersTrace+"-"+hook.ID+"-01" {
		t.Errorf("the receiver got %q of %+v", traceparent, hook)
	}
	var way []string
	for at := *hook; ; at = byID[at.Parent] {
		if at.Trace != callersTrace || at.Name == "" {
			t.Fatalf("%s leaves the trace after %v\n%s", at.Name, way, tracetest.List(all))
		}
		way = append(way, at.Name)
		if at.Parent == callersSpan {
			break
		}
	}
	want := "webhook content.published.live < emit content.published.live < transaction < " + root.Name
	if got := strings.Join(way, " < "); got != want {
		t.Errorf("the way is %s, want %s", got, want)
	}
}

// handled tells whether the subscriber has got the event; in a batch with others
// that may be part of the trace of one of them.
func handled(all []tracetest.Span) bool {
	emitted := tracetest.Named(all, "emit content.published.live")
	return emitted != nil && slices.ContainsFunc(all, func(s tracetest.Span) bool {
		return s.Name == "handle webhook" && s.Kind == "CONSUMER" && (s.Parent == emitted.ID || slices.Contains(s.Links, emitted.ID))
	})
}

func TestAToolCallIsASpan(t *testing.T) {
	collector := tracetest.New(t)
	r := start(t, load(t, modules.All(), folder(t), append(cheap(), "content.samples=true",
		"telemetry.traces.enabled=true", "telemetry.traces.endpoint="+collector.URL)...))
	a := &agent{running: r, token: r.login()}
	if got := a.tool("save_page", map[string]any{"rawData": map[string]any{"label": "Hello"}}); got.IsError {
		t.Fatalf("%+v", got)
	}
	all := collector.Wait(t, func(all []tracetest.Span) bool { return tracetest.Named(all, "POST /api/mcp") != nil })
	tool, request := tracetest.Named(all, "tools/call save_page"), tracetest.Named(all, "POST /api/mcp")
	if tool == nil || tool.Trace != request.Trace || tool.Parent != request.ID {
		t.Fatalf("%s", tracetest.List(all))
	}
	below := 0
	for _, s := range all {
		if s.Parent == tool.ID {
			below++
		}
	}
	if below == 0 {
		t.Errorf("the tool did nothing\n%s", tracetest.List(all))
	}
}
