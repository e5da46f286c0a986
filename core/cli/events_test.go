package cli_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

func TestEventsOfTheBus(t *testing.T) {
	vars := variables(filepath.Join(t.TempDir(), "data"))
	s := serve(t, vars, "--samples")
	s.send(s.token(), "POST", "/api/data/page/index", `{"label":"a"}`, nil)
	if out := must(t, vars, "events", "status"); !strings.Contains(out, "webhook") || !strings.Contains(out, "GIVEN UP") {
		t.Errorf("%s", out)
	}
	if out := must(t, vars, "events", "buried", "webhook", "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("%s", out)
	}
	if out := must(t, vars, "events", "retry", "webhook"); out != "0 events that webhook had given up are tried again.\n" {
		t.Errorf("%s", out)
	}
	if r := run(t, vars, "events", "retry", "nobody"); r.err == nil || !strings.Contains(r.err.Error(), "quoin events status") {
		t.Errorf("%v", r.err)
	}
}

// TestEventsOfANewDatabase asks where no server has run yet.
func TestEventsOfANewDatabase(t *testing.T) {
	vars := variables(filepath.Join(t.TempDir(), "data"))
	if r := run(t, vars, "events", "status"); r.err != nil {
		t.Error(r.err)
	}
}

// TestEventsDrop: a subscriber that is gone can be forgotten, one that somebody
// may serve cannot.
func TestEventsDrop(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	vars := variables(data)
	must(t, vars, "events", "status") // makes the database
	subscriber := func(heartbeat time.Time) {
		t.Helper()
		d, err := db.Open(t.Context(), db.Config{Path: filepath.Join(data, "quoin.db")})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			fmt.Sprintf(`INSERT INTO event_subscriber (name, pattern, low, high, heartbeat_at) VALUES ('crm', 'x', 'x', 'x', %d)`, db.Micros(heartbeat)),
			`INSERT INTO event (type, subject, data, at, actor, request_id, trace) VALUES ('x', '', 'null', 1, '', '', '')`,
			`INSERT INTO event_delivery (event_id, queue, due_at, attempt, created_at) SELECT max(id), 'crm', 1, 0, 1 FROM event`,
			`INSERT INTO event_delivery (event_id, queue, due_at, attempt, created_at, buried_at) SELECT max(id), 'crm', 1, 0, 1, 1 FROM event`,
		} {
			if _, err := d.Exec(t.Context(), db.SQL(text)); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	subscriber(time.Now().Add(-25 * time.Hour))
	if out := must(t, vars, "events", "drop", "crm"); out != "Forgot crm and dropped 2 events that waited for it.\n" {
		t.Errorf("%s", out)
	}
	if out := must(t, vars, "events", "status"); strings.Contains(out, "crm") {
		t.Errorf("it is still there: %s", out)
	}
	if r := run(t, vars, "events", "drop", "crm"); r.err == nil || !strings.Contains(r.err.Error(), "quoin events status") {
		t.Errorf("one that is not there: %v", r.err)
	}
	subscriber(time.Now())
	if r := run(t, vars, "events", "drop", "crm"); r.err == nil || !strings.Contains(r.err.Error(), "within the last day") {
		t.Errorf("one that may be served: %v", r.err)
	}
	if out := must(t, vars, "events", "status"); !strings.Contains(out, "crm") {
		t.Errorf("it is gone: %s", out)
	}
}
