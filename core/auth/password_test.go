package auth_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// cheap are the least parameters argon2id takes, for tests.
var cheap = auth.Params{Memory: 8, Time: 1, Threads: 1}

func TestPasswordsVerify(t *testing.T) {
	p := auth.NewPasswords(cheap, 2)
	hash, err := p.Hash(t.Context(), "correct horse")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=8,t=1,p=1$") {
		t.Fatalf("%q %v", hash, err)
	}
	again, err := p.Hash(t.Context(), "correct horse")
	if err != nil || again == hash {
		t.Errorf("two hashes of one password must differ: %v", err)
	}
	for _, c := range []struct {
		name, hash, password string
		ok, fails            bool
	}{
		{"right", hash, "correct horse", true, false},
		{"wrong", hash, "correct horsf", false, false},
		{"empty", hash, "", false, false},
		{"no account", "", "correct horse", false, false},
		{"no account, no password", "", "", false, false},
		{"endless", hash, strings.Repeat("x", auth.MaxPassword+1), false, false},
		{"hash of another kind", "$2y$10$abcdefghijklmnopqrstuv", "correct horse", false, true},
	} {
		before := p.Hashed()
		ok, stale, err := p.Verify(t.Context(), c.hash, c.password, nil)
		if ok != c.ok || stale || (err != nil) != c.fails {
			t.Errorf("%s: %v %v %v", c.name, ok, stale, err)
		}
		if !c.fails && p.Hashed() != before+1 {
			t.Errorf("%s: %d hashes computed, want one, or the time tells", c.name, p.Hashed()-before)
		}
	}
}

func TestAHashOfTheRFCIsUnderstood(t *testing.T) {
	// Made by the reference implementation: argon2 somesalt -id -t 2 -m 16 -p 1 -l 32, password "password".
	hash := "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	p := auth.NewPasswords(auth.DefaultParams(), 1)
	ok, stale, err := p.Verify(t.Context(), hash, "password", nil)
	if !ok || !stale || err != nil {
		t.Errorf("ok %v, stale %v: %v", ok, stale, err)
	}
}

func TestPasswordsRunAFewAtATime(t *testing.T) {
	p := auth.NewPasswords(cheap, 1)
	entered, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _, _ = p.Verify(context.Background(), "", "x", func() error { close(entered); <-leave; return nil })
	})
	<-entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Hash(ended, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that is gone must not wait: %v", err)
	}
	if p.Hashed() != 0 {
		t.Error("nobody hashes before it is its turn")
	}
	close(leave)
	wg.Wait()
	no := errors.New("no")
	if _, _, err := p.Verify(t.Context(), "", "x", func() error { return no }); !errors.Is(err, no) || p.Hashed() != 1 {
		t.Errorf("before must be able to end the attempt: %v, %d", err, p.Hashed())
	}
}

func TestPasswordsTurnACrowdAway(t *testing.T) {
	p := auth.NewPasswords(cheap, 1)
	entered, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _, _ = p.Verify(context.Background(), "", "x", func() error { close(entered); <-leave; return nil })
	})
	<-entered
	answers := make(chan error, 100)
	for range cap(answers) {
		wg.Go(func() {
			_, err := p.Hash(context.Background(), "x")
			answers <- err
		})
	}
	for range cap(answers) - 64 {
		var busy *problem.Problem
		if err := <-answers; !errors.As(err, &busy) || busy.Kind != problem.Unavailable || busy.RetryAfter <= 0 {
			t.Errorf("want Unavailable with a time to wait: %v", err)
		}
	}
	close(leave)
	wg.Wait()
}

func TestCheckPassword(t *testing.T) {
	for password, ok := range map[string]bool{
		"12345678": true, "1234567": false, "": false, "pässwörd": true, "tab\tinside": false,
		strings.Repeat("x", 1024): true, strings.Repeat("x", 1025): false, "\xff12345678": false,
		auth.NewPassword(): true,
	} {
		if err := auth.CheckPassword(password); (err == nil) != ok {
			t.Errorf("%.20q: %v", password, err)
		}
	}
}

func TestTokens(t *testing.T) {
	a, b := auth.NewToken(), auth.NewToken()
	if a == b || !auth.WellFormed(a) || !auth.WellFormed(b) || len(a) != 46 {
		t.Errorf("%q %q", a, b)
	}
	if auth.HashToken(a) == auth.HashToken(b) || auth.HashToken(a) != auth.HashToken(strings.Clone(a)) {
		t.Error("a hash belongs to one token")
	}
	for _, bad := range []string{"", "qn_", a[:45], a + "x", "xx_" + a[3:], a[:45] + "-", a[:45] + "\x00", strings.Repeat("A", 10_000)} {
		if auth.WellFormed(bad) {
			t.Errorf("%.50q is no token", bad)
		}
		auth.HashToken(bad)
	}
	if n := testing.AllocsPerRun(100, func() { auth.HashToken(a) }); n != 0 {
		t.Errorf("hashing a token allocates %v times", n)
	}
}

func FuzzWellFormed(f *testing.F) {
	f.Add("qn_0123456789012345678901234567890123456789abc")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if auth.WellFormed(s) && (len(s) != 46 || strings.ContainsAny(s, " \x00\"'-")) {
			t.Errorf("%q passed", s)
		}
		auth.HashToken(s)
	})
}

func BenchmarkHashToken(b *testing.B) {
	token := auth.NewToken()
	b.ReportAllocs()
	for b.Loop() {
		auth.HashToken(token)
	}
}

func BenchmarkPasswordVerify(b *testing.B) {
	p := auth.NewPasswords(auth.DefaultParams(), 1)
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = p.Verify(b.Context(), "", "password", nil)
	}
}

func TestThrottle(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	th := auth.NewThrottle(auth.ThrottleOptions{Burst: 2, Every: time.Minute, Keys: 4, Now: func() time.Time { return now }})
	wait := func(key string) time.Duration {
		err := th.Allow(key)
		if err == nil {
			return 0
		}
		var p *problem.Problem
		if !errors.As(err, &p) || p.Kind != problem.TooManyRequests {
			t.Fatalf("%v", err)
		}
		return p.RetryAfter
	}
	th.Failed("a")
	if wait("a") != 0 {
		t.Error("one of two failures is free")
	}
	th.Failed("a")
	if got := wait("a"); got != time.Minute {
		t.Errorf("wait %v after two failures", got)
	}
	if wait("b") != 0 {
		t.Error("another key is free")
	}
	now = now.Add(45 * time.Second)
	if got := wait("a"); got != 15*time.Second {
		t.Errorf("wait %v a quarter before", got)
	}
	now = now.Add(15 * time.Second)
	if wait("a") != 0 {
		t.Error("after a minute one more is allowed")
	}
	th.Failed("a")
	if wait("a") == 0 {
		t.Error("and only one")
	}
	now = now.Add(-time.Hour)
	if wait("a") == 0 {
		t.Error("a clock that goes back gives nothing")
	}
	th.Succeeded("a")
	if wait("a") != 0 || th.Len() != 0 {
		t.Error("success forgets the failures")
	}
}

func TestThrottleIsBoundedAndForgetsTheHarmlessFirst(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	th := auth.NewThrottle(auth.ThrottleOptions{Burst: 3, Every: time.Minute, Keys: 10, Now: func() time.Time { return now }})
	for range 3 {
		th.Failed("attacker")
	}
	for i := range 1000 {
		th.Failed(strings.Repeat("k", i+1))
	}
	if th.Len() != 10 || th.Allow("attacker") == nil {
		t.Errorf("%d keys; the attacker: %v", th.Len(), th.Allow("attacker"))
	}
	off := auth.NewThrottle(auth.ThrottleOptions{})
	off.Failed("x")
	if off.Allow("x") != nil || off.Len() != 0 {
		t.Error("a burst of 0 switches it off")
	}
}
