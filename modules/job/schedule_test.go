package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/modules/job"
)

func scheduleExport(properties map[string]any) []byte {
	b, err := json.Marshal(map[string]any{"class": `EMS\CoreBundle\Entity\Schedule`, "arguments": []any{}, "properties": properties, "replaced": []any{}})
	if err != nil {
		panic(err)
	}
	return b
}

func TestSchedules(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.stop() // only the test looks for what is due
		ctx := auth.With(t.Context(), testUsers()["admin"])
		schedules := job.Entities(s.Service)[1]
		put := func(properties map[string]any) error {
			_, err := schedules.Put(ctx, "", scheduleExport(properties))
			return err
		}
		// 10:00 UTC is 12:00 in Brussels in May
		for name, overlap := range map[string]string{"a": "", "b": "queue", "c": "allow"} {
			if err := put(map[string]any{"name": name, "cron": "30 12 * * *", "timezone": "Europe/Brussels", "command": "x", "tag": "t-" + name, "overlap": overlap, "extra": 1}); err != nil {
				t.Fatal(err)
			}
		}
		s.get("job-schedules").is(200)
		if got, err := schedules.Get(ctx, "a"); err != nil || strings.Contains(string(got), "nextRun") || !strings.Contains(string(got), `"extra":1`) {
			t.Errorf("%s %v", got, err)
		}
		if text := string(s.get("job-schedules").body); !strings.Contains(text, `"next_run":"2026-05-04T10:30:00+00:00"`) {
			t.Error(text)
		}
		for day := range 3 {
			for range 2 { // the second finds nothing due
				if err := s.RunDue(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if day == 0 {
				s.clock.Advance(31 * time.Minute)
			} else {
				s.clock.Advance(24 * time.Hour)
			}
		}
		if err := s.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		for tag, want := range map[string]int{"t-a": 1, "t-b": 2, "t-c": 3} {
			n := 0
			for s.post("worker", "next-job/"+tag, "[]").is(200).raw("job_id") != "" {
				n++
			}
			if n != want {
				t.Errorf("%s: %d jobs, want %d", tag, n, want)
			}
		}
		if id, err := schedules.Delete(ctx, "a"); err != nil || id == "" {
			t.Errorf("%q %v", id, err)
		}
		if _, err := schedules.Get(ctx, "a"); !problem.Is(err, problem.NotFound) {
			t.Error(err)
		}
	})
}

// TestAScheduleThatIsSavedWhileItIsDue: an import of the configuration that comes
// before the run does not take it away.
func TestAScheduleThatIsSavedWhileItIsDue(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.stop() // only the test looks for what is due
		ctx := auth.With(t.Context(), testUsers()["admin"])
		schedules := job.Entities(s.Service)[1]
		put := func(cron, command string) {
			t.Helper()
			if _, err := schedules.Put(ctx, "n", scheduleExport(map[string]any{"name": "n", "cron": cron, "command": command, "tag": "t", "overlap": "allow"})); err != nil {
				t.Fatal(err)
			}
		}
		jobs := func() (n int) {
			t.Helper()
			if err := s.RunDue(ctx); err != nil {
				t.Fatal(err)
			}
			if err := s.db.Row(ctx, db.SQL("SELECT count(*) FROM job")).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		put("30 10 * * *", "x")
		s.clock.Advance(31 * time.Minute)
		put("30 10 * * *", "y")
		if n := jobs(); n != 1 {
			t.Errorf("%d jobs", n)
		}
		put("30 10 * * *", "x")
		if n := jobs(); n != 1 {
			t.Errorf("%d jobs after it was saved again", n)
		}
		put("40 10 * * *", "x")
		if text := string(s.get("job-schedules").body); !strings.Contains(text, `"next_run":"2026-05-04T10:40:00+00:00"`) {
			t.Error(text)
		}
	})
}

// TestSchedulesAreInTheTrail: who made, changed and removed one is told with it,
// and not when nothing came of it.
func TestSchedulesAreInTheTrail(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		ctx := auth.With(t.Context(), testUsers()["admin"])
		schedules := job.Entities(s.Service)[1]
		put := func(change map[string]any) {
			t.Helper()
			p := map[string]any{"name": "nightly", "cron": "0 3 * * *", "command": "secret=1", "tag": "t"}
			maps.Copy(p, change)
			if _, err := schedules.Put(ctx, "", scheduleExport(p)); err != nil && change["cron"] != "no" {
				t.Fatal(err)
			}
		}
		about := func(cron, more string) string {
			return `{` + more + `"cron":"` + cron + `","from":"","overlap":"skip","schedule":"nightly","tag":"t","timezone":"UTC","user":"admin"}`
		}
		for _, c := range []struct {
			what      string
			do        func()
			kind, say string
		}{
			{"a new one", func() { put(nil) }, "admin.schedule.created", about("0 3 * * *", "")},
			{"the same again", func() { put(map[string]any{"nextRun": "never"}) }, "", ""},
			{"one that cannot be", func() { put(map[string]any{"cron": "no"}) }, "", ""},
			{"a change", func() { put(map[string]any{"cron": "0 4 * * *", "command": "secret=2"}) }, "admin.schedule.changed", about("0 4 * * *", `"changed":["cron","command"],`)},
			{"a transaction that fails", func() {
				_ = s.db.InTx(ctx, func(ctx context.Context) error {
					_, _ = s.RemoveSchedule(ctx, "nightly")
					return errors.New("no")
				})
			}, "", ""},
			{"a removal", func() {
				if _, err := schedules.Delete(ctx, "nightly"); err != nil {
					t.Error(err)
				}
			}, "admin.schedule.deleted", about("0 4 * * *", "")},
			{"one that is not there", func() {
				if _, err := schedules.Delete(ctx, "nightly"); !problem.Is(err, problem.NotFound) {
					t.Error(err)
				}
			}, "", ""},
		} {
			c.do()
			events := s.recorder.drain()
			if c.kind == "" {
				if len(events) != 0 {
					t.Errorf("%s: %v", c.what, events)
				}
				continue
			}
			if len(events) != 1 || events[0].Type != c.kind || events[0].Subject != "schedule:nightly" || events[0].Actor != "admin" || !sameJSON(events[0].Data, c.say) {
				t.Errorf("%s: %v, want %s %s", c.what, events, c.kind, c.say)
			}
		}
	})
}

// sameJSON tells whether two texts are the same value.
func sameJSON(a []byte, b string) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func TestSchedulesThatCannotBe(t *testing.T) {
	s := serve(t, nil)
	ctx := auth.With(t.Context(), testUsers()["admin"])
	schedules := job.Entities(s.Service)[1]
	for field, change := range map[string]map[string]any{
		"properties.name":     {"name": ""},
		"properties.cron":     {"cron": "0 0 30 2 *"},
		"properties.timezone": {"timezone": "Local"},
		"properties.overlap":  {"overlap": "no"},
		"command":             {"command": "a 'b", "tag": ""},
		"tag":                 {"tag": "a/b"},
	} {
		p := map[string]any{"name": "n", "cron": "0 3 * * *", "command": "x", "tag": "t"}
		for k, v := range change {
			p[k] = v
		}
		_, err := schedules.Put(ctx, "", scheduleExport(p))
		if fields := problem.From(err).Fields; !problem.Is(err, problem.Invalid) || len(fields) != 1 || fields[0].Path != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, cron := range []string{"", "* * * *", "60 * * * *", "* * * * * *", "TZ=UTC 0 0 * * *", "@every 1s", "\x00", strings.Repeat("1,", 5000)} {
		if _, err := schedules.Put(ctx, "", scheduleExport(map[string]any{"name": "n", "cron": cron, "command": "x", "tag": "t"})); !problem.Is(err, problem.Invalid) {
			t.Errorf("%.20q: %v", cron, err)
		}
	}
}

// A schedule that came with an export may name a command that is not there: it
// is kept, told about, and makes no jobs.
func TestScheduleOfAnUnknownCommand(t *testing.T) {
	s := serve(t, nil)
	ctx := auth.With(t.Context(), testUsers()["admin"])
	schedules := job.Entities(s.Service)[1]
	export := scheduleExport(map[string]any{"name": "n", "cron": "* * * * *", "command": "emsco:release:pub", "tag": ""})
	if _, err := schedules.Put(ctx, "", export); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(5 * time.Minute)
	if err := s.RunDue(ctx); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := s.db.Row(ctx, db.SQL("SELECT count(*) FROM job")).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d jobs, %v", n, err)
	}
	if got, err := schedules.Get(ctx, "n"); err != nil || !strings.Contains(string(got), "emsco:release:pub") {
		t.Errorf("%s %v", got, err)
	}
	if text := string(s.get("job-schedules").body); !strings.Contains(text, `"problem":"there is no such command"`) {
		t.Error(text)
	}
}

func FuzzCron(f *testing.F) {
	for _, seed := range []string{"* * * * *", "*/5 0-3 1,15 * MON", "@daily", "@every 1h", "TZ=Asia/Tokyo 0 0 * * *", "0 0 31 2 *", "1-60/0 * * * *"} {
		f.Add(seed, "UTC")
	}
	f.Fuzz(func(_ *testing.T, cron, zone string) {
		_, _ = (&job.Schedule{Cron: cron, Zone: zone}).After(time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC))
	})
}
