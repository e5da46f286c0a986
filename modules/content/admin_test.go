package content_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content"
)

// entity is an export of a kind, with more than this server knows.
func entity(kind, class, properties string) string {
	return `{"class":"EMS\\CoreBundle\\Entity\\` + class + `","arguments":[],"properties":{` + properties + `,"color":"red","x":{"b":1.0,"a":[{}]}},"replaced":[]}`
}

func TestEntities(t *testing.T) {
	tests := []struct{ kind, class, name, properties string }{
		{"content-type", "ContentType", "news", `"name":"news","environment":"preview","fieldType":` + rootField},
		{"environment", "Environment", "staging", `"name":"staging","managed":true,"snapshot":false`},
		{"managed-alias", "ManagedAlias", "ma_x", `"name":"ma_x","label":"X"`},
		{"analyzer", "Analyzer", "an", `"name":"an","options":{"type":"custom","tokenizer":"standard"}`},
		{"filter", "Filter", "fi", `"name":"fi","options":{"type":"stop"}`},
		{"form", "Form", "fo", `"name":"fo","fieldType":` + rootField},
		{"query-search", "QuerySearch", "qs", `"name":"qs"`},
		{"i18n", "I18n", "key.of.text", `"identifier":"key.of.text","content":[]`},
		{"schedule", "Schedule", "Clean up daily", `"name":"Clean up daily"`},
		{"dashboard", "Dashboard", "Dash é", `"name":"Dash é"`},
		{"mcp-tool", "McpTool", "t", `"name":"t"`},
	}
	engines(t, func(t *testing.T, s *server) {
		for _, test := range tests {
			export := entity(test.kind, test.class, test.properties)
			base := "/api/admin/" + test.kind
			call := func(as, method, path string, body any) *answer { return s.call(as, method, path, body) }
			named := base + "/" + strings.ReplaceAll(test.name, " ", "%20")
			call("admin", http.MethodGet, named, nil).is(404)
			id := call("admin", http.MethodPost, named, export).is(200).keys("id", "success", "acknowledged").text("id")
			got := call("admin", http.MethodGet, named, nil).is(200)
			if !rawjson.Equal(got.body, []byte(export)) {
				t.Errorf("%s reads back as %s\nwant %s", test.kind, got.body, export)
			}
			if again := call("admin", http.MethodPost, base, export).is(200).text("id"); again != id {
				t.Errorf("%s: id %s, then %s", test.kind, id, again)
			}
			changed := strings.Replace(export, `"red"`, `"blue"`, 1)
			call("admin", http.MethodPost, named, changed).is(200).has("id", `"`+id+`"`)
			if got := call("admin", http.MethodGet, named, nil); !rawjson.Equal(got.body, []byte(changed)) {
				t.Errorf("%s reads back as %s", test.kind, got.body)
			}
			var names []string
			call("admin", http.MethodGet, base, nil).is(200).decode(&names)
			if !slices.Contains(names, test.name) || !slices.IsSorted(names) {
				t.Errorf("%s: %v", test.kind, names)
			}
			rows := s.rows()
			refused(t, call("admin", http.MethodPost, base+"/another", export), 400) // a rename through the body
			for _, as := range []string{"author", "publisher", "noapi"} {
				refused(t, call(as, http.MethodGet, base, nil), 403)
				refused(t, call(as, http.MethodGet, named, nil), 403)
				refused(t, call(as, http.MethodPost, named, export), 403)
				refused(t, call(as, http.MethodPost, base, export), 403)
				refused(t, call(as, http.MethodDelete, named, nil), 403)
			}
			refused(t, call("", http.MethodGet, base, nil), 401)
			if after := s.rows(); after != rows {
				t.Errorf("%s: rows %s, before %s", test.kind, after, rows)
			}
			call("admin", http.MethodDelete, named, nil).is(200).has("id", `"`+id+`"`)
			call("admin", http.MethodDelete, named, nil).is(404)
			call("admin", http.MethodGet, named, nil).is(404)
			s.events()
		}
	})
}

const rootField = `{"class":"EMS\\CoreBundle\\Entity\\FieldType","properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\ContainerFieldType","name":"source","children":[` +
	`{"class":"EMS\\CoreBundle\\Entity\\FieldType","properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\TextStringFieldType","name":"title","options":{},"children":[]}}]}}`

// TestSpellings: the plural and the class name of an entity work in paths.
func TestSpellings(t *testing.T) {
	s := serve(t, nil)
	for _, kind := range []string{"content-type", "contenttype", "ContentType", "contenttypes", "ContentTypes", "Content-Types", "content_type"} {
		s.call("admin", http.MethodGet, "/api/admin/"+kind+"/page", nil).is(200)
	}
	for _, kind := range []string{"Environments", "ManagedAliases", "manage-aliase", "managedaliase", "Analyzers", "Filters", "Forms", "Query-Searches",
		"QuerySearches", "I18ns", "Schedules", "Views", "Actions", "Dashboards", "Channels", "WysiwygProfiles", "WysiwygStyleSets", "WysiwygStylesSet", "Templates"} {
		s.call("admin", http.MethodGet, "/api/admin/"+kind, nil).is(200)
	}
	refused(t, s.call("admin", http.MethodGet, "/api/admin/nothing", nil), 404)
	refused(t, s.call("admin", http.MethodGet, "/api/admin/nothing/x", nil), 404)
	refused(t, s.call("admin", http.MethodPost, "/api/admin/nothing", `{}`), 404)
	refused(t, s.call("admin", http.MethodDelete, "/api/admin/nothing/x", nil), 404)
}

func TestAdminLists(t *testing.T) {
	s := serve(t, nil)
	s.put("content-type", strings.NewReplacer(`"name":"page"`, `"name":"closed"`, `"active":true`, `"active":false`).Replace(pageType))
	s.put("content-type", strings.NewReplacer(`"name":"page"`, `"name":"lost"`, `"preview"`, `"nowhere"`).Replace(pageType))
	s.call("user", http.MethodGet, "/api/admin/versions", nil).is(200).has("core", `"6.1.0"`)
	var names []string
	s.call("user", http.MethodGet, "/api/admin/content-types", nil).is(200).decode(&names)
	if !slices.Equal(names, []string{"page"}) {
		t.Errorf("content types %v", names)
	}
	refused(t, s.call("user", http.MethodGet, "/api/admin/config-types", nil), 403)
	s.call("admin", http.MethodGet, "/api/admin/config-types", nil).is(200).decode(&names)
	for _, kind := range content.Kinds() {
		if !slices.Contains(names, kind) {
			t.Errorf("no %s in %v", kind, names)
		}
	}
}

// TestUnusableContentTypes: they can be stored, but hold no documents.
func TestUnusableContentTypes(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.put("environment", entity("environment", "Environment", `"name":"foreign","managed":false`))
		for name, change := range map[string][]string{
			"closed": {`"active":true`, `"active":false`}, "gone": {`"deleted":false`, `"deleted":true`},
			"lost": {`"preview"`, `"nowhere"`}, "elsewhere": {`"preview"`, `"foreign"`},
		} {
			s.put("content-type", strings.NewReplacer(append(change, `"name":"page"`, `"name":"`+name+`"`)...).Replace(pageType))
			status := map[string]int{"closed": 404, "gone": 404, "lost": 400, "elsewhere": 400}[name]
			refused(t, s.post("/api/data/"+name+"/index", `{"title":"A"}`), status)
			refused(t, s.get("/api/data/"+name+"/x"), status)
		}
		// The environment comes later.
		s.put("environment", entity("environment", "Environment", `"name":"nowhere","managed":true`))
		s.post("/api/data/lost/index", `{"title":"A"}`).is(200).has("success", "true")
	})
}

// TestDefaultEnvironmentChanges: the documents can be brought to the new one.
func TestDefaultEnvironmentChanges(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		one := s.post("/api/data/page/index/p", `{"title":"1"}`).is(200).id()
		two := s.post("/api/data/page/index/p", `{"title":"2"}`).is(200).id()
		s.put("content-type", strings.Replace(pageType, `"environment":"preview"`, `"environment":"live"`, 1))
		s.get("/api/meta/content-type/page").has("environment", `"live"`)
		s.get("/api/data/page/p").is(200).has("id", two)
		s.where("p", two, "preview")
		refused(t, s.publish("publish/p/live/"+one), 409)
		s.publish("publish/p/live").is(200).has("already-published", "false")
		s.where("p", two, "preview live")
		s.publish("unpublish/p/preview").is(200).has("was-published", "true")
		s.where("p", two, "live")
		refused(t, s.call("admin", http.MethodPost, "/api/admin/content-type/page", strings.Replace(pageType, `"name":"page"`, `"name":"news"`, 1)), 400)
	})
}

// TestWhatIsUsedStays: deleting must not pull the ground from under documents.
func TestWhatIsUsedStays(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		remove := func(path string) *answer { return s.call("admin", http.MethodDelete, "/api/admin/"+path, nil) }
		s.put("content-type", strings.NewReplacer(`"name":"page"`, `"name":"free"`, `"environment":"preview"`, `"environment":null`).Replace(pageType))
		remove("content-type/free").is(200)
		refused(t, remove("environment/preview"), 409)
		s.post("/api/data/page/index/p", `{"title":"1"}`).is(200)
		refused(t, remove("content-type/page"), 409)
		s.publish("publish/p/live").is(200)
		remove("environment/live").is(200)
		if n := s.count("SELECT count(*) FROM content_publication"); n != 1 {
			t.Errorf("%d publications after an environment is gone", n)
		}
		s.publish("delete/p").is(200)
		id := remove("content-type/page").is(200).text("id")
		if again := s.put("content-type", pageType).text("id"); again == id {
			t.Errorf("the id %s is used again: what is in the trash would come back as something else", id)
		}
		s.get("/api/data/page/p").is(404)
		s.get("/api/data/page/revisions/p").is(404)
		s.post("/api/data/page/index/p", `{"title":"1"}`).is(200)
	})
}

// TestFormsKeepContentTypesAlive: a form that would break a content type is
// refused.
func TestFormsKeepContentTypesAlive(t *testing.T) {
	form := func(name, inner string) string {
		return `{"class":"EMS\\CoreBundle\\Entity\\Form","properties":{"name":"` + name + `","fieldType":` + strings.Replace(rootField, `"children":[`, `"children":[`+inner, 1) + `}}`
	}
	uses := func(name string) string {
		return `{"class":"EMS\\CoreBundle\\Entity\\FieldType","properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\FormFieldType","name":"in_` + name + `","options":{"displayOptions":{"form":"` + name + `"}},"children":[]}},`
	}
	s := serve(t, nil)
	s.put("form", form("inner", ""))
	s.put("content-type", `{"class":"EMS\\CoreBundle\\Entity\\ContentType","properties":{"name":"news","active":true,"environment":"preview","fieldType":`+strings.Replace(rootField, `"children":[`, `"children":[`+uses("inner"), 1)+`}}`)
	s.post("/api/data/news/index", `{"title":"A"}`).is(200).has("success", "true")
	s.put("form", form("other", uses("inner")))
	rows := s.rows()
	refused(t, s.call("admin", http.MethodPost, "/api/admin/form", form("inner", uses("other"))), 409)
	refused(t, s.call("admin", http.MethodPost, "/api/admin/form", form("inner", uses("inner"))), 409)
	if after := s.rows(); after != rows {
		t.Errorf("rows %s, before %s", after, rows)
	}
	s.post("/api/data/news/index", `{"title":"A"}`).is(200).has("success", "true")
}

// TestSecondProcess: a change of the configuration by another process on the
// same database is seen: at once where something is missing, else soon.
func TestSecondProcess(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		other := serveOn(t, s.db, nil)
		s.put("content-type", strings.Replace(pageType, `"name":"page"`, `"name":"news"`, 1))
		other.post("/api/data/news/index", `{"title":"A"}`).is(200).has("success", "true")
		s.put("environment", entity("environment", "Environment", `"name":"third","managed":true`))
		other.post("/api/data/page/index/p", `{"title":"A"}`).is(200)
		other.publish("publish/p/third").is(200).has("already-published", "false")
	})
}
