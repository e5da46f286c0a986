package typesense_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/typesense"
	"github.com/quoin-cms/quoin/core/search/typesense/double"
)

// faulty gives an engine with one index on a double that can be spoilt.
func faulty(t *testing.T) (*typesense.Engine, *double.Server) {
	t.Helper()
	d := double.New(double.Options{Key: "secret", Violation: t.Errorf})
	t.Cleanup(d.Close)
	e, err := typesense.New(typesense.Options{URLs: []string{d.URL()}, Key: "secret"})
	must(t, err)
	must(t, e.Create(t.Context(), "one", nestedSettings()))
	return e, d
}

func TestServerThatIsNotReady(t *testing.T) {
	e, d := faulty(t)
	op := []search.Op{doc("page:1", `{"items":[{"a":1}]}`)}
	d.Inject(double.Fault{Status: 503, Times: 2})
	must(t, e.Apply(t.Context(), "one", op)) // it was tried again
	d.Inject(double.Fault{Status: 503})
	err := e.Apply(t.Context(), "one", op)
	if p := problem.From(err); p.Kind != problem.Unavailable || p.RetryAfter <= 0 || p.Cause == nil {
		t.Errorf("a server that stays away: %+v", err)
	}
	if h := e.Health(t.Context()); h != "red" {
		t.Errorf("health is %s", h)
	}
	if e.Ping(t.Context()) == nil {
		t.Error("it is there")
	}
	d.Heal()
	if h := e.Health(t.Context()); h != "green" {
		t.Errorf("health is %s", h)
	}
	must(t, e.Apply(t.Context(), "one", op))
}

// A connection that breaks in the middle of an answer is tried again, and what
// was done twice is there once.
func TestBrokenConnections(t *testing.T) {
	e, d := faulty(t)
	for _, after := range []int{0, 10, 20} {
		for _, path := range []string{"/documents/import", "/documents", "/multi_search"} {
			d.Inject(double.Fault{Path: path, Cut: true, CutAfter: after, Times: 1})
			must(t, e.Apply(t.Context(), "one", []search.Op{doc("page:1", `{"items":[{"a":1},{"a":2}]}`), doc("page:2", `{"a":1}`)}))
			d.Heal()
			if got := keys(t, e, "one"); len(got) != 4 {
				t.Errorf("%s cut after %d bytes: %q", path, after, got)
			}
		}
	}
	// The catalog is changed once, also when nobody heard that it was.
	d.Inject(double.Fault{Path: "/documents/import", Cut: true, Times: 1})
	must(t, e.SetAliases(t.Context(), []search.AliasAction{{Alias: "a", Index: "one"}}))
	if m, err := e.Aliases(t.Context()); err != nil || len(m) != 1 {
		t.Errorf("aliases %v, %v", m, err)
	}
}

func TestErrorsOfTheServer(t *testing.T) {
	e, d := faulty(t)
	op := []search.Op{doc("page:1", `{"a":1}`)}
	for status, kind := range map[int]problem.Kind{400: problem.Internal, 401: problem.Unavailable, 404: problem.NotFound, 422: problem.Internal, 429: problem.Unavailable, 500: problem.Internal} {
		d.Inject(double.Fault{Path: "/documents/import", Status: status})
		err := e.Apply(t.Context(), "one", op)
		p := problem.From(err)
		if p.Kind != kind || p.Cause == nil || strings.Contains(p.Detail, "http") {
			t.Errorf("status %d: %v", status, err)
		}
		if status == 401 && (p.Code != "search_key" || !strings.Contains(p.Cause.Error(), "search.key")) {
			t.Errorf("a key that is not valid: %v", err)
		}
		d.Heal()
	}
	other, err := typesense.New(typesense.Options{URLs: []string{d.URL()}, Key: "wrong"})
	must(t, err)
	if _, err := other.Indices(t.Context()); !problem.Is(err, problem.Unavailable) || problem.From(err).Code != "search_key" {
		t.Errorf("a wrong key: %v", err)
	}
	for _, urls := range [][]string{nil, {""}, {"search:8108"}, {"ftp://search"}, {"http://"}} {
		if _, err := typesense.New(typesense.Options{URLs: urls}); err == nil {
			t.Errorf("the address %q is taken", urls)
		}
	}
}

// A request that is not answered ends with its context, and clients that give up
// do not shut others out.
func TestRequestsThatHang(t *testing.T) {
	e, d := faulty(t)
	op := []search.Op{doc("page:1", `{"a":1}`)}
	hold := make(chan struct{})
	defer close(hold)
	arrived := make(chan struct{}, 300)
	d.Inject(double.Fault{Path: "/documents/import", Hold: hold, Arrived: arrived})
	for range 150 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		if err := e.Apply(ctx, "one", op); !errors.Is(err, context.Canceled) {
			t.Fatalf("a client that gives up: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := e.Apply(ctx, "one", op); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a deadline: %v", err)
	}
	d.Heal()
	must(t, e.Apply(t.Context(), "one", op))
}

// TestSeveralNodes asks the next node when one is gone.
func TestSeveralNodes(t *testing.T) {
	d := double.New(double.Options{Violation: t.Errorf})
	gone := double.New(double.Options{})
	gone.Close()
	t.Cleanup(d.Close)
	e, err := typesense.New(typesense.Options{URLs: []string{gone.URL(), d.URL()}})
	must(t, err)
	must(t, e.Create(t.Context(), "one", search.Settings{}))
	must(t, e.Apply(t.Context(), "one", []search.Op{doc("page:1", `{"a":1}`)}))
	if h := e.Health(t.Context()); h != "green" {
		t.Errorf("health is %s", h)
	}
}

// TestANodeThatHangs leaves time for the other node, and does not ask the one
// that hangs again while the other answers.
func TestANodeThatHangs(t *testing.T) {
	var asked atomic.Int32
	over := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		<-over
	}))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(over) })
	d := double.New(double.Options{Violation: t.Errorf})
	t.Cleanup(d.Close)
	e, err := typesense.New(typesense.Options{URLs: []string{hangs.URL, d.URL()}})
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := e.Indices(ctx); err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the node that hangs was asked %d times", n)
	}
	must(t, e.Create(t.Context(), "one", search.Settings{}))
	must(t, e.Apply(t.Context(), "one", []search.Op{doc("page:1", `{"a":1}`)}))
	if got := keys(t, e, "one"); len(got) != 1 {
		t.Errorf("rows %q", got)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the node that hangs was asked %d times", n)
	}
}
