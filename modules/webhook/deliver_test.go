package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/webhook"
)

// sum is an HMAC made apart from the code under test.
func sum(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	_, _ = io.WriteString(m, text)
	return m.Sum(nil)
}

func standard(t *testing.T, secret string, g got) string {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	return "v1," + base64.StdEncoding.EncodeToString(sum(key, g.header.Get("webhook-id")+"."+g.header.Get("webhook-timestamp")+"."+g.body))
}

func TestCall(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		r := receive(t, nil)
		sub := s.register(r.URL, "", "content.finalize", "alias.update.quoin_x")
		s.emit("page:1 content.finalize", "page:1 content.delete", "page:2 manage_alias.update.quoin_x")
		calls := r.wait(t, 2)
		i := slices.IndexFunc(calls, func(g got) bool { return g.header.Get("X-Webhook-Event") == "content.finalize" })
		g := calls[i]
		const body = `{"event":"content.finalize","data":{"environment":"preview","alias":"quoin_preview","content_type":"page","ouuid":"1","raw_data":{"n":1.0,"é":"/"}}}`
		if g.body != body {
			t.Errorf("got  %s\nwant %s", g.body, body)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json", "X-Webhook-Subscription-Id": sub.ID, "X-Webhook-Signature": hex.EncodeToString(sum([]byte(sub.Secret), body)),
			"webhook-timestamp": fmt.Sprint(s.clock.Now().Unix()), "webhook-signature": standard(t, sub.Secret, g),
		} {
			if got := g.header.Get(name); got != want {
				t.Errorf("%s: %q instead of %q", name, got, want)
			}
		}
		if calls[1-i].header.Get("X-Webhook-Event") != "manage_alias.update.quoin_x" {
			t.Errorf("%v", calls[1-i].header)
		}
	})
}

// An owner hears of documents that they may view, and filters hold.
func TestRightsAndFilters(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		ann, bob, filtered, elsewhere := receive(t, nil), receive(t, nil), receive(t, nil), receive(t, nil)
		s.register(ann.URL, "", "content.*")
		s.want(200, "POST", base, "bob", fmt.Sprintf(`{"endpointUrl":%q,"events":["content.*"]}`, bob.URL), nil)
		s.register(filtered.URL, `,"contentTypes":["news"]`, "content.*")
		s.register(elsewhere.URL, `,"environments":["live"]`, "content.*")
		s.emit("page:1 content.finalize", "news:2 content.finalize", "secret:3 content.finalize", "news:4 content.delete")
		ann.wait(t, 3)
		bob.wait(t, 2)
		filtered.wait(t, 2)
		var list []struct{ Subject string }
		for _, sub := range s.subscriptions() {
			s.want(200, "GET", base+"/"+sub.ID+"/deliveries", "root", "", &list)
			want := map[string]int{ann.URL: 3, bob.URL: 2, filtered.URL: 2, elsewhere.URL: 0}[sub.EndpointURL]
			if len(list)-1 != want { // one is the validation
				t.Errorf("%s: %v", sub.EndpointURL, list)
			}
		}
	})
}

// Nobody hears of what the API would not tell them either: whose ids they may
// not list, whose endpoint they may not see, and nothing at all once their
// account is gone.
func TestWhoMayHear(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		ids := map[string]string{}
		for _, name := range []string{"ann", "bob", "crm", "root", "gone"} {
			var r registered
			owner := strings.Replace(name, "gone", "bob", 1)
			s.want(200, "POST", base, owner, fmt.Sprintf(`{"endpointUrl":%q,"events":["*"],"description":%q}`, receive(t, nil).URL, name), &r)
			ids[name] = r.ID
		}
		err := d.InTx(t.Context(), func(ctx context.Context) error {
			if _, err := d.Exec(ctx, db.SQL(`UPDATE webhook_state SET version = version + 1`)); err != nil {
				return err
			}
			if _, err := d.Exec(ctx, db.SQL(`UPDATE webhook_subscription SET owner = 'gone' WHERE id = ?`), ids["gone"]); err != nil {
				return err
			}
			for _, ev := range []event.Event{
				{Type: "form.submitted", Subject: "form:7", Data: json.RawMessage(`{"submission":"7"}`)},
				{Type: "webhook.disabled", Data: fmt.Appendf(nil, `{"subscription":%q,"endpoint_url":"https://example.org/secret"}`, ids["ann"])},
				{Type: "config.saved", Data: json.RawMessage(`{}`)},
				{Type: "manage_alias.update.x", Data: json.RawMessage(`{"actions":{}}`)},
			} {
				if err := s.bus.Emit(ctx, ev); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		heard := func(name string) string {
			var list []string
			for _, c := range s.deliveries(ids[name], "") {
				if c.Event != "validate_webhook_subscription" && !strings.HasPrefix(c.Event, "admin.") {
					list = append(list, c.Event)
				}
			}
			slices.Sort(list)
			return strings.Join(list, " ")
		}
		const everything = "config.saved form.submitted manage_alias.update.x webhook.disabled"
		testkit.Eventually(t, func() bool { return heard("root") == everything }) // the others were asked for in the same transaction
		for name, want := range map[string]string{
			"ann": "manage_alias.update.x webhook.disabled", "bob": "manage_alias.update.x", "crm": "form.submitted manage_alias.update.x", "gone": "",
		} {
			if got := heard(name); got != want {
				t.Errorf("%s hears %q instead of %q", name, got, want)
			}
		}
		s.want(400, "POST", base, "bob", `{"endpointUrl":"https://example.org","events":["form.submitted"]}`, nil)
		s.want(200, "POST", base, "crm", `{"endpointUrl":"https://example.org","events":["form.submitted"]}`, nil)
		for name, listed := range map[string]bool{"bob": false, "crm": true, "root": true} {
			if text := s.want(200, "GET", "/api/webhook-events", name, "", nil); strings.Contains(text, "form.submitted") != listed {
				t.Errorf("%s: %s", name, text)
			}
		}
	})
}

// A call may wait for days: it is not made when its owner may not view the
// document any more, and what was sent before is not shown either.
func TestRightsThatEndMeanwhile(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		r := receive(t, nil)
		path := base + "/" + s.register(r.URL, "", "content.*").ID
		s.emit("page:1 content.finalize")
		r.wait(t, 1)
		id := strings.TrimPrefix(path, base+"/")
		sent := s.eventually(id, "delivered", 1)[0].ID
		s.want(200, "POST", path+"/pause", "ann", "", nil)
		s.emit("page:2 content.finalize", "news:3 content.finalize")
		s.eventually(id, "waiting", 3) // and the validation
		err := d.InTx(t.Context(), func(ctx context.Context) error {
			_, err := d.Exec(ctx, db.SQL(`UPDATE webhook_subscription SET owner = 'bob' WHERE id = ?`), id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.want(200, "POST", path+"/resume", "root", "", nil)
		failed := s.eventually(id, "failed", 1)[0]
		if failed.Tries != 1 || !strings.Contains(failed.Error, "may not hear") {
			t.Errorf("%+v", failed)
		}
		s.eventually(id, "delivered", 3)
		for _, c := range r.all() {
			if strings.Contains(c.body, `"ouuid":"2"`) {
				t.Error("the document was told of: " + c.body)
			}
		}
		if v := s.status(id); v.Status != "active" || v.Failures != 0 {
			t.Errorf("the endpoint has no part in it: %+v", v)
		}
		var shown delivery
		for _, which := range []string{sent, failed.ID} {
			if s.want(200, "GET", path+"/deliveries/"+which, "bob", "", &shown); strings.Contains(string(shown.Payload), "raw_data") || !strings.Contains(string(shown.Payload), `"ouuid"`) {
				t.Errorf("%s", shown.Payload)
			}
			if s.want(200, "GET", path+"/deliveries/"+which, "root", "", &shown); !strings.Contains(string(shown.Payload), "raw_data") {
				t.Errorf("%s", shown.Payload)
			}
		}
	})
}

type listed struct{ ID, EndpointURL, Status, Message string }

func (s *server) subscriptions() (all []listed) {
	s.want(200, "GET", base, "root", "", &all)
	return all
}

func (s *server) status(id string) (v struct {
	Status, Message string
	Failures        int
}) {
	s.want(200, "GET", base+"/"+id, "root", "", &v)
	return v
}

type delivery struct {
	ID, WebhookID, Event, Status, Error string
	Tries                               int
	Payload                             json.RawMessage
	Attempts                            []struct {
		Status          int
		Error, Response string
	}
}

func (s *server) deliveries(id, status string) (all []delivery) {
	s.want(200, "GET", base+"/"+id+"/deliveries?status="+status, "root", "", &all)
	return all
}

// eventually waits for a delivery with the status.
func (s *server) eventually(id, status string, n int) []delivery {
	s.Helper()
	var all []delivery
	testkit.Eventually(s, func() bool { all = s.deliveries(id, status); return len(all) >= n })
	return all
}

// A call that fails is made again with the same id, and what happened is told
// without secrets.
func TestRetry(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) { c.ValidationDelay = 1000 * time.Hour })
		var secret atomic.Value
		r := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			switch n {
			case 0:
				http.Error(w, "no: "+secret.Load().(string), http.StatusInternalServerError)
			case 1:
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(http.StatusServiceUnavailable)
			case 2:
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(http.StatusFound)
			case 3:
				w.WriteHeader(http.StatusNoContent)
			}
		})
		sub := s.register(r.URL, "", "content.finalize")
		secret.Store(sub.Secret)
		s.emit("page:1 content.finalize")
		r.wait(t, 1)
		s.again(t, r, 2, 10*time.Second)
		// Written down before the clock goes on, from when an hour is counted.
		testkit.Eventually(t, func() bool { return s.deliveries(sub.ID, "waiting")[0].Error == "answered 503" })
		s.clock.Advance(30 * time.Minute) // 1 m of the schedule is over, an hour was asked for
		if first := s.deliveries(sub.ID, "waiting")[0]; len(r.all()) != 2 || first.Error != "answered 503" {
			t.Errorf("%d calls, %+v", len(r.all()), first)
		}
		s.again(t, r, 3, time.Hour)
		s.again(t, r, 4, 2*time.Hour)
		done := s.eventually(sub.ID, "delivered", 1)[0]
		var whole delivery
		text := s.want(200, "GET", base+"/"+sub.ID+"/deliveries/"+done.ID, "ann", "", &whole)
		if len(whole.Attempts) != 4 || whole.Attempts[2].Error != "answered 302" || whole.Attempts[3].Status != 204 || whole.Attempts[3].Error != "" ||
			whole.Attempts[0].Response != "no: ***\n" || strings.Contains(text, sub.Secret) || !strings.Contains(string(whole.Payload), `"ouuid":"1"`) {
			t.Errorf("%s", text)
		}
		ids := map[string]bool{}
		for _, g := range r.all() {
			ids[g.header.Get("webhook-id")] = true
		}
		if len(ids) != 1 || !ids[done.WebhookID] {
			t.Errorf("%v, %+v", ids, done)
		}
		s.want(200, "POST", base+"/"+sub.ID+"/deliveries/"+done.ID+"/replay", "ann", "", nil)
		if calls := r.wait(t, 5); !ids[calls[4].header.Get("webhook-id")] {
			t.Errorf("%v", calls[4].header)
		}
	})
}

// again moves the clock until the nth call comes.
func (s *server) again(t *testing.T, r *receiver, n int, by time.Duration) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		if len(r.all()) >= n {
			return true
		}
		s.clock.Advance(by / 100)
		return false
	})
}

// After the last try a delivery has failed, and is kept.
func TestGivenUp(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) { c.Schedule = []time.Duration{time.Second, time.Second}; c.BreakAfter = 100 })
		var down atomic.Bool
		down.Store(true)
		r := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			if down.Load() {
				w.WriteHeader(500)
			}
		})
		sub := s.register(r.URL, "", "content.finalize")
		s.emit("page:1 content.finalize")
		s.again(t, r, 3, 2*time.Second)
		failed := s.eventually(sub.ID, "failed", 1)[0]
		if failed.Tries != 3 || failed.Error != "answered 500" {
			t.Errorf("%+v", failed)
		}
		down.Store(false)
		var n struct{ Count int }
		s.want(200, "POST", base+"/"+sub.ID+"/replay", "ann", `{"since":"2026-05-04T00:00:00Z"}`, &n)
		if s.eventually(sub.ID, "delivered", 1); n.Count != 1 {
			t.Errorf("%+v", n)
		}
		if v := s.status(sub.ID); v.Failures != 0 {
			t.Errorf("%+v", v)
		}
	})
}

func TestGoneDisables(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		r := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
		hears := receive(t, nil)
		s.register(hears.URL, "", "webhook.disabled", "content.unpublish")
		sub := s.register(r.URL, "", "content.finalize")
		s.emit("page:1 content.finalize")
		calls := hears.wait(t, 1)
		if !strings.Contains(calls[0].body, sub.ID) || !strings.Contains(calls[0].body, "410") {
			t.Error(calls[0].body)
		}
		if v := s.status(sub.ID); v.Status != "disabled" || !strings.Contains(v.Message, "410") {
			t.Errorf("%+v", v)
		}
		s.emit("page:2 content.finalize")
		s.emit("page:3 content.unpublish")
		hears.wait(t, 2) // what came before has been expanded
		if len(r.all()) != 1 {
			t.Errorf("%d calls", len(r.all()))
		}
		s.want(200, "POST", base+"/"+sub.ID+"/replay", "ann", `{"after":0}`, nil)
		s.want(200, "POST", base+"/"+sub.ID+"/resume", "ann", "", nil)
		r.wait(t, 2)
	})
}

// Validation, test and ping must be answered with exactly 200; the validation
// comes again, and disables an endpoint that does not pass.
func TestControlCalls(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) { c.ValidateEvery = time.Hour; c.BreakAfter = 100 })
		var refuses atomic.Bool
		r := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			if refuses.Load() {
				w.WriteHeader(204)
			}
		})
		sub := s.register(r.URL, "", "content.finalize")
		s.clock.Advance(39 * time.Second)
		s.want(200, "POST", base+"/"+sub.ID+"/test", "ann", `{"event":"webhook_ping"}`, nil)
		if calls := r.wait(t, 1); calls[0].header.Get("X-Webhook-Event") != "webhook_ping" || calls[0].body != `{"event":"webhook_ping","data":{"message":"ping"}}` {
			t.Errorf("%+v", calls[0])
		}
		s.clock.Advance(2 * time.Second)
		calls := r.wait(t, 2)
		if want := fmt.Sprintf(`{"event":"validate_webhook_subscription","data":{"secret":%q,"events":["content.finalize"]}}`, sub.Secret); calls[1].body != want {
			t.Errorf("got  %s\nwant %s", calls[1].body, want)
		}
		for _, one := range s.eventually(sub.ID, "delivered", 2) {
			if text := s.want(200, "GET", base+"/"+sub.ID+"/deliveries/"+one.ID, "ann", "", nil); strings.Contains(text, sub.Secret) {
				t.Error(text)
			}
		}
		s.want(200, "POST", base+"/"+sub.ID+"/test", "ann", "", nil)
		if calls := r.wait(t, 3); calls[2].body != `{"event":"webhook_test","data":{"message":"This is a test event"}}` {
			t.Errorf("%+v", calls[2])
		}
		s.eventually(sub.ID, "delivered", 3) // before the endpoint changes its mind
		refuses.Store(true)
		s.clock.Advance(2 * time.Hour)
		if err := s.Revalidate(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.again(t, r, 8, 50*time.Minute)
		testkit.Eventually(t, func() bool { return s.status(sub.ID).Status == "disabled" })
		if v := s.status(sub.ID); !strings.Contains(v.Message, "validation") {
			t.Errorf("%+v", v)
		}
	})
}

// An endpoint that fails again and again is left alone, then tried with one
// call, and gets everything in the end.
func TestBreaker(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) { c.BreakAfter, c.BreakFor, c.Concurrency = 3, time.Minute, 1 })
		var down atomic.Bool
		down.Store(true)
		told := make(chan struct{}) // that it is broken
		r := receive(t, func(n int, w http.ResponseWriter, r *http.Request) {
			if n >= 3 { // results are written behind the calls, so that more may be made meanwhile
				select {
				case <-told:
				case <-r.Context().Done():
				}
			}
			if down.Load() {
				w.WriteHeader(503)
			}
		})
		sub := s.register(r.URL, "", "content.finalize")
		var pages []string
		for i := range 10 {
			pages = append(pages, fmt.Sprintf("page:%d content.finalize", i))
		}
		s.emit(pages...)
		testkit.Eventually(t, func() bool { return s.status(sub.ID).Status == "broken" })
		if n := len(r.all()); n < 3 || n > 4 {
			t.Errorf("%d calls before it was left alone", n)
		}
		down.Store(false)
		close(told)
		testkit.Eventually(t, func() bool {
			s.clock.Advance(time.Second)
			return len(s.deliveries(sub.ID, "delivered")) >= 10
		})
		if v := s.status(sub.ID); v.Failures != 0 || v.Status != "active" {
			t.Errorf("%+v", v)
		}
	})
}

func TestDisabledAfterLongFailure(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) { c.DisableAfter = time.Hour; c.BreakAfter = 1000 })
		r := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
		sub := s.register(r.URL, "", "content.finalize")
		s.emit("page:1 content.finalize")
		testkit.Eventually(t, func() bool { s.clock.Advance(time.Minute); return s.status(sub.ID).Status == "disabled" })
	})
}

// The calls about one document follow each other, also when one has to be made
// again; those about others do not wait for it.
func TestOrdered(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) {
			c.BreakAfter, c.ValidationDelay = 1000, 1000*time.Hour
			c.Schedule = slices.Repeat([]time.Duration{time.Second}, 90)
		})
		r := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			if n%3 == 0 {
				w.WriteHeader(500)
			}
		})
		sub := s.register(r.URL, `,"ordered":true`, "content.*")
		kinds := []string{"content.finalize", "content.published.live", "content.unpublish", "content.delete"}
		for _, kind := range kinds {
			for page := range 5 {
				s.emit(fmt.Sprintf("page:%d %s", page, kind))
				s.clock.Advance(time.Millisecond)
			}
		}
		testkit.Eventually(t, func() bool { s.clock.Advance(time.Second); return len(s.deliveries(sub.ID, "delivered")) >= 20 })
		order := map[string][]string{}
		for i, g := range r.all() {
			var b struct {
				Event string
				Data  struct{ Ouuid string }
			}
			if err := json.Unmarshal([]byte(g.body), &b); err != nil {
				t.Fatal(err)
			}
			if i%3 != 0 && b.Data.Ouuid != "" {
				order[b.Data.Ouuid] = append(order[b.Data.Ouuid], b.Event)
			}
		}
		for page, got := range order {
			if !slices.Equal(got, kinds) {
				t.Errorf("page %s: %v", page, got)
			}
		}
		if len(order) != 5 {
			t.Errorf("%v", order)
		}
	})
}

// While a subscription is paused its events are kept.
func TestPause(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		r, witness := receive(t, nil), receive(t, nil)
		sub := s.register(r.URL, "", "content.finalize")
		s.register(witness.URL, "", "content.finalize")
		s.want(200, "POST", base+"/"+sub.ID+"/pause", "ann", "", nil)
		s.emit("page:1 content.finalize", "page:2 content.finalize")
		witness.wait(t, 2)
		if len(r.all()) != 0 || len(s.deliveries(sub.ID, "waiting")) != 3 {
			t.Errorf("%d calls, %v", len(r.all()), s.deliveries(sub.ID, "waiting"))
		}
		s.want(200, "POST", base+"/"+sub.ID+"/resume", "ann", "", nil)
		r.wait(t, 2)
	})
}

// What becomes of an endpoint while its subscription is changed is kept.
func TestChangeWhileAnEndpointIsGivenUp(t *testing.T) {
	t.Parallel()
	d := open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())})
	s := serve(t, d, nil)
	sub := s.register(receive(t, nil).URL, "", "content.finalize")
	changed := make(chan struct{})
	err := d.InTx(t.Context(), func(ctx context.Context) error {
		if _, err := d.Exec(ctx, db.SQL(`UPDATE webhook_subscription SET enabled = false, message = 'given up' WHERE id = ?`), sub.ID); err != nil {
			return err
		}
		go func() {
			defer close(changed)
			s.want(200, "POST", base+"/"+sub.ID+"/pause", "ann", "", nil)
		}()
		testkit.Eventually(t, func() bool {
			var n int
			err := d.Row(t.Context(), db.SQL(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)).Scan(&n)
			return err == nil && n > 0
		})
		return nil
	})
	<-changed
	if err != nil {
		t.Fatal(err)
	}
	var now struct{ Status, Message string }
	s.want(200, "GET", base+"/"+sub.ID, "ann", "", &now)
	if now.Status != "disabled" || now.Message != "given up" {
		t.Errorf("%+v", now)
	}
}

// With two secrets the receiver may use either.
func TestRotation(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) { c.SecretOverlap = time.Hour })
		r := receive(t, nil)
		old := s.register(r.URL, "", "content.finalize")
		var fresh registered
		s.want(200, "POST", base+"/"+old.ID+"/rotate-secret", "ann", "", &fresh)
		s.emit("page:1 content.finalize")
		g := r.wait(t, 1)[0]
		if got, want := g.header.Get("webhook-signature"), standard(t, fresh.Secret, g)+" "+standard(t, old.Secret, g); got != want {
			t.Errorf("%s instead of %s", got, want)
		}
		if g.header.Get("X-Webhook-Signature") != hex.EncodeToString(sum([]byte(fresh.Secret), g.body)) {
			t.Error("the signature of the contract is not that of the new secret")
		}
		s.clock.Advance(2 * time.Hour)
		s.emit("page:2 content.finalize")
		testkit.Eventually(t, func() bool {
			return slices.ContainsFunc(r.all(), func(g got) bool {
				return strings.Contains(g.body, `"ouuid":"2"`) && g.header.Get("webhook-signature") == standard(t, fresh.Secret, g)
			})
		})
	})
}

// Old deliveries go, with all that belongs to them.
func TestSweep(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) { c.Retention = time.Hour })
		r := receive(t, nil)
		sub := s.register(r.URL, "", "content.finalize")
		s.emit("page:1 content.finalize")
		s.eventually(sub.ID, "delivered", 1)
		s.clock.Advance(s.config.Retention + time.Hour)
		s.emit("page:2 content.finalize")
		testkit.Eventually(t, func() bool { return len(s.deliveries(sub.ID, "delivered")) >= 3 }) // one is the validation
		dead := s.register("http://127.0.0.1:1/dead", "", "content.finalize")
		s.emit("page:3 content.finalize")
		s.eventually(dead.ID, "waiting", 2)
		if _, err := d.Exec(t.Context(), db.SQL("UPDATE webhook_subscription SET enabled = FALSE WHERE id = ?"), dead.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), db.SQL("UPDATE webhook_delivery SET created_at = 1 WHERE queue = ?"), dead.ID); err != nil {
			t.Fatal(err)
		}
		s.eventually(sub.ID, "delivered", 4)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := s.deliveries(dead.ID, ""); len(left) != 0 {
			t.Errorf("%+v", left)
		}
		for table, want := range map[string]int{"webhook_delivery": 2, "webhook_message": 2} {
			var n int
			if err := d.Row(t.Context(), db.SQL("SELECT count(*) FROM "+table)).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %d rows, %v", table, n, err)
			}
		}
	})
}
