package user_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/modules/user"
)

func TestProxyAuthenticate(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("sso", nil, auth.RoleAPI, auth.RoleUserManagement)
		s.user("noapi", nil, auth.RoleUserManagement)
		s.user("nomanager", nil, auth.RoleAPI, auth.RolePublisher)
		s.user("jane", func(u *user.User) { u.Email = "Jane@Example.org" }, auth.RolePublisher)
		s.user("john", nil)
		s.user("off", func(u *user.User) { u.Enabled = false })
		s.user("over", func(u *user.User) { u.ExpiresAt = s.clock.Now().Add(-time.Second) })
		s.user("chief", nil, auth.RoleAdmin)
		for _, c := range []struct {
			caller, username, email string
			status                  int
			become                  string
		}{
			{"sso", "whoever", "jane@example.ORG", 200, "jane"},
			{"sso", "JOHN", "nobody@example.org", 200, "john"},
			{"sso", "john", "jane@example.org", 200, "jane"}, // the address goes first
			{"sso", "sso", "sso@example.org", 200, "sso"},
			{"sso", "nobody", "nobody@example.org", 404, ""},
			{"sso", "off", "off@example.org", 403, ""},
			{"sso", "over", "over@example.org", 403, ""},
			{"sso", "chief", "chief@example.org", 403, ""},
			{"sso", "admin", "x@example.org", 403, ""},
			{"sso", "", "jane@example.org", 200, "jane"},
			{"sso", "", "nobody@example.org", 404, ""},
			{"sso", "jane", "", 200, "jane"}, // and not any account without an address
			{"sso", "jane", " ", 200, "jane"},
			{"sso", "nobody", "", 404, ""},
			{"sso", "", "", 400, ""},
			{"sso", " ", " ", 400, ""},
			{"noapi", "john", "john@example.org", 403, ""},
			{"nomanager", "john", "john@example.org", 403, ""},
			{"admin", "chief", "chief@example.org", 200, "chief"},
			{"chief", "john", "john@example.org", 403, ""}, // ROLE_API is implied by nothing
		} {
			token, before := s.token(c.caller), s.rows()
			a := s.want(c.status, s.do("POST", "/api/user/proxy-authenticate", token, fmt.Sprintf(`{"username":%q,"email":%q,"group":"x"}`, c.username, c.email)))
			if c.status != 200 {
				if s.rows() != before {
					t.Errorf("%+v: a refusal has written something", c)
				}
				continue
			}
			v := a.object(t)
			became := v["token"].(string)
			if v["success"] != true || len(v) != 2 {
				t.Errorf("%s", a.body)
			}
			for _, header := range []string{became, "Bearer " + became} {
				if p := s.want(200, s.do("GET", "/api/user-profile", header, "")).object(t); p["username"] != c.become || p["lastLogin"] == nil {
					t.Errorf("%+v: became %v", c, p)
				}
			}
			id, err := s.Authenticator().Authenticate(t.Context(), became)
			if err != nil || id.Actor != c.caller {
				t.Errorf("%+v: actor %q, %v", c, id.Actor, err)
			}
			s.clock.Advance(12 * time.Hour)
			s.want(401, s.do("GET", "/api/user-profile", became, ""))
			s.want(200, s.do("GET", "/api/user-profile", token, ""))
		}
	})
}

func TestATokenThatActsEndsWithItsActor(t *testing.T) {
	s := start(t, sqlite(t))
	s.user("sso", nil, auth.RoleAPI, auth.RoleUserManagement)
	s.user("second", nil, auth.RoleAPI, auth.RoleUserManagement)
	s.user("jane", nil)
	become := func(token, name string) string {
		t.Helper()
		body := fmt.Sprintf(`{"username":%q,"email":"%s@example.org"}`, name, name)
		return s.want(200, s.do("POST", "/api/user/proxy-authenticate", token, body)).object(t)["token"].(string)
	}
	acting := become(s.token("sso"), "second")
	s.want(403, s.do("POST", "/api/user/tokens", acting, `{"name":"for ever"}`))
	s.clock.Advance(time.Hour)
	chained := become(acting, "jane")
	id, err := s.Authenticator().Authenticate(t.Context(), chained)
	if err != nil || id.Actor != "sso" || id.Username != "jane" {
		t.Fatalf("%+v %v", id, err)
	}
	s.clock.Advance(11 * time.Hour)
	s.want(401, s.do("GET", "/api/user-profile", chained, "")) // not later than the one it came from

	chained = become(become(s.token("sso"), "second"), "jane")
	s.want(200, s.do("GET", "/api/user-profile", chained, ""))
	if _, err := s.SetEnabled(root(t), "sso", false); err != nil {
		t.Fatal(err)
	}
	s.want(401, s.do("GET", "/api/user-profile", chained, ""))
	if _, err := s.SetEnabled(root(t), "sso", true); err != nil {
		t.Fatal(err)
	}
	s.want(200, s.do("GET", "/api/user-profile", chained, ""))
	if _, err := s.Delete(root(t), "sso"); err != nil {
		t.Fatal(err)
	}
	s.want(401, s.do("GET", "/api/user-profile", chained, ""))
}

// A new password with which all tokens end ends those as well that somebody got
// with the old one to act for others.
func TestANewPasswordEndsTokensThatAct(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("sso", nil, auth.RoleAPI, auth.RoleUserManagement)
		s.user("jane", nil, auth.RoleAPI)
		own, others := s.token("sso"), s.token("jane")
		acting := s.want(200, s.do("POST", "/api/user/proxy-authenticate", own, `{"username":"jane","email":"jane@example.org"}`)).object(t)["token"].(string)
		if _, err := s.SetPassword(root(t), "sso", "another password", true); err != nil {
			t.Fatal(err)
		}
		s.want(401, s.do("GET", "/api/test", own, ""))
		s.want(401, s.do("GET", "/api/test", acting, ""))
		s.want(200, s.do("GET", "/api/test", others, ""))
	})
}

// Who could not become somebody any more does not go on as that user either.
func TestATokenThatActsFollowsTheRolesOfBoth(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("sso", nil, auth.RoleAPI, auth.RoleUserManagement)
		s.user("jane", nil, auth.RoleAPI)
		body := `{"username":"jane","email":"jane@example.org"}`
		acting := s.want(200, s.do("POST", "/api/user/proxy-authenticate", s.token("sso"), body)).object(t)["token"].(string)
		own := s.token("jane")
		roles := func(name string, roles ...string) {
			t.Helper()
			if _, err := s.Change(root(t), name, func(u *user.User) error { u.Roles = roles; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		s.want(200, s.do("GET", "/api/test", acting, ""))
		roles("jane", auth.RoleAPI, auth.RoleAdmin)
		s.want(200, s.do("GET", "/api/test", own, ""))
		s.want(401, s.do("GET", "/api/test", acting, ""))
		roles("sso", auth.RoleAPI, auth.RoleAdmin)
		s.want(200, s.do("GET", "/api/test", acting, ""))
		roles("jane", auth.RoleAPI)
		roles("sso", auth.RoleAPI)
		s.want(401, s.do("GET", "/api/test", acting, ""))
		s.want(200, s.do("GET", "/api/test", own, ""))
	})
}

func TestTokens(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("jane", nil, auth.RoleAPI)
		s.user("boss", nil, auth.RoleAPI, auth.RoleUserManagement)
		jane, boss := s.token("jane"), s.token("boss")
		a := s.want(200, s.do("POST", "/api/user/tokens", jane, `{"name":"deploy","expires_in":3600,"more":true}`)).object(t)
		deploy := a["token"].(string)
		if a["success"] != true || a["acknowledged"] != true || a["name"] != "deploy" || a["expires_at"] != "2026-05-04T11:00:00+00:00" {
			t.Errorf("%v", a)
		}
		s.want(200, s.do("GET", "/api/test", deploy, ""))

		long := s.want(200, s.do("POST", "/api/user/tokens", deploy, `{"name":"long"}`)).object(t)
		if long["expires_at"] != a["expires_at"] {
			t.Errorf("it outlasts the token it was made with: %v", long)
		}
		short := s.want(200, s.do("POST", "/api/user/tokens", long["token"].(string), `{"name":"short","expires_in":60}`)).object(t)
		if short["expires_at"] != "2026-05-04T10:01:00+00:00" {
			t.Errorf("%v", short)
		}
		s.want(400, s.do("POST", "/api/user/tokens", jane, `{"name":"login"}`))
		brief := s.want(200, s.do("POST", "/api/user/tokens", boss, `{"name":"brief","expires_in":60}`)).object(t)
		acting := s.want(200, s.do("POST", "/api/user/proxy-authenticate", brief["token"].(string), `{"username":"jane","email":"jane"}`)).object(t)["token"].(string)
		s.want(200, s.do("GET", "/api/test", acting, ""))
		if l, err := s.Tokens(root(s), "jane"); err != nil || l[len(l)-1].ExpiresAt.After(s.clock.Now().Add(time.Minute)) {
			t.Errorf("it acts longer than it lives: %v %v", l[len(l)-1], err)
		} else if _, err := s.Revoke(root(s), l[len(l)-1].ID); err != nil {
			t.Error(err)
		}
		s.want(200, s.do("DELETE", "/api/user/tokens/"+brief["id"].(string), boss, ""))
		for _, made := range []map[string]any{long, short} {
			s.want(200, s.do("DELETE", "/api/user/tokens/"+made["id"].(string), jane, ""))
		}

		list := func(token, query string) []map[string]any {
			t.Helper()
			a := s.want(200, s.do("GET", "/api/user/tokens"+query, token, ""))
			if strings.Contains(a.body, deploy) || strings.Contains(a.body, jane) {
				t.Error("a token is shown")
			}
			var l []map[string]any
			if err := json.Unmarshal([]byte(a.body), &l); err != nil {
				t.Fatal(err)
			}
			return l
		}
		own := list(jane, "")
		if len(own) != 2 || own[1]["name"] != "deploy" || own[1]["hint"] != deploy[:8] || own[0]["current"] != true || own[1]["current"] != false ||
			own[1]["created_by"] != "jane" || own[0]["expires_at"] != nil {
			t.Errorf("%v", own)
		}
		if l := list(jane, "?username=JANE"); len(l) != 2 {
			t.Errorf("%v", l)
		}
		if l := list(boss, "?username=jane"); len(l) != 2 {
			t.Errorf("%v", l)
		}
		s.want(403, s.do("GET", "/api/user/tokens?username=boss", jane, ""))
		s.want(403, s.do("GET", "/api/user/tokens?username=nobody", jane, ""))
		s.want(404, s.do("GET", "/api/user/tokens?username=nobody", boss, ""))

		id, bossID := own[1]["id"].(string), list(boss, "")[0]["id"].(string)
		s.want(404, s.do("DELETE", "/api/user/tokens/"+bossID, jane, ""))
		s.want(404, s.do("DELETE", "/api/user/tokens/999999", jane, ""))
		s.want(200, s.do("GET", "/api/test", deploy, ""))
		if a := s.want(200, s.do("DELETE", "/api/user/tokens/"+id, jane, "[]")); a.body != `{"acknowledged":true,"success":true,"id":"`+id+`"}`+"\n" {
			t.Errorf("%s", a.body)
		}
		s.want(401, s.do("GET", "/api/test", deploy, ""))
		s.want(404, s.do("DELETE", "/api/user/tokens/"+id, jane, ""))
		s.want(200, s.do("DELETE", "/api/user/tokens/"+own[0]["id"].(string), boss, ""))
		s.want(401, s.do("GET", "/api/test", jane, ""))
	})
}
