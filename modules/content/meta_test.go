package content_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestMeta(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.get("/api/meta/content-type/page").is(200).keys("alias", "environment").has("alias", `"test_preview"`, "environment", `"preview"`)
		s.get("/api/meta/page").is(200).keys("singular_name", "plural_name", "default_alias", "default_name").
			has("singular_name", `"Page"`, "plural_name", `"Pages"`, "default_alias", `"test_preview"`, "default_name", `"preview"`)
		s.get("/json/meta/page").is(200)
		for _, path := range []string{"/api/meta/content-type/none", "/api/meta/none", "/api/content-types/none/schema"} {
			s.get(path).is(404)
		}
		schema := s.get("/api/content-types/page/schema").is(200)
		schema.has("$schema", `"https://json-schema.org/draft/2020-12/schema"`, "properties.count.type", `"integer"`, "required", `["title"]`)
		if got := schema.header.Get("Content-Type"); got != "application/schema+json" {
			t.Errorf("Content-Type %s", got)
		}
		s.call("user", http.MethodGet, "/api/content-types/page/schema", nil).is(403)
	})
}

func TestMetaEnvironments(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		for _, e := range []string{`"name":"frozen","managed":true,"snapshot":true,"orderKey":3`, `"name":"foreign","managed":false,"orderKey":4`} {
			s.put("environment", `{"class":"EMS\\CoreBundle\\Entity\\Environment","properties":{`+e+`}}`)
		}
		for query, want := range map[string]string{
			"":                             "preview live frozen foreign",
			"?managed=true":                "preview live frozen",
			"?managed=0":                   "foreign",
			"?snapshot=1":                  "frozen",
			"?managed=true&snapshot=false": "preview live",
		} {
			var list []struct {
				Name              string
				Managed, Snapshot *bool
			}
			s.get("/api/meta/environments" + query).is(200).decode(&list)
			var names []string
			for _, e := range list {
				names = append(names, e.Name)
				if e.Managed == nil || e.Snapshot == nil {
					t.Errorf("%+v lacks a member", e)
				}
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s gives %s, want %s", query, got, want)
			}
		}
		s.get("/api/meta/environments?managed=perhaps").is(400)
		s.index(`{"title":"A"}`)
		id := s.post("/api/data/page/index/p", `{"title":"A"}`).is(200).id()
		s.publish("publish/p/frozen").is(409)
		s.publish("publish/p/foreign/" + id).is(404)
	})
}

func TestMetaDrafts(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.put("content-type", strings.NewReplacer(`"name":"page"`, `"name":"hidden"`, `"view":"ROLE_AUTHOR"`, `"view":"ROLE_ADMIN"`).Replace(pageType))
		s.call("admin", http.MethodPost, "/api/data/hidden/create", `{"title":"A"}`).is(200)
		var ids []string
		for range 3 {
			s.clock.Advance(1e9)
			ids = append(ids, s.post("/api/data/page/create", `{"title":"A"}`).is(200).id())
		}
		slices.Reverse(ids)
		s.clock.Advance(1e9)
		s.call("admin", http.MethodPost, "/api/data/hidden/create", `{"title":"A"}`).is(200)
		list := func(as, query string) []map[string]any {
			var list []map[string]any
			s.call(as, http.MethodGet, "/api/meta/drafts"+query, nil).is(200).decode(&list)
			return list
		}
		if got := list("admin", ""); len(got) != 5 {
			t.Errorf("an administrator sees %d drafts", len(got))
		}
		got := list("author", "")
		if len(got) != 3 {
			t.Fatalf("an author sees %d drafts", len(got))
		}
		if got[0]["id"] != ids[0] { // a string, unlike elsewhere
			t.Errorf("the id is %#v, want %q", got[0]["id"], ids[0])
		}
		for _, key := range []string{"ouuid", "circles", "save_date", "created"} {
			if _, ok := got[0][key]; !ok {
				t.Errorf("no %s in %v", key, got[0])
			}
		}
		if _, ok := got[0]["raw_data"]; ok {
			t.Errorf("raw_data without asking: %v", got[0])
		}
		if got := list("author", "?includeRawData=true&limit=2"); len(got) != 2 || got[0]["raw_data"].(map[string]any)["title"] != "A" {
			t.Errorf("drafts %v", got)
		}
		s.post("/api/data/page/discard/"+ids[0], nil).is(200)
		if got := list("author", ""); len(got) != 2 {
			t.Errorf("%d drafts after one was thrown away", len(got))
		}
	})
}

func TestMetaDocuments(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.post("/api/data/page/index/a", `{"title":"A"}`).is(200).id()
		s.publish("publish/a/live").is(200)
		two := s.post("/api/data/page/index/a", `{"title":"B"}`).is(200).id()
		draft := s.post("/api/data/page/create/draft", `{"title":"A"}`).is(200).id()
		info := func(as, body string) *answer { return s.call(as, http.MethodPost, "/api/meta/info/documents", body) }
		published := `{"id":` + two + `,"draft":false,"revisions":{"live":` + id + `,"preview":` + two + `},"status":{"live":"outdated","preview":"published"}}`
		info("author", `{"environments":[],"emsLinks":["page:a","page:draft","page:none","none:a"]}`).is(200).keys("info").
			has("info", `{"a":`+published+`,"draft":{"id":`+draft+`,"draft":true,"revisions":{"preview":null},"status":{"live":"not_published","preview":"not_published"}}}`)
		for _, link := range []string{"page:a", "ems://object:page:a", "ems://page:a", "ems://object:page:a?x=y:z"} {
			info("author", `{"environments":["live"],"emsLinks":["`+link+`"]}`).is(200).has("info", `{"a":`+published+`}`)
		}
		info("author", `{"environments":["none"],"emsLinks":["page:a"]}`).is(200).
			has("info", `{"a":{"id":`+two+`,"draft":false,"revisions":{"preview":`+two+`},"status":{"preview":"published"}}}`)
		info("author", `{"emsLinks":["page:none"],"nobody":"reads this"}`).is(200).has("info", `{}`)
		info("user", `{"emsLinks":["page:a"]}`).is(200).has("info", `{}`)

		three := s.post("/api/data/page/merge/a", `{"title":"C"}`).is(200).id() // a draft outdates nothing
		info("author", `{"emsLinks":["page:a"]}`).is(200).
			has("info", `{"a":`+strings.Replace(published, two+`,"draft":false`, three+`,"draft":true`, 1)+`}`)
		s.post("/api/data/page/discard/"+three, nil).is(200)
		s.publish("publish/a/live").is(200)
		info("author", `{"emsLinks":["page:a","page:a"]}`).is(200).has("info.a.status", `{"live":"published","preview":"published"}`)
		s.put("content-type", strings.Replace(pageType, `"name":"page"`, `"name":"news"`, 1))
		s.post("/api/data/news/index/a", `{"title":"N"}`).is(200)
		info("author", `{"emsLinks":["news:a","page:a","news:a"]}`).is(200).keys("info").has("info.page:a.id", two, "info.a.status.live", `"not_published"`)
		s.publish("delete/a").is(200)
		info("author", `{"emsLinks":["page:a"]}`).is(200).has("info", `{}`)
		for _, body := range []string{`{}`, `[]`, `{"emsLinks":"page:a"}`, `{"emsLinks":["page"]}`, `{"emsLinks":[1]}`, `[1]`, `x`, ``,
			`{"emsLinks":["x:` + strings.Repeat(`a","x:`, 1000) + `"]}`} {
			refused(t, info("author", body), 400)
		}
	})
}
