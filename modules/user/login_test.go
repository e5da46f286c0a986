package user_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/modules/user"
)

func login(name, password string) string {
	b, _ := json.Marshal(map[string]string{"username": name, "password": password})
	return string(b)
}

func TestSignIn(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		a := s.want(200, s.do("POST", "/auth-token", "", login("Admin", "correct horse")))
		if !regexp.MustCompile(`^\{"acknowledged":true,"success":true,"authToken":"qn_[0-9A-Za-z]{43}"\}\n$`).MatchString(a.body) {
			t.Errorf("%s", a.body)
		}
		token := a.object(t)["authToken"].(string)
		for _, header := range []string{token, "Bearer " + token, "bearer  " + token} {
			if a := s.want(200, s.do("GET", "/api/test", header, "")); a.body != `{"acknowledged":true,"success":true}`+"\n" {
				t.Errorf("%s", a.body)
			}
		}
		s.want(200, s.do("GET", "/json/test", token, ""))
		if a := s.do("HEAD", "/api/test", token, ""); a.status != 200 || a.body != "" {
			t.Errorf("HEAD: %d %q", a.status, a.body)
		}
		admin, err := s.Get(t.Context(), "admin")
		if err != nil || !admin.LastLogin.Equal(s.clock.Now()) {
			t.Errorf("last login %v: %v", admin.LastLogin, err)
		}
		s.user("jane", func(u *user.User) { u.Email = "Jane@Example.org" })
		s.want(200, s.do("POST", "/auth-token", "", login("jane@example.ORG", "password of jane")))
	})
}

func TestEveryRefusalToSignInIsTheSame(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("off", func(u *user.User) { u.Enabled = false })
		s.user("over", func(u *user.User) { u.ExpiresAt = s.clock.Now() })
		if err := s.Create(root(t), &user.User{Username: "nopass", Enabled: true}, ""); err != nil {
			t.Fatal(err)
		}
		before := s.rows()
		var first map[string]any
		for name, body := range map[string]string{
			"wrong password":           login("admin", "wrong"),
			"unknown":                  login("nobody", "correct horse"),
			"no password":              `{"username":"admin"}`,
			"empty password":           login("admin", ""),
			"no username":              `{"password":"correct horse"}`,
			"nothing":                  `{}`,
			"an empty PHP array":       `[]`,
			"disabled":                 login("off", "password of off"),
			"expired":                  login("over", "password of over"),
			"without a password":       login("nopass", ""),
			"a name of another shape":  login(strings.Repeat("x", 3000), "x"),
			"a password without end":   login("admin", strings.Repeat("x", 3000)),
			"a name with a wildcard":   login("%", "correct horse"),
			"a name with SQL":          login("admin' OR '1'='1", "correct horse"),
			"a field nobody knows":     `{"username":"admin","password":"x","remember":true}`,
			"an address that is empty": login(" ", "password of off"),
		} {
			hashes := s.Passwords().Hashed()
			a := s.want(401, s.do("POST", "/auth-token", "", body))
			if got := s.Passwords().Hashed() - hashes; got != 1 {
				t.Errorf("%s: %d hashes computed, want one as for every other", name, got)
			}
			v := a.object(t)
			delete(v, "instance")
			if first == nil {
				first = v
			}
			if !reflect.DeepEqual(v, first) || v["detail"] != "Login authentication failed" {
				t.Errorf("%s differs: %v", name, v)
			}
			s.clock.Advance(time.Minute) // keeps the throttles out of it
		}
		if s.rows() != before {
			t.Error("a refused sign-in has written something")
		}
		if strings.Contains(s.log.String(), "correct horse") || strings.Contains(s.log.String(), "nobody") {
			t.Errorf("the log has what was typed:\n%s", s.log)
		}
	})
}

func TestGuessingIsSlowedDownPerAccount(t *testing.T) {
	s := start(t, sqlite(t))
	for name, account := range map[string]string{"known": "admin", "unknown": "nobody"} {
		for range 10 {
			s.want(401, s.do("POST", "/auth-token", "", login(account, "wrong")))
		}
		hashes := s.Passwords().Hashed()
		a := s.want(429, s.do("POST", "/auth-token", "", login(strings.ToUpper(account), "correct horse")))
		if a.header.Get("Retry-After") != "60" || s.Passwords().Hashed() != hashes {
			t.Errorf("%s: Retry-After %q, %d hashes", name, a.header.Get("Retry-After"), s.Passwords().Hashed()-hashes)
		}
	}
	s.user("jane", nil)
	s.want(200, s.do("POST", "/auth-token", "", login("jane", "password of jane")))
	s.clock.Advance(time.Minute)
	s.want(200, s.do("POST", "/auth-token", "", login("admin", "correct horse")))
	s.want(401, s.do("POST", "/auth-token", "", login("admin", "wrong")))
	s.want(200, s.do("POST", "/auth-token", "", login("admin", "correct horse")))
}

func TestGuessingIsSlowedDownPerAddress(t *testing.T) {
	c := config()
	c.Throttle.AddressBurst, c.Throttle.AddressEvery = 3, 10*time.Second
	s := serve(t, sqlite(t), c)
	s.user("jane", nil)
	for _, name := range []string{"a", "b", "c"} {
		s.want(401, s.do("POST", "/auth-token", "", login(name, "guess")))
	}
	a := s.want(429, s.do("POST", "/auth-token", "", login("jane", "password of jane")))
	if a.header.Get("Retry-After") != "10" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
	for _, address := range []string{"2001:db8::1", "2001:db8::2", "2001:db8::ffff:3"} {
		if _, err := s.SignIn(t.Context(), address, "guess", address); err == nil {
			t.Error("signed in")
		}
	}
	if _, err := s.SignIn(t.Context(), "jane", "password of jane", "2001:db8::4"); err == nil {
		t.Error("the addresses of one /64 count together")
	}
	if _, err := s.SignIn(t.Context(), "jane", "password of jane", "2001:db8:1::4"); err != nil {
		t.Errorf("another network: %v", err)
	}
}

func TestManyRightSignInsAtOnceAreNotGuessing(t *testing.T) {
	s := start(t, sqlite(t))
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			if _, err := s.SignIn(t.Context(), "admin", "correct horse", "192.0.2.1"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestAPasswordIsHashedAnewWithTodaysCosts(t *testing.T) {
	d := sqlite(t)
	s := start(t, d)
	old, _ := s.Get(t.Context(), "admin")
	c := config()
	c.Hashing.Passes = 2
	s = serve(t, d, c)
	for range 2 {
		s.want(200, s.do("POST", "/auth-token", "", login("admin", "correct horse")))
	}
	now, err := s.Get(t.Context(), "admin")
	if err != nil || now.PasswordHash == old.PasswordHash || !strings.Contains(now.PasswordHash, "t=2,") {
		t.Errorf("%s: %v", now.PasswordHash, err)
	}
}

// Who has a password that is changed at this moment gets no token that outlives
// it, though the old one was right when it was looked at.
func TestAPasswordThatIsChangedMeanwhileGivesNoToken(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		c := config()
		var s *user.Service
		var meanwhile func() // runs once, after the password was checked
		s = user.New(user.Options{DB: d, Config: c, Log: discard(), Now: func() time.Time {
			if do := meanwhile; do != nil {
				meanwhile = nil
				do()
			}
			return time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
		}})
		if err := s.Create(root(t), &user.User{Username: "jane", Enabled: true}, "the stolen one"); err != nil {
			t.Fatal(err)
		}
		must := func(_ *user.User, err error) {
			if err != nil {
				t.Error(err)
			}
		}
		meanwhile = func() { must(s.SetPassword(root(t), "jane", "the new one", true)) }
		if token, err := s.SignIn(t.Context(), "jane", "the stolen one", "192.0.2.1"); !problem.Is(err, problem.Unauthenticated) || token != "" {
			t.Errorf("with the old password: %q %v", token, err)
		}
		if tokens, err := s.Tokens(root(t), "jane"); err != nil || len(tokens) != 0 {
			t.Errorf("%d tokens, %v", len(tokens), err)
		}
		meanwhile = func() { must(s.SetPassword(root(t), "jane", "the new one", true)) } // another hash of the same
		token, err := s.SignIn(t.Context(), "jane", "the new one", "192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticator().Authenticate(t.Context(), token); err != nil {
			t.Error(err)
		}
		meanwhile = func() { must(s.Delete(root(t), "jane")) }
		if _, err := s.SignIn(t.Context(), "jane", "the new one", "192.0.2.1"); !problem.Is(err, problem.Unauthenticated) {
			t.Errorf("an account that is deleted meanwhile: %v", err)
		}
	})
}

func TestTheFirstStart(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		c := config()
		c.AdminUsername, c.AdminPassword = "root", ""
		s := serve(t, d, c)
		var said []string
		for range 2 {
			if err := s.EnsureAdmin(t.Context(), func(line string) { said = append(said, line) }); err != nil {
				t.Fatal(err)
			}
		}
		if len(said) != 1 {
			t.Fatalf("said %q", said)
		}
		m := regexp.MustCompile(`^Sign in as root with the password (\S{20}) \(shown only now\)\.$`).FindStringSubmatch(said[0])
		if m == nil {
			t.Fatal(said[0])
		}
		if strings.Contains(s.log.String(), m[1]) {
			t.Error("the password is in the log")
		}
		token := s.want(200, s.do("POST", "/auth-token", "", login("root", m[1]))).object(t)["authToken"].(string)
		id, err := s.Authenticator().Authenticate(t.Context(), token)
		if err != nil || !reflect.DeepEqual(id.Granted, auth.AllRoles()) {
			t.Errorf("%v %v", id, err)
		}
		c.AdminPassword = "another password"
		s = serve(t, d, c)
		if err := s.EnsureAdmin(t.Context(), func(string) { t.Error("said something") }); err != nil {
			t.Fatal(err)
		}
		s.want(401, s.do("POST", "/auth-token", "", login("root", "another password")))
	})
}

func TestTwoFirstStartsAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		var mu sync.Mutex
		var said []string
		var wg sync.WaitGroup
		for range 4 {
			s := serve(t, d, config())
			wg.Go(func() {
				err := s.EnsureAdmin(t.Context(), func(line string) { mu.Lock(); said = append(said, line); mu.Unlock() })
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(said) != 1 {
			t.Errorf("said %q", said)
		}
	})
}

func TestLifetimeOfLoginTokens(t *testing.T) {
	c := config()
	c.LoginTokenLifetime = time.Hour
	s := serve(t, sqlite(t), c)
	s.user("jane", nil)
	token := s.want(200, s.do("POST", "/auth-token", "", login("jane", "password of jane"))).object(t)["authToken"].(string)
	s.want(200, s.do(http.MethodGet, "/api/user-profile", token, ""))
	s.clock.Advance(time.Hour)
	s.want(401, s.do(http.MethodGet, "/api/user-profile", token, ""))
}
