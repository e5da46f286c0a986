package content_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content"
)

// payload checks an event: its type, its subject and its data, of which
// raw_data must be what a read answers.
func payload(t *testing.T, e event.Event, name, subject, data string, raw string) {
	t.Helper()
	if e.Type != name || e.Subject != subject || e.Actor == "" || e.RequestID == "" {
		t.Errorf("event %s about %s by %q in request %q, want %s about %s", e.Type, e.Subject, e.Actor, e.RequestID, name, subject)
	}
	got := string(e.Data)
	if raw != "" {
		got = strings.Replace(got, raw, "RAW", 1)
	}
	if got != data {
		t.Errorf("%s: data %s\nwant %s", name, e.Data, data)
	}
}

// TestEventPayloads: the keys of spec.md 6.2, for single calls and for lines
// of a bulk request.
func TestEventPayloads(t *testing.T) {
	const preview, live = `{"environment":"preview","alias":"test_preview","content_type":"page","ouuid":"e"`, `{"environment":"live","alias":"test_live","content_type":"page","ouuid":"e"`
	single := func(s *server, op string) {
		path := map[string]string{"index": "index/e", "update": "update/e", "publish": "publish/e/live", "unpublish": "unpublish/e/live", "delete": "delete/e"}[op]
		s.call("red", http.MethodPost, "/api/data/page/"+path, `{"title":"A"}`).is(200).has("success", "true")
	}
	bulk := func(s *server, op string) {
		line := map[string]string{
			"index": `{"ouuid":"e","data":{"title":"A"}}`, "update": `{"op":"update","ouuid":"e","data":{"title":"A"}}`,
			"publish": `{"op":"publish","ouuid":"e","environment":"live"}`, "unpublish": `{"op":"unpublish","ouuid":"e","environment":"live"}`, "delete": `{"op":"delete","ouuid":"e"}`,
		}[op]
		s.call("red", http.MethodPost, "/api/data/page/_bulk", line).is(200).has("success", "true")
	}
	engines(t, func(t *testing.T, s *server) {
		for name, call := range map[string]func(*server, string){"single": single, "bulk": bulk} {
			t.Run(name, func(t *testing.T) {
				call(s, "index")
				raw := s.get("/api/data/page/e").raw("revision")
				payload(t, s.told("content.finalize")[0], "content.finalize", "page:e", preview+`,"raw_data":RAW}`, raw)
				call(s, "update")
				raw = s.get("/api/data/page/e").raw("revision")
				payload(t, s.told("content.finalize")[0], "content.finalize", "page:e", preview+`,"raw_data":RAW}`, raw)
				call(s, "publish")
				payload(t, s.told("content.published.live")[0], "content.published.live", "page:e", live+`,"raw_data":RAW}`, raw)
				call(s, "unpublish")
				payload(t, s.told("content.unpublish")[0], "content.unpublish", "page:e", live+`}`, "")
				call(s, "delete")
				payload(t, s.told("content.delete")[0], "content.delete", "page:e", preview+`}`, "")
			})
		}
	})
}

func TestConfigurationEvents(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		const environment = `{"class":"EMS\\CoreBundle\\Entity\\Environment","arguments":[],"properties":{"name":"test","managed":true},"replaced":[]}`
		s.put("environment", environment)
		e := s.told("environment.new_index.test", "config.saved")
		payload(t, e[0], "environment.new_index.test", "environment:test",
			`{"environment":"test","index":"test_test_20260504_100000","aliases":["test_test"],"old_index":null,"content_type":null,"ouuid":null,"raw_data":null}`, "")
		payload(t, e[1], "config.saved", "environment:test", `{"kind":"environment","name":"test","from":"127.0.0.1"}`, "")
		s.put("environment", environment)
		s.told() // nothing has changed
		s.put("environment", strings.Replace(environment, `"managed":true`, `"managed":true,"orderKey":9`, 1))
		s.told("config.saved")
		s.put("environment", strings.NewReplacer("test", "foreign", "true", "false").Replace(environment))
		s.told("config.saved") // somebody else's index

		s.call("admin", http.MethodDelete, "/api/admin/environment/test", nil).is(200)
		payload(t, s.told("config.deleted")[0], "config.deleted", "environment:test", `{"kind":"environment","name":"test","from":"127.0.0.1"}`, "")
	})
}

func TestAliasEvents(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		const alias = `{"class":"EMS\\CoreBundle\\Entity\\ManagedAlias","properties":{"name":"ma"}}`
		s.put("managed-alias", alias)
		s.told("config.saved")
		attach := func(as, body string) *answer {
			return s.call(as, http.MethodPost, "/api/meta/alias-attach-environment", body)
		}
		attach("author", `{"environment":"live","alias":"ma"}`).is(403)
		attach("noapi", `{"environment":"live","alias":"ma"}`).is(403)
		attach("admin", `{"environment":"nowhere","alias":"ma"}`).is(404)
		attach("admin", `{"environment":"live","alias":"none"}`).is(404)
		attach("admin", `{"environment":"live"}`).is(400)
		s.told()
		attach("admin", `{"environment":"live","alias":"ma"}`).is(200).keys("success").has("success", "true")
		e := s.told("manage_alias.update.test_ma", "config.saved")
		payload(t, e[0], "manage_alias.update.test_ma", "managed-alias:ma", `{"actions":{"add":["test_live_20260504_100000"],"remove":[]}}`, "")
		attach("admin", `{"environment":"live","alias":"test_ma"}`).is(200) // the full name does as well
		s.told()
		aliases, err := s.Source.Aliases(s.Context())
		if err != nil || len(aliases["test_ma"]) != 1 || aliases["test_ma"][0] != "live" {
			t.Errorf("aliases %v, %v", aliases, err)
		}
		s.put("managed-alias", strings.Replace(alias, `"ma"`, `"ma","environments":["preview"]`, 1))
		e = s.told("manage_alias.update.test_ma", "config.saved")
		payload(t, e[0], "manage_alias.update.test_ma", "managed-alias:ma", `{"actions":{"add":["test_preview_20260504_100000"],"remove":["test_live_20260504_100000"]}}`, "")

		// An export that names its environments names those that it has, and
		// brings them back.
		attach("admin", `{"environment":"live","alias":"ma"}`).is(200)
		s.told("manage_alias.update.test_ma", "config.saved")
		got := s.call("admin", http.MethodGet, "/api/admin/managed-alias/ma", nil).is(200)
		got.has("properties.environments", `["live","preview"]`)
		s.put("managed-alias", strings.Replace(alias, `"ma"`, `"ma","environments":["preview"]`, 1))
		s.told("manage_alias.update.test_ma", "config.saved")
		s.put("managed-alias", string(got.body))
		s.told("manage_alias.update.test_ma", "config.saved")
		if aliases, err := s.Source.Aliases(s.Context()); err != nil || len(aliases["test_ma"]) != 2 {
			t.Errorf("aliases %v, %v", aliases, err)
		}

		// An environment that goes leaves it, and one of the same name that comes
		// later is another one.
		const passing = `{"class":"EMS\\CoreBundle\\Entity\\Environment","arguments":[],"properties":{"name":"passing","managed":true},"replaced":[]}`
		s.put("environment", passing)
		attach("admin", `{"environment":"passing","alias":"ma"}`).is(200)
		s.told("environment.new_index.passing", "config.saved", "manage_alias.update.test_ma", "config.saved")
		s.call("admin", http.MethodDelete, "/api/admin/environment/passing", nil).is(200)
		e = s.told("manage_alias.update.test_ma", "config.saved", "config.deleted")
		payload(t, e[0], "manage_alias.update.test_ma", "managed-alias:ma", `{"actions":{"add":[],"remove":["test_passing_20260504_100000"]}}`, "")
		s.put("environment", passing)
		s.told("environment.new_index.passing", "config.saved")
		s.call("admin", http.MethodGet, "/api/admin/managed-alias/ma", nil).is(200).has("properties.environments", `["live","preview"]`)
		if aliases, err := s.Source.Aliases(s.Context()); err != nil || len(aliases["test_ma"]) != 2 {
			t.Errorf("aliases %v, %v", aliases, err)
		}
	})
}

// TestEventTypes: what is declared is complete, and its samples have the keys
// of what is emitted.
func TestEventTypes(t *testing.T) {
	types, err := event.Catalogue(content.Spec().Events)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range types {
		if !json.Valid(e.Sample) || rawjson.KindOf(e.Sample) != rawjson.Map {
			t.Errorf("%s: the sample is no object: %s", e.Name, e.Sample)
		}
	}
}
