package user_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
	"github.com/quoin-cms/quoin/modules/user"
)

// told is the data of an event about refused sign-ins.
type told struct {
	User, Door, Reason, From, Since, Until string
	Count                                  int
}

// trail is a server that tells, and what it told.
type trail struct {
	*server
	bus  *event.Bus
	last int64
}

func telling(t *testing.T, d *db.DB, c *user.Config) *trail {
	t.Helper()
	if _, err := d.Migrate(t.Context(), []db.Source{work.Migrations(), event.Migrations()}); err != nil {
		t.Fatal(err)
	}
	bus := event.New(d, event.Options{Log: telemetry.Discard()})
	s := &trail{server: serveTelling(t, d, c, bus), bus: bus}
	if err := s.EnsureAdmin(t.Context(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	return s
}

// events tells and gives what is new in the trail, in the order of its data.
func (s *trail) events() (all []event.Event) {
	s.Helper()
	if err := s.TellRefusals(s.Context()); err != nil {
		s.Fatal(err)
	}
	all, err := s.bus.HistoryOf(s.Context(), "admin.user.login_failed", s.last, 1000)
	if err != nil {
		s.Fatal(err)
	}
	for _, ev := range all {
		s.last = max(s.last, ev.ID)
	}
	slices.SortFunc(all, func(a, b event.Event) int { return strings.Compare(string(a.Data), string(b.Data)) })
	return all
}

func (s *trail) list() (all []told) {
	s.Helper()
	for _, ev := range s.events() {
		var data told
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			s.Fatal(err)
		}
		data.Since, data.Until = "", ""
		all = append(all, data)
	}
	return all
}

// TestRefusedSignInsAreInTheTrail: by each door, with the name of an account
// only, and without what was typed.
func TestRefusedSignInsAreInTheTrail(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := telling(t, d, config())
		s.user("off", func(u *user.User) { u.Enabled = false })
		s.user("over", func(u *user.User) { u.ExpiresAt = s.clock.Now() })
		s.user("jane", nil)
		expiring, _, err := s.CreateToken(root(t), "jane", "short", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		off, over := s.token("off"), s.token("over")
		typed := []string{"hunter2 as a name", "wrong secret", "qn_" + strings.Repeat("z", 43), "notoken", expiring, off, over}

		s.want(401, s.do("POST", "/auth-token", "", login("Jane@Example.org", typed[1])))
		s.clock.Advance(20 * time.Second)
		last := s.want(401, s.do("POST", "/auth-token", "", login("JANE", typed[1])))
		s.want(401, s.do("POST", "/auth-token", "", login(typed[0], "")))
		s.want(401, s.do("POST", "/auth-token", "", login("off", "password of off")))
		s.want(401, s.do("POST", "/auth-token", "", login("over", "password of over")))
		s.clock.Advance(time.Minute)
		for _, token := range typed[2:5] {
			s.want(401, s.do("GET", "/api/test", token, ""))
		}
		s.want(403, s.do("GET", "/api/test", off, ""))
		s.want(401, s.do("GET", "/api/test", over, ""))

		events := s.events()
		want := []string{
			` {"user":"","door":"password","reason":"unknown","count":1`,
			` {"user":"","door":"token","reason":"unknown","count":2`,
			`user:jane {"user":"jane","door":"password","reason":"password","count":2`,
			`user:jane {"user":"jane","door":"token","reason":"expired","count":1`,
			`user:off {"user":"off","door":"password","reason":"disabled","count":1`,
			`user:off {"user":"off","door":"token","reason":"disabled","count":1`,
			`user:over {"user":"over","door":"password","reason":"expired","count":1`,
			`user:over {"user":"over","door":"token","reason":"expired","count":1`,
		}
		var got []string
		for _, ev := range events {
			var data told
			if err := json.Unmarshal(ev.Data, &data); err != nil || data.From != "127.0.0.1" || ev.Actor != "" || ev.RequestID == "" {
				t.Errorf("%v: %+v of %q in %q", err, data, ev.Actor, ev.RequestID)
			}
			got = append(got, fmt.Sprintf(`%s {"user":%q,"door":%q,"reason":%q,"count":%d`, ev.Subject, data.User, data.Door, data.Reason, data.Count))
			if data.Count == 2 && data.Door == "password" &&
				(data.Since != "2026-05-04T10:00:00Z" || data.Until != "2026-05-04T10:00:20Z" || ev.RequestID != last.header.Get("X-Request-Id")) {
				t.Errorf("%+v in %q", data, ev.RequestID)
			}
			for _, secret := range typed {
				if strings.Contains(string(ev.Data)+ev.Subject, secret) {
					t.Errorf("%s has what was typed: %s", ev.Data, secret)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if more := s.events(); len(more) != 0 {
			t.Errorf("told twice: %v", more)
		}
		s.want(200, s.do("POST", "/auth-token", "", login("jane", "password of jane")))
		if more := s.events(); len(more) != 0 {
			t.Errorf("of one who was let in: %v", more)
		}
	})
}

// TestRefusedSignInsDoNotFillTheTrail: whoever tries from many addresses and
// with many names makes few events, which count all of them.
func TestRefusedSignInsDoNotFillTheTrail(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		c := config()
		c.Throttle = user.Throttle{} // off
		s := telling(t, d, c)
		for i := range 300 {
			name := "admin"
			if i%3 == 0 {
				name = fmt.Sprint("nobody", i)
			}
			if _, err := s.SignIn(t.Context(), name, "wrong", fmt.Sprintf("192.0.%d.%d", i/250, i%250)); err == nil {
				t.Fatal("signed in")
			}
		}
		for i := range 50 { // one network of IPv6
			_, _ = s.SignIn(t.Context(), "admin", "wrong", fmt.Sprintf("2001:db8::%x", i))
		}
		sum, several := 0, 0
		all := s.list()
		for _, e := range all {
			sum += e.Count
			if e.Reason == "several" {
				several++
				if e.User != "" || e.From != "" || e.Door != "" {
					t.Errorf("%+v", e)
				}
			}
		}
		if len(all) != 41 || sum != 350 || several != 1 {
			t.Errorf("%d events that count %d, %d of several", len(all), sum, several)
		}
		if all := s.list(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
		for i := range 3 {
			_, _ = s.SignIn(t.Context(), "admin", "wrong", fmt.Sprintf("2001:db8::%x", i))
		}
		if all := s.list(); len(all) != 1 || all[0].Count != 3 || all[0].From != "2001:db8::2" {
			t.Errorf("%+v", all)
		}
	})
}

// TestWhatIsTurnedAwayIsNotInTheTrail: the throttle comes first.
func TestWhatIsTurnedAwayIsNotInTheTrail(t *testing.T) {
	s := telling(t, sqlite(t), config())
	for i := range 25 {
		if status := s.do("POST", "/auth-token", "", login("admin", "wrong")).status; status != map[bool]int{true: 401, false: 429}[i < 10] {
			t.Fatalf("attempt %d: %d", i, status)
		}
	}
	if all := s.list(); len(all) != 1 || all[0].Count != 10 {
		t.Errorf("%+v", all)
	}
}

// TestWhatCouldNotBeToldIsToldLater: nothing is lost when the database does not
// take it.
func TestWhatCouldNotBeToldIsToldLater(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := telling(t, d, config())
		s.want(401, s.do("POST", "/auth-token", "", login("admin", "wrong")))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.TellRefusals(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		s.clock.Advance(time.Second)
		s.want(401, s.do("POST", "/auth-token", "", login("admin", "wrong")))
		events := s.events()
		if len(events) != 1 || !strings.Contains(string(events[0].Data), `"count":2,"door":"password","from":"127.0.0.1","reason":"password","since":"2026-05-04T10:00:00Z"`) {
			t.Errorf("%v", events)
		}
	})
}
