package user_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/modules/user"
)

const janeExport = `{"class":"EMS\\CoreBundle\\Entity\\User","arguments":[],"properties":{` +
	`"username":"Jane","email":"jane@example.org","displayName":"Jane D","roles":["ROLE_AUTHOR","ROLE_API"],"circles":["circle:a"],"enabled":true,` +
	`"lastLogin":null,"expirationDate":"2030-01-02T03:04:05+00:00","locale":"en","localePreferred":"fr_BE",` +
	`"userOptions":{"simplified_ui":true,"custom_options":{"b":1.0,"a":[]}},` +
	`"layoutBoxed":false,"wysiwygProfile":{"z":1e2,"a":{}}},"replaced":[]}`

func TestEntity(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		var e port.Entity = user.NewEntity(s.Service)
		ctx := root(t)
		id, err := e.Put(ctx, "jane", []byte(janeExport))
		if err != nil || id != "2" {
			t.Fatalf("%q %v", id, err)
		}
		got, err := e.Get(ctx, "JANE")
		if err != nil || string(got) != janeExport {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, janeExport)
		}
		if names, err := e.List(ctx); err != nil || strings.Join(names, " ") != "admin Jane" {
			t.Errorf("%v %v", names, err)
		}
		s.want(401, s.do("POST", "/auth-token", "", login("jane", "")))
		token := s.token("jane")
		id, err = e.Put(ctx, "", []byte(`{"properties":{"username":"jane","plainPassword":"a good password","enabled":false,"lastLogin":"x","password":"$argon2id$x"}}`))
		if err != nil || id != "2" {
			t.Fatalf("%q %v", id, err)
		}
		s.want(403, s.do("GET", "/api/user-profile", token, ""))
		if _, err := e.Put(ctx, "jane", []byte(`{"properties":{"enabled":true,"expirationDate":null,"localePreferred":null}}`)); err != nil {
			t.Fatal(err)
		}
		s.want(200, s.do("POST", "/auth-token", "", login("jane", "a good password")))
		p := s.want(200, s.do("GET", "/api/user-profile", token, "")).object(t)
		if p["displayName"] != "Jane D" || p["expirationDate"] != nil || p["language"] != "en" {
			t.Errorf("%v", p)
		}
		got, err = e.Get(ctx, "jane")
		if err != nil || strings.Contains(string(got), "argon2") || strings.Contains(string(got), "assword") {
			t.Errorf("%v: a secret is exported: %s", err, got)
		}
		if id, err = e.Delete(ctx, "jane"); err != nil || id != "2" {
			t.Errorf("%q %v", id, err)
		}
		s.want(401, s.do("GET", "/api/user-profile", token, ""))
		if _, err := e.Get(ctx, "jane"); !problem.Is(err, problem.NotFound) {
			t.Error(err)
		}
		if _, err := e.Delete(ctx, "jane"); !problem.Is(err, problem.NotFound) {
			t.Error(err)
		}
	})
}

func TestAPathInAnotherSpellingRenamesNobody(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("Jane", nil)
		e := user.NewEntity(s.Service)
		if _, err := e.Put(root(t), "JANE", []byte(`{"properties":{"displayName":"Jane D"}}`)); err != nil {
			t.Fatal(err)
		}
		u, err := s.Get(t.Context(), "jane")
		if err != nil || u.Username != "Jane" || u.DisplayName != "Jane D" {
			t.Errorf("%+v %v", u, err)
		}
		if _, err := e.Put(root(t), "Eve", []byte(`{"properties":{}}`)); err != nil {
			t.Fatal(err)
		}
		if u, err := s.Get(t.Context(), "eve"); err != nil || u.Username != "Eve" {
			t.Errorf("%+v %v", u, err)
		}
	})
}

func TestEntityRefuses(t *testing.T) {
	s := start(t, sqlite(t))
	e := user.NewEntity(s.Service)
	s.user("jane", nil)
	before := s.rows()
	for name, c := range map[string]struct {
		path, export string
		kind         problem.Kind
		field        string
	}{
		"no JSON":          {"x", `{`, problem.Invalid, ""},
		"no object":        {"x", `[1]`, problem.Invalid, ""},
		"no properties":    {"x", `{}`, problem.Invalid, "properties"},
		"other class":      {"x", `{"class":"EMS\\CoreBundle\\Entity\\Form","properties":{}}`, problem.Invalid, "class"},
		"no name":          {"", `{"properties":{}}`, problem.Invalid, "properties.username"},
		"two names":        {"x", `{"properties":{"username":"y"}}`, problem.Invalid, "properties.username"},
		"number":           {"x", `{"properties":{"email":1}}`, problem.Invalid, "properties.email"},
		"text for a list":  {"x", `{"properties":{"roles":"ROLE_API"}}`, problem.Invalid, "properties.roles"},
		"list of numbers":  {"x", `{"properties":{"circles":[1]}}`, problem.Invalid, "properties.circles"},
		"text for a bool":  {"x", `{"properties":{"enabled":"true"}}`, problem.Invalid, "properties.enabled"},
		"date":             {"x", `{"properties":{"expirationDate":"tomorrow"}}`, problem.Invalid, "properties.expirationDate"},
		"year":             {"x", `{"properties":{"expirationDate":"0001-01-02T00:00:00+00:00"}}`, problem.Invalid, "properties.expirationDate"},
		"options":          {"x", `{"properties":{"userOptions":[1]}}`, problem.Invalid, "properties.userOptions"},
		"locale":           {"x", `{"properties":{"locale":"!"}}`, problem.Invalid, "properties.locale"},
		"password":         {"x", `{"properties":{"plainPassword":"short"}}`, problem.Invalid, "properties.plainPassword"},
		"duplicate key":    {"x", `{"properties":{"email":"a@b","email":"c@d"}}`, problem.Invalid, "properties.email"},
		"taken address":    {"x", `{"properties":{"email":"JANE@example.org"}}`, problem.Conflict, ""},
		"much to keep":     {"x", `{"properties":{"note":"` + strings.Repeat("x", 70_000) + `"}}`, problem.TooLarge, "properties"},
		"very much to set": {"x", `{"properties":{"userOptions":{"note":"` + strings.Repeat("x", 70_000) + `"}}}`, problem.TooLarge, "properties.userOptions"},
	} {
		_, err := e.Put(root(t), c.path, []byte(c.export))
		if !problem.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p := problem.From(err)
		if c.field != "" && (len(p.Fields) != 1 || p.Fields[0].Path != c.field) {
			t.Errorf("%s: %+v", name, p.Fields)
		}
	}
	if s.rows() != before {
		t.Error("a refused export has written something")
	}
}

func TestNobodyRisesAboveHimself(t *testing.T) {
	s := start(t, sqlite(t))
	e := user.NewEntity(s.Service)
	s.user("chief", nil, auth.RoleAdmin)
	s.user("jane", nil)
	as := func(name string, roles ...string) context.Context {
		u, err := s.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return auth.With(t.Context(), auth.New(auth.Identity{UserID: u.ID, Username: name, Granted: roles}))
	}
	manager, chief := as("jane", auth.RoleUserManagement), as("chief", auth.RoleAdmin)
	roles := func(role string) []byte {
		b, _ := json.Marshal(map[string]any{"properties": map[string]any{"roles": []string{role}}})
		return b
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		do   func(ctx context.Context) error
		kind problem.Kind
	}{
		"nobody":             {t.Context(), func(ctx context.Context) error { _, err := e.List(ctx); return err }, problem.Unauthenticated},
		"without the role":   {as("jane", auth.RoleWebmaster), func(ctx context.Context) error { _, err := e.Get(ctx, "jane"); return err }, problem.Forbidden},
		"delete above":       {manager, func(ctx context.Context) error { _, err := e.Delete(ctx, "chief"); return err }, problem.Forbidden},
		"change above":       {manager, func(ctx context.Context) error { _, err := e.Put(ctx, "chief", roles("ROLE_USER")); return err }, problem.Forbidden},
		"raise himself":      {manager, func(ctx context.Context) error { _, err := e.Put(ctx, "jane", roles("admin")); return err }, problem.Forbidden},
		"make an admin":      {manager, func(ctx context.Context) error { _, err := e.Put(ctx, "new", roles("ROLE_ADMIN")); return err }, problem.Forbidden},
		"make a super admin": {chief, func(ctx context.Context) error { _, err := e.Put(ctx, "new", roles("ROLE_SUPER_ADMIN")); return err }, problem.Forbidden},
		"password above":     {chief, func(ctx context.Context) error { _, err := s.SetPassword(ctx, "admin", "password", true); return err }, problem.Forbidden},
		"token above":        {chief, func(ctx context.Context) error { _, _, err := s.CreateToken(ctx, "admin", "x", 0); return err }, problem.Forbidden},
		"delete himself":     {chief, func(ctx context.Context) error { _, err := e.Delete(ctx, "chief"); return err }, problem.Conflict},
	} {
		if err := c.do(c.ctx); !problem.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if u, err := s.Get(t.Context(), "chief"); err != nil || len(u.Roles) != 1 || u.Roles[0] != auth.RoleAdmin {
		t.Errorf("%+v %v", u, err)
	}
	if _, err := e.Put(chief, "new", roles("ROLE_ADMIN")); err != nil {
		t.Errorf("an admin makes admins: %v", err)
	}
}
