package user_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/modules/user"
)

// badBodies are refused by every endpoint that reads a JSON object.
func badBodies() map[string]struct {
	body   string
	status int
} {
	type bad = struct {
		body   string
		status int
	}
	return map[string]bad{
		"no body":           {``, 400},
		"no JSON":           {`hello`, 400},
		"cut":               {`{"username":"a","email":`, 400},
		"two values":        {`{"username":"a"} {}`, 400},
		"a string":          {`"username"`, 400},
		"a list":            {`[1]`, 400},
		"null":              {`null`, 400},
		"NaN":               {`{"username":NaN}`, 400},
		"endless number":    {`{"username":"a","n":1e999}`, 400},
		"key twice":         {`{"username":"a","username":"b","email":"c","password":"d","name":"e","name":"f"}`, 400},
		"lone surrogate":    {`{"username":"\ud800","email":"x","name":"\ud800"}`, 400},
		"NUL":               {`{"username":"\u0000","email":"x","name":"\u0000"}`, 400},
		"broken UTF-8":      {"{\"username\":\"\xff\",\"email\":\"x\",\"name\":\"\xff\"}", 400},
		"number for a text": {`{"username":1,"email":2,"password":3,"name":4}`, 400},
		"object for a text": {`{"username":{},"email":{},"password":{},"name":{}}`, 400},
		"null for a text":   {`{"username":null,"email":null,"password":null,"name":null}`, 400},
		"too deep":          {`{"username":"a","x":` + strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100) + `}`, 413},
		"far too deep":      {strings.Repeat(`[`, 15_000), 413},
		"too big":           {`{"username":"` + strings.Repeat("x", 20_000) + `"}`, 413},
	}
}

func TestBadInput(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := start(t, d)
		s.user("poor", nil, auth.RoleAPI)
		s.user("noapi", nil, auth.RoleSuperAdmin)
		s.user("off", nil, auth.AllRoles()...)
		tokens := map[string]string{"admin": s.token("admin"), "poor": s.token("poor"), "noapi": s.token("noapi"), "off": s.token("off")}
		if _, err := s.SetEnabled(root(t), "off", false); err != nil {
			t.Fatal(err)
		}
		type request struct {
			method, path, who, body string
			status                  int
		}
		var all []request
		for name, b := range badBodies() {
			signIn := b.status
			if name == "null for a text" {
				signIn = 401 // as missing fields
			}
			all = append(all, request{"POST", "/auth-token", "", b.body, signIn}, request{"POST", "/api/user/proxy-authenticate", "admin", b.body, b.status},
				request{"POST", "/api/user/tokens", "admin", b.body, b.status})
		}
		for _, e := range []struct {
			method, path string
			public       bool
			right        string // who lacks the right, if anybody can
		}{
			{"POST", "/auth-token", true, ""}, {"GET", "/api/test", false, "noapi"}, {"GET", "/api/user-profile", false, ""},
			{"GET", "/api/user-profiles", false, "poor"}, {"POST", "/api/user/proxy-authenticate", false, "poor"},
			{"GET", "/api/user/tokens", false, "noapi"}, {"POST", "/api/user/tokens", false, "noapi"}, {"DELETE", "/api/user/tokens/1", false, "noapi"},
		} {
			all = append(all, request{"PATCH", e.path, "admin", `{}`, 405}, request{"PUT", e.path, "admin", ``, 405})
			if e.public {
				continue
			}
			for _, token := range []string{"", "nonsense", "qn_", strings.Repeat("x", 5000), auth.NewToken(), "Bearer " + auth.NewToken(), "Basic YTpi"} {
				all = append(all, request{e.method, e.path, "token:" + token, `{}`, 401})
			}
			all = append(all, request{e.method, e.path, "off", `{}`, 403})
			if e.right != "" {
				all = append(all, request{e.method, e.path, e.right, `{"username":"poor","email":"poor@example.org","name":"x"}`, 403})
			}
		}
		all = append(all,
			request{"POST", "/api/user/proxy-authenticate", "admin", `{}`, 400},
			request{"POST", "/api/user/proxy-authenticate", "admin", `[]`, 400},
			request{"POST", "/api/user/proxy-authenticate", "admin", `{"username":"poor"}`, 400},
			request{"POST", "/api/user/proxy-authenticate", "admin", `{"email":"poor@example.org"}`, 400},
			request{"POST", "/api/user/proxy-authenticate", "admin", `{"username":"' OR 1=1 --","email":"%"}`, 404},
			request{"POST", "/api/user/tokens", "admin", `{}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":""}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":"a\nb"}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":"\u202eevil"}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":"` + strings.Repeat("x", 256) + `"}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":"x","expires_in":0}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":"x","expires_in":-1}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":"x","expires_in":1.5}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":"x","expires_in":"60"}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":"x","expires_in":9223372036854775807}`, 400},
			request{"POST", "/api/user/tokens", "admin", `{"name":"x","expires_in":99999999999999999999999}`, 400},
			request{"GET", "/api/user/tokens?username=" + strings.Repeat("x", 300), "admin", ``, 400},
			request{"GET", "/api/user/tokens?username=%00", "admin", ``, 400},
			request{"GET", "/api/user/tokens?username=%ff", "admin", ``, 400},
			request{"DELETE", "/api/user/tokens/x", "admin", ``, 400},
			request{"DELETE", "/api/user/tokens/0", "admin", ``, 400},
			request{"DELETE", "/api/user/tokens/-1", "admin", ``, 400},
			request{"DELETE", "/api/user/tokens/1%2F2", "admin", ``, 400},
			request{"DELETE", "/api/user/tokens/99999999999999999999", "admin", ``, 400},
			request{"DELETE", "/api/user/tokens/9223372036854775807", "admin", ``, 404},
			request{"GET", "/api/user-nothing", "admin", ``, 404},
			request{"GET", "/api/user-nothing", "", ``, 401},
		)
		before := s.rows()
		for i, r := range all {
			name := fmt.Sprintf("%s %.60s as %.30s with %.60q", r.method, r.path, r.who, r.body)
			token, given := strings.CutPrefix(r.who, "token:")
			if !given {
				token = tokens[r.who]
			}
			a := s.do(r.method, r.path, token, r.body)
			if a.status != r.status {
				t.Errorf("%d %s: %d, want %d: %.300s", i, name, a.status, r.status, a.body)
				continue
			}
			s.refusal(a)
			if r.status == 405 && a.header.Get("Allow") == "" {
				t.Errorf("%s: no Allow", name)
			}
			if r.status == 401 && a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: no WWW-Authenticate", name)
			}
		}
		if after := s.rows(); after != before {
			t.Errorf("bad input has written something: %d rows, then %d", before, after)
		}
	})
}

func TestBadUsers(t *testing.T) {
	s := start(t, sqlite(t))
	before := s.rows()
	for name, u := range map[string]user.User{
		"no name":         {},
		"space":           {Username: " x"},
		"control":         {Username: "a\x00b"},
		"invisible":       {Username: "ad\u200bmin"},
		"turned around":   {Username: "\u202enimda"},
		"broken":          {Username: "\xff"},
		"long":            {Username: strings.Repeat("x", 181)},
		"taken":           {Username: "ADMIN"},
		"no address":      {Username: "x", Email: "x"},
		"two @":           {Username: "x", Email: "a@b@c"},
		"address in <>":   {Username: "x", Email: "<a@b>"},
		"long address":    {Username: "x", Email: strings.Repeat("a", 250) + "@b.org"},
		"line in a name":  {Username: "x", DisplayName: "a\nb"},
		"locale":          {Username: "x", Locale: "en; DROP"},
		"preferred":       {Username: "x", LocalePreferred: "../../etc"},
		"role":            {Username: "x", Roles: []string{"ROLE_A B"}},
		"empty role":      {Username: "x", Roles: []string{""}},
		"circle":          {Username: "x", Circles: []string{"a\tb"}},
		"too many":        {Username: "x", Circles: make([]string, 201)},
		"short password":  {Username: "x", PasswordHash: "short"},
		"no hash at all!": {Username: "x", PasswordHash: "tab\tin the password"},
	} {
		password := u.PasswordHash
		u.PasswordHash = ""
		if err := s.Create(root(t), &u, password); err == nil {
			t.Errorf("%s: created %+v", name, u)
		}
	}
	if s.rows() != before {
		t.Error("a bad user was stored")
	}
}
