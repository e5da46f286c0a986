package user_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/modules/user"
)

func TestProfile(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("Bare", func(u *user.User) { u.Email = "" })
		s.user("full", func(u *user.User) {
			u.DisplayName, u.Locale, u.LocalePreferred = `Jané "J" <Doe>`, "en", "fr_BE"
			u.Circles, u.ExpiresAt = []string{"circle:abc"}, time.Date(2030, 1, 2, 3, 4, 5, 678900000, time.UTC)
			u.Options = []byte(`{"simplified_ui":true,"more":1,"custom_options":[{"n":1.0}]}`)
		}, "author", auth.RoleAPI)
		bare, full := s.token("bare"), s.token("full")
		for _, c := range []struct{ token, want string }{
			{bare, `{"id":2,"username":"Bare","displayName":"Bare","roles":["ROLE_USER"],"email":"","circles":[],"lastLogin":null,"expirationDate":null,` +
				`"language":"en","locale":"en","localePreferred":null,"userOptions":{"simplified_ui":false,"allowed_configure_wysiwyg":false,"custom_options":[]}}`},
			{full, `{"id":3,"username":"full","displayName":"Jané \"J\" <Doe>","roles":["ROLE_AUTHOR","ROLE_API","ROLE_USER"],"email":"full@example.org",` +
				`"circles":["circle:abc"],"lastLogin":null,"expirationDate":"2030-01-02T03:04:05+00:00","language":"fr","locale":"en","localePreferred":"fr_BE",` +
				`"userOptions":{"simplified_ui":true,"allowed_configure_wysiwyg":false,"custom_options":[{"n":1.0}]}}`},
		} {
			if a := s.want(200, s.do("GET", "/api/user-profile", c.token, "")); strings.TrimSpace(a.body) != c.want {
				t.Errorf("got  %s\nwant %s", a.body, c.want)
			}
		}
		s.want(200, s.do("POST", "/auth-token", "", login("bare", "password of Bare")))
		if a := s.want(200, s.do("GET", "/json/user-profile", bare, "")); a.object(t)["lastLogin"] != "2026-05-04T10:00:00+00:00" {
			t.Errorf("%s", a.body)
		}
	})
}

func TestProfiles(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("zoe", nil, auth.RoleUserRead)
		s.user("Bob", nil, auth.RoleUserManagement)
		s.user("adam", nil, auth.RoleAdmin)
		s.user("api", nil, auth.RoleAPI, auth.RolePublisher)
		s.user("off", func(u *user.User) { u.Enabled = false }, auth.RoleUserRead)
		s.want(403, s.do("GET", "/api/user-profiles", s.token("api"), ""))
		s.want(401, s.do("GET", "/api/user-profiles", "", ""))
		for _, name := range []string{"zoe", "bob", "adam"} {
			a := s.want(200, s.do("GET", "/api/user-profiles", s.token(name), ""))
			var list []user.Profile
			if err := json.Unmarshal([]byte(a.body), &list); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range list {
				names = append(names, p.Username)
			}
			if got := strings.Join(names, " "); got != "adam admin api Bob zoe" {
				t.Errorf("%s sees %s", name, got)
			}
		}
	})
}
