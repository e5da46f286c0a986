package user_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/modules/user"
)

func TestChangesTakeEffectOnLiveTokensAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("jane", nil, auth.RoleAPI)
		token := s.token("jane")
		check := func(what string, status int, change func() error) {
			t.Helper()
			if err := change(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if a := s.do("GET", "/api/test", token, ""); a.status != status {
				t.Errorf("%s: %d %s", what, a.status, a.body)
			}
		}
		change := func(fn func(u *user.User)) func() error {
			return func() error {
				_, err := s.Change(root(t), "jane", func(u *user.User) error { fn(u); return nil })
				return err
			}
		}
		check("nothing", 200, func() error { return nil })
		check("disable", 403, change(func(u *user.User) { u.Enabled = false }))
		s.want(403, s.do("GET", "/api/user-profile", token, ""))
		check("enable", 200, change(func(u *user.User) { u.Enabled = true }))
		check("take the role", 403, change(func(u *user.User) { u.Roles = nil }))
		check("give the role", 200, change(func(u *user.User) { u.Roles = []string{auth.RoleAPI} }))
		check("expire", 401, change(func(u *user.User) { u.ExpiresAt = s.clock.Now() }))
		check("extend", 200, change(func(u *user.User) { u.ExpiresAt = s.clock.Now().Add(time.Millisecond) }))
		check("time passes", 401, func() error { s.clock.Advance(time.Millisecond); return nil })
		check("extend again", 200, change(func(u *user.User) { u.ExpiresAt = time.Time{} }))
		check("rename", 200, change(func(u *user.User) { u.Username = "janet" }))
		check("password", 200, func() error { _, err := s.SetPassword(root(t), "janet", "a new password", false); return err })
		check("password and tokens", 401, func() error { _, err := s.SetPassword(root(t), "janet", "a new password", true); return err })
		token = s.token("janet")
		check("another token", 200, func() error { return nil })
		check("delete", 401, func() error { _, err := s.Delete(root(t), "janet"); return err })
	})
}

func TestATokenInUseCostsNoQuery(t *testing.T) {
	s := start(t, sqlite(t))
	token := s.token("admin")
	authn, ctx := s.Authenticator(), t.Context()
	must := func(want uint64) {
		t.Helper()
		for range 5 {
			if _, err := authn.Authenticate(ctx, token); err != nil {
				t.Fatal(err)
			}
		}
		if got := authn.Loads(); got != want {
			t.Errorf("%d queries, want %d", got, want)
		}
	}
	must(1)
	s.clock.Advance(time.Second)
	must(1)
	s.clock.Advance(time.Microsecond)
	must(2)
	s.clock.Advance(-time.Hour) // a clock that is set back must not make it believe for an hour
	must(3)

	for range 5 {
		if _, err := authn.Authenticate(ctx, auth.NewToken()[:45]); !problem.Is(err, problem.Unauthenticated) {
			t.Error(err)
		}
	}
	must(3)
	unknown := auth.NewToken()
	for range 5 {
		if _, err := authn.Authenticate(ctx, unknown); !problem.Is(err, problem.Unauthenticated) {
			t.Error(err)
		}
	}
	must(4)
}

func TestAnotherProcessIsHeardWithinASecond(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		other := serve(t, d, config())
		s.user("jane", nil, auth.RoleAPI)
		token := s.token("jane")
		for _, c := range []struct {
			status int
			change func() error
		}{
			{403, func() error { _, err := other.SetEnabled(root(t), "jane", false); return err }},
			{200, func() error { _, err := other.SetEnabled(root(t), "jane", true); return err }},
			{401, func() error { _, err := other.SetPassword(root(t), "jane", "another one", true); return err }},
		} {
			s.do("GET", "/api/test", token, "")
			if err := c.change(); err != nil {
				t.Fatal(err)
			}
			s.clock.Advance(time.Second + time.Microsecond)
			s.want(c.status, s.do("GET", "/api/test", token, ""))
		}
	})
}

func TestManyWhoAskAtOnceShareOneQuery(t *testing.T) {
	s := start(t, sqlite(t))
	token := s.token("admin")
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if _, err := s.Authenticator().Authenticate(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := s.Authenticator().Loads(); got != 1 {
		t.Errorf("%d queries", got)
	}
}

// Every change must be seen by whoever asks after it was made, whatever else
// is going on.
func TestNoStaleAnswerSurvivesAChange(t *testing.T) {
	s := start(t, sqlite(t))
	s.user("jane", nil)
	token := s.token("jane")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				_, _ = s.Authenticator().Authenticate(ctx, token)
			}
		})
	}
	for i := range 100 {
		on := i%2 == 1
		if _, err := s.SetEnabled(root(t), "jane", on); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticator().Authenticate(t.Context(), token); (err == nil) != on {
			t.Fatalf("change %d: enabled %v, but: %v", i, on, err)
		}
	}
	cancel()
	wg.Wait()
}

func TestTheCacheIsBounded(t *testing.T) {
	c := config()
	c.CachedTokens = 16
	s := serve(t, sqlite(t), c)
	s.user("jane", nil)
	for range 200 {
		if _, err := s.Authenticator().Authenticate(t.Context(), s.token("jane")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticator().Authenticate(t.Context(), auth.NewToken()); err == nil {
			t.Fatal("an invented token works")
		}
		s.clock.Advance(time.Millisecond)
	}
	known, denied := s.Authenticator().Cached()
	if known > 16 || denied > 1024 || known == 0 || denied != 200 {
		t.Errorf("%d and %d entries", known, denied)
	}
}

func TestADatabaseThatFailsIsNotARefusal(t *testing.T) {
	d := sqlite(t)
	s := start(t, d)
	token := s.token("admin")
	if err := d.InTx(t.Context(), func(ctx context.Context) error {
		_, err := d.Exec(ctx, db.SQL(`ALTER TABLE user_token RENAME TO gone`))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	a := s.want(503, s.do("GET", "/api/test", token, ""))
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	_, err := s.Authenticator().Authenticate(t.Context(), token)
	var p *problem.Problem
	if !errors.As(err, &p) || p.Cause == nil {
		t.Errorf("%v", err)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	d := sqlite(b)
	s := user.New(user.Options{DB: d, Config: config(), Log: discard()})
	ctx := root(b)
	if err := s.EnsureAdmin(ctx, func(string) {}); err != nil {
		b.Fatal(err)
	}
	token, _, err := s.CreateToken(ctx, "admin", "bench", user.Unlimited)
	if err != nil {
		b.Fatal(err)
	}
	authn := s.Authenticator()
	b.Run("hit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := authn.Authenticate(ctx, token); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hit on every processor", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := authn.Authenticate(ctx, token); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("unknown, with its query", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = authn.Authenticate(ctx, auth.NewToken())
		}
	})
}
