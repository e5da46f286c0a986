package content_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

var fencedType = export(`{"name":"page","environment":"preview","roles":{"publish":"ROLE_AUTHOR","delete":"ROLE_AUTHOR"},"usage":{"circles":"circles"},
	"fields":[
		{"name":"title","type":"text"},
		{"name":"secret","type":"json","role":"ROLE_WEBMASTER"},
		{"name":"meta","type":"nested","fields":[{"name":"rank","type":"integer","role":"ROLE_WEBMASTER"},{"name":"note","type":"text"}]},
		{"name":"items","type":"collection","fields":[{"name":"text","type":"text"},{"name":"price","type":"number","role":"ROLE_WEBMASTER"}]},
		{"name":"circles","type":"choice","multiple":true}
	]}`)

// TestMinimumRole: who lacks the role of a field cannot change it, and need
// not repeat it.
func TestMinimumRole(t *testing.T) {
	const full = `{"title":"A","secret":{"b":1.0,"a":[]},"meta":{"rank":1,"note":"n"},"items":[{"text":"1","price":1},{"text":"2","price":2}]}`
	tests := []struct {
		name, call, body string
		forbidden        string // path of the field
		want             string // of the content afterwards
	}{
		{"update of something else", "update/d", `{"title":"B"}`, "", strings.Replace(full, `"A"`, `"B"`, 1)},
		{"the same again, keys in another order", "index/d", strings.Replace(full, `{"b":1.0,"a":[]}`, `{"a":[ ],"b":1.0}`, 1), "", strings.Replace(full, `{"b":1.0,"a":[]}`, `{"a":[ ],"b":1.0}`, 1)},
		{"left out", "index/d", `{"title":"B","meta":{"note":"m"},"items":[{"text":"one","price":1},{"text":"two","price":2}]}`, "",
			`{"title":"B","meta":{"note":"m","rank":1},"items":[{"text":"one","price":1},{"text":"two","price":2}],"secret":{"b":1.0,"a":[]}}`},
		{"its object left out", "index/d", `{"items":[{"price":1},{"price":2}]}`, "", `{"items":[{"price":1},{"price":2}],"secret":{"b":1.0,"a":[]},"meta":{"rank":1}}`},
		{"null is left out", "update/d", `{"secret":null}`, "", strings.Replace(full, `"n"`, `"n"`, 1)},
		{"changed", "update/d", `{"secret":{"b":1,"a":[]}}`, "secret", ""},
		{"changed inside", "update/d", `{"meta":{"rank":2}}`, "meta.rank", ""},
		{"its object is something else", "index/d", `{"secret":{"b":1.0,"a":[]},"meta":"x","items":[{"price":1},{"price":2}]}`, "meta.rank", ""},
		{"changed in an element", "update/d", `{"items":[{"price":1},{"price":3}]}`, "items[1].price", ""},
		{"an element more", "update/d", `{"items":[{"price":1},{"price":2},{"price":3}]}`, "items[2].price", ""},
		{"an element less", "update/d", `{"items":[{"price":1}]}`, "items[1].price", ""},
		{"elements in another order", "update/d", `{"items":[{"price":2},{"price":1}]}`, "items[0].price", ""},
		{"an element without it", "update/d", `{"items":[{"price":1},{"price":2},{"text":"3"}]}`, "", strings.Replace(full, `[{"text":"1","price":1},{"text":"2","price":2}]`, `[{"price":1},{"price":2},{"text":"3"}]`, 1)},
		{"new document", "index/new", `{"secret":1}`, "secret", ""},
		{"new draft", "create/new", `{"secret":1}`, "secret", ""},
		{"draft", "merge/d", `{"secret":1}`, "secret", ""},
		{"draft that replaces", "replace/d", `{"secret":1}`, "secret", ""},
	}
	engines(t, func(t *testing.T, s *server) {
		s.put("content-type", fencedType)
		for _, test := range tests {
			s.call("webmaster", http.MethodPost, "/api/data/page/index/d", full).is(200).has("success", "true")
			rows := s.rows()
			a := s.post("/api/data/page/"+test.call, test.body)
			if test.forbidden != "" {
				refused(t, a, 403)
				a.has("code", `"minimum_role"`)
				if !strings.Contains(a.raw("errors"), `"path":"`+test.forbidden+`"`) {
					t.Errorf("%s: %s does not name %s", test.name, a.body, test.forbidden)
				}
				if after := s.rows(); after != rows {
					t.Errorf("%s: rows %s, before %s", test.name, after, rows)
				}
				continue
			}
			a.is(200).has("success", "true")
			got := s.get("/api/data/page/d").raw("revision")
			if !strings.HasPrefix(got, strings.TrimSuffix(test.want, "}")+`,"_contenttype"`) {
				t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
			}
		}
		one := s.call("webmaster", http.MethodPost, "/api/data/page/index/d", `{"title":"A","secret":1}`).is(200).id()
		s.call("webmaster", http.MethodPost, "/api/data/page/index/d", `{"title":"A","secret":2}`).is(200)
		refused(t, s.post("/api/data/page/restore/d/"+one, nil), 403)
		s.call("webmaster", http.MethodPost, "/api/data/page/restore/d/"+one, nil).is(200)
		refused(t, s.post("/api/data/page/index/gone", `{"secret":1}`), 403)
		// A failed draft does not hide what was valid.
		s.call("webmaster", http.MethodPost, "/api/data/page/update/d", `{"secret":7,"title":1}`).is(200).has("success", "false")
		s.post("/api/data/page/index/d", `{"title":"B"}`).is(200).has("success", "true")
		s.get("/api/data/page/d").has("revision.secret", "1")
	})
}

// TestCircles: a document of circles is written by their members and by
// administrators only; everybody else may still read it.
func TestCircles(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.put("content-type", strings.ReplaceAll(fencedType, "ROLE_WEBMASTER", "ROLE_AUTHOR"))
		call := func(as, path, body string) *answer {
			return s.call(as, http.MethodPost, "/api/data/page/"+path, body)
		}
		for _, circles := range []string{`["circle:red","circle:blue"]`, `"circle:red"`} {
			id := call("red", "index/d", `{"title":"A","circles":`+circles+`}`).is(200).has("success", "true").id()
			draft := call("red", "create", `{"title":"A","circles":`+circles+`}`).is(200).id()
			s.clock.Advance(1e12)
			rows := s.rows()
			for _, op := range []string{"index/d", "update/d", "merge/d", "replace/d", "delete/d", "publish/d/live", "unpublish/d/live", "restore/d/" + id, "finalize/" + draft, "discard/" + draft} {
				refused(t, call("author", op, `{"title":"B"}`), 403)
				call("author", op, `{"title":"B"}`).has("code", `"circles"`)
			}
			refused(t, call("author", "index/e", `{"circles":`+circles+`}`), 403)
			refused(t, call("author", "create/e", `{"circles":`+circles+`}`), 403)
			refused(t, call("red", "update/d", `{"circles":["circle:blue"]}`), 403) // not out of reach of oneself
			if after := s.rows(); after != rows {
				t.Errorf("rows %s, before %s", after, rows)
			}
			s.get("/api/data/page/d").is(200)
			var drafts []struct{ Circles []string }
			for _, form := range []string{"circles=%s&circles=x", "circles[]=%s&circles[]=x", "circles[0]=%s&circles[1]=x", "includeRawData=0&circles%%5B0%%5D=%s&circles%%5b1%%5d=x"} {
				s.get("/api/meta/drafts?" + fmt.Sprintf(form, "circle:red")).is(200).decode(&drafts)
				if len(drafts) != 1 || drafts[0].Circles[0] != "circle:red" {
					t.Errorf("%s: drafts of the circle: %v", form, drafts)
				}
				s.get("/api/meta/drafts?" + fmt.Sprintf(form, "other")).is(200).decode(&drafts)
				if len(drafts) != 0 {
					t.Errorf("%s: drafts of another circle: %v", form, drafts)
				}
			}
			for _, as := range []string{"red", "admin"} {
				call(as, "publish/d/live", "").is(200)
				call(as, "unpublish/d/live", "").is(200)
				call(as, "update/d", `{"title":"C"}`).is(200).has("success", "true")
			}
			call("admin", "update/d", `{"circles":["circle:blue"]}`).is(200)
			refused(t, call("red", "update/d", `{"title":"D"}`), 403)
			call("admin", "update/d", `{"circles":[]}`).is(200)
			call("author", "update/d", `{"title":"D"}`).is(200)
			call("admin", "discard/"+draft, "").is(200)
		}
	})
}

var menuType = export(`{"name":"page","environment":"preview","fields":[
	{"name":"title","type":"text"},
	{"name":"locales","type":"multiplexed","values":["fr"],"fields":[
		{"name":"blocks","type":"jsonmenu","fields":[
			{"name":"offer","type":"container","fields":[
				{"name":"text","type":"text"},{"name":"price","type":"number","role":"ROLE_WEBMASTER"},
				{"name":"more","type":"nested","fields":[{"name":"code","type":"text","role":"ROLE_WEBMASTER"}]},
				{"name":"inner","type":"jsonmenu","fields":[{"name":"deep","type":"container","fields":[{"name":"secret","type":"text","role":"ROLE_WEBMASTER"}]}]}]},
			{"name":"banner","type":"container","role":"ROLE_WEBMASTER","fields":[{"name":"text","type":"text"}]}]}]}]}`)

// TestMinimumRoleInMenus: a role protects its field also where the field is
// part of a node of a menu, and a node type with a role all of its nodes.
func TestMinimumRoleInMenus(t *testing.T) {
	const offer, banner = `{"id":"a","type":"offer","object":{"text":"A","price":1,"more":{"code":"c"}}}`, `{"id":"b","type":"banner","object":{"text":"B"}}`
	menu := func(nodes ...string) string { return `{"fr":{"blocks":[` + strings.Join(nodes, ",") + `]}}` }
	tests := []struct{ name, body, forbidden string }{
		{"something else", `{"title":"B"}`, ""},
		{"the same", menu(offer, banner), ""},
		{"another text", menu(strings.Replace(offer, `"A"`, `"B"`, 1), banner), ""},
		{"moved and nested", menu(`{"id":"n","type":"offer","object":{"text":"N"},"children":[`+offer+`]}`, banner), ""},
		{"in another order", menu(banner, offer), ""},
		{"changed", menu(strings.Replace(offer, `"price":1`, `"price":2`, 1), banner), "fr.blocks[0].object.price"},
		{"changed in a container", menu(strings.Replace(offer, `"c"`, `"d"`, 1), banner), "fr.blocks[0].object.more.code"},
		{"left out", menu(strings.Replace(offer, `"price":1,`, ``, 1), banner), "fr.blocks[0].object.price"},
		{"in a new node", menu(offer, banner, `{"id":"n","type":"offer","object":{"price":1}}`), "fr.blocks[2].object.price"},
		{"in a child", menu(offer, banner, `{"id":"n","type":"offer","children":[{"id":"m","type":"offer","object":{"price":1}}]}`), "fr.blocks[2].children[0].object.price"},
		{"a second node of the id", menu(offer, offer, banner), "fr.blocks[1].object.price"},
		{"in a menu of a node", menu(offer, banner, `{"id":"n","type":"offer","object":{"inner":[{"id":"d","type":"deep","object":{"secret":"x"}}]}}`), "fr.blocks[2].object.inner[0].object.secret"},
		{"as a string", `{"fr":{"blocks":"[{\"id\":\"n\",\"type\":\"offer\",\"object\":{\"\\u0070rice\":3}}]"}}`, "fr.blocks[0].object.price"},
		{"a node of a type with a role", menu(offer, banner, `{"id":"n","type":"banner","object":{"text":"N"}}`), "fr.blocks[2]"},
		{"one that is changed", menu(offer, strings.Replace(banner, `"B"`, `"C"`, 1)), "fr.blocks[1]"},
		{"one less", menu(offer), "fr.blocks[1]"},
		{"no menu", `{"fr":null}`, "fr.blocks[0].object.price"},
	}
	engines(t, func(t *testing.T, s *server) {
		s.put("content-type", menuType)
		for _, test := range tests {
			t.Log(test.name)
			s.call("webmaster", http.MethodPost, "/api/data/page/index/d", menu(offer, banner)).is(200).has("success", "true")
			a := s.post("/api/data/page/update/d", test.body)
			if test.forbidden == "" {
				a.is(200).has("success", "true")
				continue
			}
			refused(t, a, 403)
			a.has("code", `"minimum_role"`)
			if !strings.Contains(a.raw("errors"), `"path":"`+test.forbidden+`"`) {
				t.Errorf("%s: %s does not name %s", test.name, a.body, test.forbidden)
			}
		}
		refused(t, s.post("/api/data/page/create", menu(banner)), 403)
		s.post("/api/data/page/create", menu(`{"id":"n","type":"offer","object":{"text":"N"}}`)).is(200)
	})
}
