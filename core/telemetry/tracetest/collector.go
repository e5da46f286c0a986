// Package tracetest is a collector of traces for tests: it takes what comes by
// OTLP over HTTP and tells which spans there were.
package tracetest

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collected "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	pb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/quoin-cms/quoin/core/telemetry"
)

// patience is how long a test waits for spans that must come.
const patience = 3 * time.Minute

// Span is one that was sent. Ids are hexadecimal.
type Span struct {
	Trace, ID, Parent string
	Name              string
	Kind              string // SERVER, CLIENT, PRODUCER, CONSUMER or INTERNAL
	Attributes        map[string]string
	Failed            bool
	Links             []string // ids of spans
	Resource          map[string]string
}

// Collector is a server that keeps all spans it is sent.
type Collector struct {
	URL string

	mu    sync.Mutex
	spans []Span
	more  chan struct{} // closed and replaced when spans come
}

// New starts a collector that ends with the test, and makes the SDK send what
// it has at once. The test must not run beside others.
func New(t testing.TB) *Collector {
	t.Helper()
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
	c := &Collector{more: make(chan struct{})}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Config is a configuration that sends every trace here.
func (c *Collector) Config() telemetry.Traces {
	return telemetry.Traces{Enabled: true, Endpoint: c.URL, Sample: 1}
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collected.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "this is no OTLP", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, from := range request.ResourceSpans {
		for _, scope := range from.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, spanOf(s, from.GetResource().GetAttributes()))
			}
		}
	}
	close(c.more)
	c.more = make(chan struct{})
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func spanOf(s *pb.Span, resource []*common.KeyValue) Span {
	out := Span{
		Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId), Name: s.Name,
		Kind: strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"), Failed: s.GetStatus().GetCode() == pb.Status_STATUS_CODE_ERROR,
		Attributes: texts(s.Attributes), Resource: texts(resource),
	}
	for _, l := range s.Links {
		out.Links = append(out.Links, hex.EncodeToString(l.SpanId))
	}
	return out
}

// texts gives attributes as text.
func texts(all []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range all {
		switch v := a.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			m[a.Key] = v.StringValue
		default:
			m[a.Key] = strings.Trim(a.Value.String(), `"`)
		}
	}
	return m
}

// Wait gives the spans once enough holds of them, and fails the test when that
// does not happen.
func (c *Collector) Wait(t testing.TB, enough func(all []Span) bool) []Span {
	t.Helper()
	over := time.After(patience)
	for {
		c.mu.Lock()
		all, more := append([]Span(nil), c.spans...), c.more
		c.mu.Unlock()
		if enough(all) {
			return all
		}
		select {
		case <-more:
		case <-over:
			t.Fatalf("the spans did not come; there are\n%s", List(all))
		}
	}
}

// List is the spans for people, a line each.
func List(all []Span) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.Trace + " " + s.ID + " below " + s.Parent + " " + s.Kind + " " + s.Name + "\n")
	}
	return b.String()
}

// Named gives the first span with the name, nil when there is none.
func Named(all []Span, name string) *Span {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}
