package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
)

// diary notes what happens in a server, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

// service is a service that writes into the diary.
func (d *diary) service(name string, phase module.Phase, start func(context.Context) error) module.Service {
	return module.Service{Name: name, Phase: phase,
		Start: func(ctx context.Context) error {
			d.note("start " + name)
			if start != nil {
				return start(ctx)
			}
			return nil
		},
		Stop: func(context.Context) error { d.note("stop " + name); return nil },
	}
}

// parts is a module made of what a test wants in it.
func parts(name string, options ...fx.Option) module.Spec {
	return module.Spec{Name: name, Wiring: func() fx.Option { return fx.Options(options...) }}
}

func services(list ...module.Service) fx.Option {
	return module.Services(func() []module.Service { return list })
}

func operations(list ...web.Operation) fx.Option {
	return module.Operations(func() []web.Operation { return list })
}

// try asks without failing the test when nobody answers.
func try(base, path string) (int, http.Header, string) {
	req, err := http.NewRequestWithContext(context.Background(), "GET", base+path, nil)
	if err != nil {
		return 0, nil, err.Error()
	}
	req.Close = true
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	var body any
	_ = json.NewDecoder(resp.Body).Decode(&body)
	text, _ := json.Marshal(body)
	return resp.StatusCode, resp.Header, string(text)
}

func TestHealthIsToldWhileTheServerStarts(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	d := &diary{}
	slow := d.service("slow", module.PhaseData, func(context.Context) error { close(entered); <-leave; return nil })
	addr := testkit.FreeAddress(t)
	c := load(t, []module.Spec{parts("a", services(slow))}, folder(t), "server.listen="+addr)
	var r *running
	var began sync.WaitGroup
	began.Go(func() { r = start(t, c) })
	<-entered
	base := "http://" + addr
	if status, _, body := try(base, "/livez"); status != 200 || !strings.Contains(body, "ok") {
		t.Errorf("livez: %d %s", status, body)
	}
	if status, _, body := try(base, "/readyz"); status != 503 || !strings.Contains(body, `"starting"`) {
		t.Errorf("readyz: %d %s", status, body)
	}
	status, header, body := try(base, "/api/test")
	if status != 503 || header.Get("Retry-After") != "1" || !strings.Contains(body, "the server is starting") || !strings.Contains(body, `"success":false`) {
		t.Errorf("the rest: %d %v %s", status, header, body)
	}
	close(leave)
	began.Wait()
	if status, _, body := try(base, "/readyz"); status != 200 || body != `{"checks":{"database":"ok","migrations":"ok"},"status":"ready"}` {
		t.Errorf("readyz: %d %s", status, body)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

func TestStoppingWaitsForRequestsThenStopsInReverse(t *testing.T) {
	d := &diary{}
	entered, leave := make(chan struct{}), make(chan struct{})
	wait := web.Op(web.Operation{ID: "wait", Method: "GET", Path: "/wait", Public: true}, func(context.Context, *web.None) (*web.Reply[string], error) {
		close(entered)
		<-leave
		d.note("answered")
		return web.Answer("late")
	})
	r := start(t, load(t, []module.Spec{
		parts("a", services(d.service("worker", module.PhaseWork, nil), d.service("cache", module.PhaseData, nil)), operations(wait)),
		parts("b", services(d.service("index", module.PhaseData, nil))),
	}, folder(t)))
	answer := make(chan string, 1)
	go func() {
		status, _, body := try(r.base, "/wait")
		answer <- http.StatusText(status) + " " + body
	}()
	<-entered
	r.stop()
	testkit.Eventually(t, func() bool { status, _, _ := try(r.base, "/livez"); return status == 0 }) // the door is closed
	if got := d.read(); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "stop") }) {
		t.Errorf("stopped under a running request: %v", got)
	}
	close(leave)
	if got := <-answer; got != `OK "late"` {
		t.Errorf("the running request: %s", got)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	want := []string{"start cache", "start index", "start worker", "answered", "stop worker", "stop index", "stop cache"}
	if got := d.read(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDrainingIsSaidWhileRequestsAreStillTaken(t *testing.T) {
	t.Parallel() // it waits for most of its time, which leaves enough of it to a busy machine
	r := start(t, load(t, []module.Spec{parts("a")}, folder(t), "server.drain_delay=15s"))
	r.stop()
	testkit.Eventually(t, func() bool {
		status, _, body := try(r.base, "/readyz")
		return status == 503 && strings.Contains(body, `"draining"`)
	})
	if status, _, _ := try(r.base, "/openapi.json"); status != 200 {
		t.Errorf("a request during the drain delay: %d", status)
	}
}

// serveOnce runs a server that is expected to end by itself.
func serveOnce(ctx context.Context, t *testing.T, c *app.Config) error {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, c, app.Options{Log: telemetry.Discard(), Version: "test"}, func(*app.App, string) { t.Error("the server is ready") })
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		t.Fatal("the server does not end")
		return nil
	}
}

func TestAServiceThatFailsToStartStopsTheOthers(t *testing.T) {
	d := &diary{}
	broken := d.service("broken", module.PhaseWork, func(context.Context) error { return errors.New("no disk") })
	c := load(t, []module.Spec{parts("a",
		services(d.service("first", module.PhaseData, nil), broken, d.service("never", module.PhaseWork, nil)))}, folder(t))
	err := serveOnce(t.Context(), t, c)
	if err == nil || err.Error() != "start broken: no disk" {
		t.Errorf("%v", err)
	}
	if got, want := d.read(), []string{"start first", "start broken", "stop broken", "stop first"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBeingToldToStopWhileStartingIsNoError(t *testing.T) {
	d := &diary{}
	ctx, cancel := context.WithCancel(t.Context())
	slow := d.service("slow", module.PhaseData, func(ctx context.Context) error { cancel(); <-ctx.Done(); return ctx.Err() })
	if err := serveOnce(ctx, t, load(t, []module.Spec{parts("a", services(slow))}, folder(t))); err != nil {
		t.Error(err)
	}
	if got, want := d.read(), []string{"start slow", "stop slow"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAServiceThatDoesNotStopIsNamed(t *testing.T) {
	d := &diary{}
	hang := make(chan struct{})
	defer close(hang)
	stuck := d.service("stuck", module.PhaseWork, nil)
	stuck.Stop = func(context.Context) error { <-hang; return nil }
	r := start(t, load(t, []module.Spec{parts("a", services(stuck, d.service("cache", module.PhaseData, nil)))}, folder(t), "server.stop_within=10ms"))
	if err := r.end(); err == nil || !strings.Contains(err.Error(), "stop stuck: it did not end in time") {
		t.Errorf("%v", err)
	}
	if got := d.read(); got[len(got)-1] != "stop cache" {
		t.Errorf("the others are stopped all the same: %v", got)
	}
}

func TestAFailingCheckIsNotReadyAndKeepsItsReason(t *testing.T) {
	check := telemetry.Check{Name: "engine", Run: func(context.Context) error { return errors.New("10.0.0.7 refused") }}
	r := start(t, load(t, []module.Spec{parts("a", module.Checks(func() []telemetry.Check { return []telemetry.Check{check} }))}, folder(t)))
	status, body := r.send("GET", "/readyz", "", "")
	if status != 503 || !strings.Contains(body, `"engine":"failing"`) || strings.Contains(body, "10.0.0.7") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := r.send("HEAD", "/livez", "", ""); status != 200 {
		t.Errorf("livez: %d", status)
	}
}

// TestAWorkerThatIsToldToStopWhileItStartsHasNotFailed is about what a service
// that is cut short gives back.
func TestAWorkerThatIsToldToStopWhileItStartsHasNotFailed(t *testing.T) {
	d := &diary{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	slow := d.service("slow", module.PhaseWork, func(ctx context.Context) error {
		cancel()
		return ctx.Err()
	})
	slow.Worker = true
	c := load(t, []module.Spec{parts("a", services(slow))}, folder(t), "database.url="+testkit.Postgres(t, testkit.WithoutFsync()))
	err := app.Work(ctx, c, app.Options{Log: telemetry.Discard(), Version: "test"}, func(*app.App) { t.Error("it was never ready") })
	if err != nil {
		t.Error(err)
	}
	if got := d.read(); !slices.Equal(got, []string{"start slow", "stop slow"}) {
		t.Errorf("got %v", got)
	}
}
