package db_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
)

func TestListenersHearNotifications(t *testing.T) {
	d, err := db.Open(t.Context(), db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended := make(chan string), make(chan error)
	go func() { ended <- d.Listen(ctx, `a "channel"`, func(payload string) { heard <- payload }) }()
	got := []string{<-heard} // it listens now
	for _, payload := range []string{"one", "two"} {
		if err := d.Notify(t.Context(), `a "channel"`, payload); err != nil {
			t.Fatal(err)
		}
		got = append(got, <-heard)
	}
	if !slices.Equal(got, []string{"", "one", "two"}) {
		t.Errorf("heard %q", got)
	}
	err = d.InTx(t.Context(), func(ctx context.Context) error { return d.Notify(ctx, "a", "") })
	if err == nil {
		t.Error("notified inside a transaction")
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	go func() {
		ended <- d.Listen(t.Context(), "b", func(string) { heard <- "again" })
	}()
	<-heard
	end := db.SQL("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN \"b\"'")
	var n int
	if err := d.Row(t.Context(), end).Scan(&n); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if err := <-ended; err == nil {
		t.Error("no error although the connection broke")
	}
}

func TestNotificationsAreNothingOnSQLite(t *testing.T) {
	d, err := db.Open(t.Context(), db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	err = errors.Join(d.Notify(t.Context(), "a", ""), d.Listen(t.Context(), "a", func(string) { t.Error("heard something") }))
	if err != nil {
		t.Error(err)
	}
}

func TestLocalBelongsToOneTransaction(t *testing.T) {
	d, err := db.Open(t.Context(), db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	made := 0
	first := func() *int { made++; return new(int) }
	for range 2 {
		err := d.InTx(t.Context(), func(ctx context.Context) error {
			*db.Local(ctx, "a", first)++
			return d.InTx(ctx, func(ctx context.Context) error {
				*db.Local(ctx, "a", first)++
				if a, b := *db.Local(ctx, "a", first), *db.Local(ctx, "b", first); a != 2 || b != 0 {
					t.Errorf("a is %d, b is %d", a, b)
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if made != 4 {
		t.Errorf("%d were made", made)
	}
}
