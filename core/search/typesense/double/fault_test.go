package double_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/search/typesense/double"
)

func TestFaults(t *testing.T) {
	c := start(t, false)
	c.create("c", small)

	c.ts.Inject(double.Fault{Path: "/import", Status: 503, Times: 2})
	for i, want := range []int{503, 503, 200} {
		if code, _ := c.try("POST", "/collections/c/documents/import?action=upsert", `{"id":"1"}`); code != want {
			t.Errorf("request %d: %d, want %d", i, code, want)
		}
	}
	if n := c.ts.Count("POST", "/import"); n != 3 {
		t.Errorf("%d imports counted", n)
	}

	c.ts.Inject(double.Fault{Method: "POST", Path: "/import", Cut: true, CutAfter: 5, Times: 1})
	code, got := c.try("POST", "/collections/c/documents/import?action=upsert", `{"id":"2"}`)
	if code != 0 || got != `{"suc` {
		t.Errorf("cut: %d %q", code, got)
	}
	if got := c.filter("id:2"); got != "2" {
		t.Error("a cut answer does not undo the import:", got)
	}

	c.ts.Inject(double.Fault{Path: "/import", RejectLine: func(line string) string {
		if strings.Contains(line, `"4"`) {
			return "no room"
		}
		return ""
	}})
	answer := c.must("POST", "/collections/c/documents/import?action=upsert", `{"id":"3"}`+"\n"+`{"id":"4"}`)
	if answer != `{"success":true}`+"\n"+`{"code":400,"error":"no room","success":false}` {
		t.Error(answer)
	}
	c.ts.Heal()
	c.load("c", `{"id":"4"}`)

	c.ts.Inject(double.Fault{Path: "/import", Drop: true, Times: 1})
	if code, got := c.try("POST", "/collections/c/documents/import", `{"id":"5"}`); code != 0 {
		t.Errorf("drop: %d %q", code, got)
	}
	if got := c.filter("id:5"); got != "" {
		t.Error("a dropped request was done:", got)
	}
	c.ts.Inject(double.Fault{Path: "/health", Status: 503, Times: 1})
	if code, got := c.try("GET", "/health", ""); code != 503 || got != `{"ok":false}` {
		t.Errorf("health: %d %q", code, got)
	}
}

// TestHold keeps a request until it is let go, and another until its client
// has gone.
func TestHold(t *testing.T) {
	c := start(t, false)
	arrived, hold := make(chan struct{}), make(chan struct{})
	c.ts.Inject(double.Fault{Path: "/debug", Hold: hold, Arrived: arrived, Times: 1})
	done := make(chan int)
	go func() {
		code, _ := c.try("GET", "/debug", "")
		done <- code
	}()
	<-arrived
	if code, _ := c.try("GET", "/health", ""); code != 200 {
		t.Error("another request:", code)
	}
	close(hold)
	if code := <-done; code != 200 {
		t.Error("after the hold:", code)
	}

	c.ts.Inject(double.Fault{Path: "/debug", Delay: time.Hour, Times: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", c.ts.URL()+"/debug", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err == nil {
		err = answer.Body.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the delay did not hold:", err)
	}
}

func TestKey(t *testing.T) {
	ts := double.New(double.Options{Key: "other"})
	t.Cleanup(ts.Close)
	c := clientOf(t, ts)
	for path, want := range map[string]int{"/debug": 401, "/collections": 401, "/nope": 401, "/health": 200, "/debug?x-typesense-api-key=other": 200} {
		if code, body := c.try("GET", path, ""); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}
