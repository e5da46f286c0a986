package cli_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
)

// TestTheDoctorFindsFaults makes one fault after the other in a server that
// runs, and wants its row.
func TestTheDoctorFindsFaults(t *testing.T) {
	url := testkit.Postgres(t, testkit.WithoutFsync())
	vars := variables(filepath.Join(t.TempDir(), "data"), "QUOIN_DATABASE_URL="+url)
	s := serve(t, vars, "--samples")
	token := s.token()
	s.send(token, "POST", "/api/data/page/index?refresh=true", `{"label":"a"}`, nil)
	d, err := db.Open(t.Context(), db.Config{URL: url, Version: program().Version})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	sql := func(text string) {
		t.Helper()
		if _, err := d.Exec(t.Context(), db.SQL(text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for _, c := range []struct {
		name   string
		fault  string
		check  string
		level  string
		says   string
		do     string
		repair string
	}{
		{"work that was given up", `INSERT INTO event_delivery (event_id, queue, due_at, attempt, created_at, buried_at, last_error) VALUES (1, 'crm', 1, 20, 1, 1, 'no')`,
			"work", "warn", "event_delivery crm: 1 were given up", "quoin events retry crm", `DELETE FROM event_delivery WHERE queue = 'crm'`},
		{"work that is late", `INSERT INTO event_delivery (event_id, queue, due_at, attempt, created_at) VALUES (1, 'crm', HOUR_AGO, 0, 1)`,
			"work", "warn", "event_delivery crm: the oldest of 1 has been due for 1h0m", "does the server run", `DELETE FROM event_delivery WHERE queue = 'crm'`},
		{"a subscriber that nobody serves", `INSERT INTO event_subscriber (name, pattern, low, high, heartbeat_at) VALUES ('crm', 'x', 'x', 'x', 1)`,
			"", "", "", "", ``},
		{"and for which events wait", `INSERT INTO event_delivery (event_id, queue, due_at, attempt, created_at) VALUES (1, 'crm', IN_AN_HOUR, 0, 1)`,
			"work", "warn", "nobody has served the subscriber crm for a day", "quoin events drop crm", `DELETE FROM event_delivery WHERE queue = 'crm'`},
		{"an index that has more", `UPDATE content_publication SET environment_id = -environment_id`,
			"index", "warn", "the database has 0 documents and the index 1", "quoin environment reindex", `UPDATE content_publication SET environment_id = -environment_id`},
		{"a clock that is wrong", `CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT pg_catalog.clock_timestamp() + interval ''1 hour'''`,
			"clock", "fail", "are 1h0m", "NTP", `DROP FUNCTION public.clock_timestamp()`},
		{"a newer version has added", `INSERT INTO migration_audit (name, group_id, migrated_at) VALUES ('777', 9, now())`,
			"migrations", "warn", "a newer version has added to the database: audit 777", "finish the upgrade", `DELETE FROM migration_audit WHERE name = '777'`},
		{"a migration is pending", `UPDATE migration_audit SET name = '000' WHERE name = '001'`,
			"migrations", "fail", "1 migrations are pending, the first one is audit 001_init", "quoin migrate up", `UPDATE migration_audit SET name = '001' WHERE name = '000'`},
	} {
		now := time.Now()
		sql(strings.NewReplacer("HOUR_AGO", micros(now.Add(-time.Hour)), "IN_AN_HOUR", micros(now.Add(time.Hour))).Replace(c.fault))
		if c.check == "" {
			continue
		}
		examined := vars
		if c.check == "clock" { // own functions come before those of the system
			examined = append(vars[:len(vars):len(vars)], "QUOIN_DATABASE_URL="+url+"&search_path=public,pg_catalog")
		}
		found, err := diagnose(t, examined)
		if f := found[c.check]; f.Level != c.level || !strings.Contains(f.Says, c.says) || !strings.Contains(f.Do, c.do) || (err != nil) != (c.level == "fail") {
			t.Errorf("%s: %+v, %v", c.name, f, err)
		}
		sql(c.repair)
	}
	sql(`DELETE FROM event_subscriber WHERE name = 'crm'`)
	found, err := diagnose(t, vars)
	for _, f := range found {
		if f.Level != "ok" {
			t.Errorf("after all repairs: %+v", f)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func micros(at time.Time) string { return strconv.FormatInt(db.Micros(at), 10) }

// TestTheDoctorFindsWhatIsAway: neither the database nor the bucket can be
// reached, and the folder cannot be used.
func TestTheDoctorFindsWhatIsAway(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	must(t, variables(folder), "user", "list")
	for check, c := range map[string]struct{ variable, says string }{
		"database":    {"QUOIN_DATABASE_URL=postgres://quoin:hidden@127.0.0.1:1/quoin", "refused"},
		"files":       {"QUOIN_BLOB__URL=s3://key:hidden@127.0.0.1:1/bucket?tls=false", "cannot be used"},
		"data folder": {"QUOIN_DATA=/dev/null", "is not a folder"},
	} {
		found, err := diagnose(t, variables(folder, c.variable))
		if f := found[check]; err == nil || f.Level != "fail" || !strings.Contains(f.Says, c.says) || strings.Contains(f.Says, "hidden") {
			t.Errorf("%s: %+v, %v", check, f, err)
		}
	}
}

// TestTheDoctorTellsWhichVersionsRun: processes on one PostgreSQL, in the middle
// of an upgrade and after it.
func TestTheDoctorTellsWhichVersionsRun(t *testing.T) {
	url := testkit.Postgres(t, testkit.WithoutFsync())
	vars := variables(filepath.Join(t.TempDir(), "data"), "QUOIN_DATABASE_URL="+url)
	must(t, vars, "migrate", "up")
	replicas := func(level string, says ...string) {
		t.Helper()
		found, _ := diagnose(t, vars)
		f := found["replicas"]
		for _, text := range says {
			if f.Level != level || !strings.Contains(f.Says, text) || (f.Do != "") != (level == "warn") {
				t.Errorf("%+v, want %s %q", f, level, text)
			}
		}
	}
	join := func(version string) (leave func()) {
		t.Helper()
		d, err := db.Open(t.Context(), db.Config{URL: url, Version: version})
		if err != nil {
			t.Fatal(err)
		}
		return func() { _ = d.Close() }
	}
	gone := func(n int) { // a connection that is closed is seen for a moment
		t.Helper()
		d, err := db.Open(t.Context(), db.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = d.Close() }()
		testkit.Eventually(t, func() bool {
			all, err := d.Processes(t.Context())
			return err == nil && len(all) == n+1
		})
	}
	gone(0)
	replicas("ok", "no other process")
	one, two, old := join("v1.2.3"), join("v1.2.3"), join("v1.2.2")
	replicas("warn", "1 of quoin v1.2.2 (", "2 of quoin v1.2.3 (", "this command is of quoin v1.2.3")
	old()
	gone(2)
	replicas("ok", "2 of quoin v1.2.3 (")
	one()
	two()
	newer := join("v1.3.0")
	gone(1)
	replicas("warn", "1 of quoin v1.3.0 (", "this command is of quoin v1.2.3")
	newer()
}
