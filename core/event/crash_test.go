package event_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
)

// The tests of this file and of share_test.go kill processes. A child is this
// test binary, told by the environment what to be.
const (
	childRole = "QUOIN_EVENT_TEST_CHILD"
	childPath = "QUOIN_EVENT_TEST_PATH"
	childURL  = "QUOIN_EVENT_TEST_URL"
	childName = "QUOIN_EVENT_TEST_NAME"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childRole) {
	case "writer":
		writerMain()
	case "worker":
		workerMain()
	default:
		os.Exit(m.Run())
	}
}

// child starts a child process and gives the lines it prints.
func child(t *testing.T, c db.Config, role, name string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childName+"="+name, childPath+"="+c.Path, childURL+"="+c.URL)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

func childDB() *db.DB {
	d, err := db.Open(context.Background(), db.Config{Path: os.Getenv(childPath), URL: os.Getenv(childURL)})
	check(err)
	return d
}

// check ends a child that cannot go on.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(3)
	}
}

// say prints a line in one write, so that a kill cannot cut it.
func say(words ...any) { _, _ = fmt.Fprintln(os.Stdout, words...) }

var (
	addThing = db.SQL("INSERT INTO thing (subject) VALUES (?)")
	addSeen  = db.SQL("INSERT INTO seen (event_id, subject) VALUES (?, ?)")
)

// subscribers that write down what they get: "seen" in a transaction of its
// own, "effect" in that of its deliveries.
func recorders(d *db.DB) []event.Subscription {
	record := func(s *db.Statement) func(context.Context, []event.Event) error {
		return func(ctx context.Context, events []event.Event) error {
			return d.InTx(ctx, func(ctx context.Context) error {
				for _, ev := range events {
					if err := d.Queue(ctx, s, ev.ID, ev.Subject); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	return []event.Subscription{
		{Name: "seen", Patterns: []string{"thing.*"}, Batch: 20, Handle: record(addSeen)},
		{Name: "effect", Patterns: []string{"thing.made", "thing.*"}, Batch: 20, Transactional: true, Handle: record(addEffect)},
	}
}

// writerMain writes things with their events on eight goroutines, one to three
// in a transaction, and prints each subject after its commit. It runs until it
// is killed.
func writerMain() {
	d := childDB()
	b := event.New(d, event.Options{Log: slog.New(slog.DiscardHandler)})
	check(b.Register(recorders(d), nil))
	check(b.Start(context.Background()))
	undone := errors.New("undone")
	for w := range 8 {
		go func() {
			for n := 0; ; n++ {
				var subjects []string
				err := d.InTx(context.Background(), func(ctx context.Context) error {
					subjects = nil
					for k := range 1 + n%3 {
						subject := fmt.Sprintf("%s-%d-%d-%d", os.Getenv(childName), w, n, k)
						if _, err := d.Exec(ctx, addThing, subject); err != nil {
							return err
						}
						if err := b.Emit(ctx, event.Event{Type: "thing.made", Subject: subject}); err != nil {
							return err
						}
						subjects = append(subjects, subject)
					}
					if n%10 == 9 {
						return undone
					}
					return nil
				})
				if !errors.Is(err, undone) {
					check(err)
					say(strings.Join(subjects, "\n"))
				}
			}
		}()
	}
	select {}
}

const kills = 12

// TestNothingIsLostWhenTheProcessIsKilled kills a process that writes and
// delivers, again and again at random instants, and looks after each time.
func TestNothingIsLostWhenTheProcessIsKilled(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { killAgainAndAgain(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}) })
	t.Run("postgres", func(t *testing.T) { killAgainAndAgain(t, db.Config{URL: testkit.Postgres(t)}) })
}

func killAgainAndAgain(t *testing.T, c db.Config) {
	must(t, migrated(t, c).Close())
	acknowledged := map[string]bool{}
	for round := range kills {
		cmd, lines := child(t, c, "writer", fmt.Sprint(round))
		for n := 1 + rand.IntN(600); lines.Scan(); n-- {
			acknowledged[lines.Text()] = true
			if n == 0 {
				must(t, cmd.Process.Kill())
			}
		}
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("the child ended by itself: %s", cmd.ProcessState)
		}
		look(t, c, acknowledged)
	}
	deliverTheRest(t, c, acknowledged)
}

// look checks what a killed process left.
func look(t *testing.T, c db.Config, acknowledged map[string]bool) {
	t.Helper()
	d, err := db.Open(t.Context(), c)
	must(t, err)
	defer func() { must(t, d.Close()) }()
	checkThings(t, d, acknowledged)
	for what, query := range map[string]string{
		"things without an event":            "SELECT count(*) FROM thing WHERE subject NOT IN (SELECT subject FROM event)",
		"events without a thing":             "SELECT count(*) FROM event WHERE subject NOT IN (SELECT subject FROM thing)",
		"things with two events":             "SELECT count(*) FROM (SELECT subject FROM event GROUP BY subject HAVING count(*) > 1) AS x",
		"deliveries without an event":        "SELECT count(*) FROM event_delivery WHERE event_id NOT IN (SELECT id FROM event)",
		"deliveries twice":                   "SELECT count(*) FROM (SELECT event_id FROM event_delivery GROUP BY event_id, queue HAVING count(*) > 1) AS x",
		"events neither waiting nor seen":    "SELECT count(*) FROM event WHERE id NOT IN (SELECT event_id FROM event_delivery WHERE queue = 'seen') AND id NOT IN (SELECT event_id FROM seen)",
		"events neither waiting nor done":    "SELECT count(*) FROM event WHERE id NOT IN (SELECT event_id FROM event_delivery WHERE queue = 'effect') AND id NOT IN (SELECT event_id FROM effect)",
		"events done and waiting":            "SELECT count(*) FROM effect WHERE event_id IN (SELECT event_id FROM event_delivery WHERE queue = 'effect')",
		"events done twice":                  "SELECT count(*) FROM (SELECT event_id FROM effect GROUP BY event_id HAVING count(*) > 1) AS x",
		"events seen that are not there":     "SELECT count(*) FROM seen WHERE event_id NOT IN (SELECT id FROM event)",
		"deliveries buried for being killed": "SELECT count(*) FROM event_delivery WHERE buried_at IS NOT NULL",
	} {
		if n := count(t, d, query); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}

func checkThings(t *testing.T, d *db.DB, acknowledged map[string]bool) {
	t.Helper()
	rows, err := d.Query(t.Context(), db.SQL("SELECT subject FROM thing"))
	must(t, err)
	defer rows.Close()
	there := map[string]bool{}
	for rows.Next() {
		var subject string
		must(t, rows.Scan(&subject))
		there[subject] = true
		var name string
		var w, n, k int
		if _, err := fmt.Sscanf(strings.ReplaceAll(subject, "-", " "), "%s %d %d %d", &name, &w, &n, &k); err != nil || n%10 == 9 {
			t.Errorf("%s is there although it was rolled back (%v)", subject, err)
		}
	}
	must(t, rows.Err())
	for subject := range acknowledged {
		if !there[subject] {
			t.Errorf("%s was acknowledged and is lost", subject)
		}
	}
	if unacknowledged := len(there) - len(acknowledged); unacknowledged > 8*3*kills*10 {
		t.Errorf("%d of %d were not acknowledged", unacknowledged, len(there))
	}
}

// deliverTheRest works what is left, an hour later, when the leases of the
// killed have ended.
func deliverTheRest(t *testing.T, c db.Config, acknowledged map[string]bool) {
	d, err := db.Open(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	j := newJournal()
	b := event.New(d, event.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }, Observe: j.observe, Log: slog.New(slog.NewTextHandler(j, nil))})
	begin(t, b, recorders(d))
	j.until(t, "the deliveries' end", func() bool { return count(t, d, "SELECT count(*) FROM event_delivery") == 0 })
	events := count(t, d, "SELECT count(*) FROM event")
	seen, twice := count(t, d, "SELECT count(DISTINCT event_id) FROM seen"), count(t, d, "SELECT count(*) FROM seen")
	if done := count(t, d, "SELECT count(*) FROM effect"); events != seen || events != done || events < len(acknowledged) {
		t.Errorf("%d events, %d seen, %d done; %d acknowledged", events, seen, done, len(acknowledged))
	}
	t.Logf("%d kills; %d events, %d of them acknowledged; %d deliveries handled again", kills, events, len(acknowledged), twice-seen)
}
