package user

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// TestLastUse is inside the package because nothing outside waits for the
// background work.
func TestLastUse(t *testing.T) {
	d, err := db.Open(t.Context(), db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if _, err := d.Migrate(t.Context(), []db.Source{{Module: "user", Files: os.DirFS("migrations")}}); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	s := New(Options{DB: d, Config: Defaults(), Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }})
	ctx := auth.With(t.Context(), auth.System("test"))
	if err := s.Create(ctx, &User{Username: "jane", Enabled: true}, ""); err != nil {
		t.Fatal(err)
	}
	secret, token, err := s.CreateToken(ctx, "jane", "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	use := func(want time.Time) {
		t.Helper()
		if _, err := s.authn.Authenticate(ctx, secret); err != nil {
			t.Fatal(err)
		}
		k := &keeper{service: s}
		if err := k.start(ctx); err != nil {
			t.Fatal(err)
		}
		if err := k.stop(ctx); err != nil {
			t.Fatal(err)
		}
		stored, err := s.store.token(ctx, token.ID)
		if err != nil || !stored.LastUsedAt.Equal(want) {
			t.Errorf("last use %v, want %v: %v", stored.LastUsedAt, want, err)
		}
	}
	first := now
	use(first)
	now = now.Add(59 * time.Second)
	use(first) // at most once a minute
	now = now.Add(time.Second)
	use(now)
	s.authn.used[token.ID] = db.Micros(first) // another process was later
	use(now)

	now = token.ExpiresAt.Add(keepFor)
	for _, want := range []int64{0, 1} {
		n, err := s.store.deleteExpired(ctx, now.Add(-keepFor))
		if err != nil || n != want {
			t.Errorf("%d tokens swept, want %d: %v", n, want, err)
		}
		now = now.Add(time.Microsecond)
	}
	if err := (&keeper{service: s}).stop(ctx); err != nil {
		t.Errorf("stop without start: %v", err)
	}
}

func FuzzParseExport(f *testing.F) {
	f.Add([]byte(`{"class":"EMS\\CoreBundle\\Entity\\User","properties":{"username":"Jane","roles":["admin"],"enabled":true,"x":{"y":[1.0,null]},"z":""}}`))
	f.Add([]byte(`{"properties":{"expirationDate":"2030-01-02T03:04:05.123+02:00","userOptions":{"custom_options":[]},"localePreferred":null}}`))
	f.Add([]byte(`{"properties":[]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := parseExport(raw)
		if err != nil {
			return
		}
		u := &User{Username: "before", Locale: "en"}
		in.apply(u, "")
		if u.check("properties.") != nil {
			return
		}
		out := exportUser(u)
		if err := rawjson.CheckObject(out, rawjson.Limits{Depth: 66}); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		again, err := parseExport(out)
		if err != nil {
			t.Fatalf("what is written cannot be read: %v: %s", err, out)
		}
		v := &User{}
		again.apply(v, "")
		if err := v.check("properties."); err != nil || string(exportUser(v)) != string(out) {
			t.Fatalf("%v\nfirst  %s\nsecond %s", err, out, exportUser(v))
		}
	})
}
