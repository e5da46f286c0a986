package webhook_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
)

const base = "/api/webhook-subscriptions"

func TestSubscribe(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		var first, same, other registered
		s.want(200, "POST", base, "ann", `{"endpointUrl":"https://example.org/a","events":["content.finalize","content.delete"]}`, &first)
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(first.Secret, "whsec_"))
		if err != nil || len(key) != 32 || len(first.ID) != 36 {
			t.Errorf("%+v %v", first, err)
		}
		s.want(200, "DELETE", base+"/"+first.ID, "ann", `{"ignored":`, nil)
		s.want(200, "POST", base, "ann", `{"endpointUrl":"https://example.org/a","events":["content.delete","content.finalize","content.delete"]}`, &same)
		if same != first {
			t.Errorf("the same subscription is another one: %+v, %+v", first, same)
		}
		var view struct {
			Status, Message string
			Events          []string
		}
		s.want(200, "GET", base+"/"+first.ID, "ann", "", &view)
		if view.Status != "active" || view.Message != "" || strings.Join(view.Events, " ") != "content.delete content.finalize" {
			t.Errorf("%+v", view)
		}
		s.want(200, "POST", base, "bob", `{"endpointUrl":"https://example.org/a","events":["content.delete","content.finalize"]}`, &other)
		if other.ID == first.ID || other.Secret == first.Secret {
			t.Error("somebody else got the secret of a subscription")
		}
		if text := s.want(200, "DELETE", base+"/"+first.ID, "ann", "", nil); !strings.Contains(text, `"success":true`) || !strings.Contains(text, first.ID) {
			t.Error(text)
		}
		s.want(200, "GET", base+"/"+first.ID, "ann", "", &view)
		if view.Status != "disabled" || view.Message != "Unsubscribe" {
			t.Errorf("%+v", view)
		}
		s.want(200, "DELETE", base+"/unknown", "ann", "", nil)
	})
}

func TestSubscribeRefuses(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		long := "https://example.org/" + strings.Repeat("a", 2048)
		for body, want := range map[string]string{
			`{"events":["content.delete"]}`:                                                                  "endpointUrl",
			`{"endpointUrl":"https://example.org"}`:                                                          "events",
			`{"endpointUrl":"https://example.org","events":[]}`:                                              "events",
			`{"endpointUrl":"https://example.org","events":"x"}`:                                             "events",
			`{"endpointUrl":"https://example.org","events":[1]}`:                                             "events[0]",
			`{"endpointUrl":"https://example.org","events":null}`:                                            "events",
			`{"endpointUrl":"https://example.org","events":[""]}`:                                            "events[0]",
			`{"endpointUrl":7,"events":["content.delete"]}`:                                                  "endpointUrl",
			`{"endpointUrl":"ftp://x","events":["content.delete"]}`:                                          "http://",
			`{"endpointUrl":"https://user:pass@example.org","events":["content.delete"]}`:                    "user name",
			`{"endpointUrl":"https://","events":["content.delete"]}`:                                         "host",
			`{"endpointUrl":"https://example.org/a b","events":["content.delete"]}`:                          "not a URL",
			`{"endpointUrl":"https://example.org/\u0000","events":["content.delete"]}`:                       "U+0000",
			`{"endpointUrl":"https://example.org:0/","events":["content.delete"]}`:                           "port",
			`{"endpointUrl":"https://example.org:65536/","events":["content.delete"]}`:                       "port",
			`{"endpointUrl":"https://example.org/#x","events":["content.delete"]}`:                           "fragment",
			`{"endpointUrl":"` + long + `","events":["content.delete"]}`:                                     "2048",
			`{"endpointUrl":"http://127.0.0.1:8080/x","events":["content.delete"]}`:                          "itself",
			`{"endpointUrl":"http://10.0.0.1/","events":["content.delete"]}`:                                 "not public",
			`{"endpointUrl":"http://[::ffff:10.0.0.1]/","events":["content.delete"]}`:                        "not public",
			`{"endpointUrl":"http://169.254.169.254/latest","events":["content.delete"]}`:                    "not public",
			`{"endpointUrl":"https://example.org","events":["content.delted"]}`:                              `did you mean \"content.delete\"`,
			`{"endpointUrl":"https://example.org","events":["content.publish.live"]}`:                        "content.published",
			`{"endpointUrl":"https://example.org","events":["config.saved"]}`:                                "there is no event",
			`{"endpointUrl":"https://example.org","events":["content.delete"],"secret":"mine"}`:              "secret",
			`{"endpointUrl":"https://example.org","events":["content.delete"],"rate":-1}`:                    "rate",
			`{"endpointUrl":"https://example.org","events":["content.delete"],"concurrency":65}`:             "concurrency",
			`{"endpointUrl":"https://example.org","events":["content.delete"],"contentTypes":[""]}`:          "contentTypes",
			`{"endpointUrl":"https://example.org","events":["content.delete"],"description":"` + long + `"}`: "description",
			`[]`:  "",
			`{`:   "",
			``:    "",
			`"x"`: "",
		} {
			if status, text := s.do("POST", base, "ann", body); status != 400 || !strings.Contains(text, want) {
				t.Errorf("%s: %d %s (wanted %s)", body, status, text, want)
			}
		}
		for _, good := range []string{"content.published.live", "content.*", "*", "alias.update.quoin_x", "manage_alias.update.quoin_x", "webhook_ping", "content.published.*", "content.published.a*"} {
			s.register("https://example.org/"+good, "", good)
		}
		s.want(200, "POST", base, "root", `{"endpointUrl":"https://example.org","events":["config.saved"]}`, nil)
		s.want(401, "POST", base, "", `{}`, nil)
		s.want(403, "POST", base, "guest", `{}`, nil)
	})
}

func TestTooManySubscriptions(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		s.config.MaxSubscriptions = 2
		s.register("https://example.org/1", "", "content.delete")
		s.register("https://example.org/2", "", "content.delete")
		s.want(409, "POST", base, "ann", `{"endpointUrl":"https://example.org/3","events":["content.delete"]}`, nil)
		s.register("https://example.org/2", "", "content.delete")
	})
}

// Everybody manages their own, administrators those of others.
func TestManage(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, nil)
		r := s.register("https://example.org/1", "", "content.delete")
		path := base + "/" + r.ID
		for _, c := range []struct{ method, path, body string }{
			{"GET", "", ""}, {"PATCH", "", `{"rate":5}`}, {"POST", "/pause", ""}, {"POST", "/resume", ""}, {"POST", "/rotate-secret", ""},
			{"POST", "/test", ""}, {"GET", "/deliveries", ""}, {"GET", "/deliveries/1", ""}, {"POST", "/deliveries/1/replay", ""},
			{"POST", "/replay", `{"after":0}`},
		} {
			s.want(404, c.method, path+c.path, "bob", c.body, nil)
		}
		s.want(200, "DELETE", path, "bob", "", nil)
		var list []struct{ ID, Status string }
		if s.want(200, "GET", base, "bob", "", &list); len(list) != 0 {
			t.Errorf("%v", list)
		}
		if s.want(200, "GET", base, "root", "", &list); len(list) != 1 || list[0].Status != "active" {
			t.Errorf("%v", list)
		}
		var view struct {
			Rate   int
			Events []string
			Status string
		}
		s.want(200, "PATCH", path, "root", `{"rate":5,"events":["content.*"]}`, &view)
		if view.Rate != 5 || view.Events[0] != "content.*" {
			t.Errorf("%+v", view)
		}
		s.want(400, "PATCH", path, "ann", `{"rate":-5}`, nil)
		s.want(400, "PATCH", path, "ann", `{"secret":"x"}`, nil)
		s.register("https://example.org/1", "", "content.delete")
		s.want(409, "PATCH", path, "ann", `{"events":["content.delete"]}`, nil)
		s.want(200, "POST", path+"/pause", "ann", "", &view)
		if view.Status != "paused" {
			t.Errorf("%+v", view)
		}
		var rotated registered
		s.want(200, "POST", path+"/rotate-secret", "ann", "", &rotated)
		if rotated.Secret == r.Secret || rotated.ID != r.ID {
			t.Errorf("%+v", rotated)
		}
		s.want(400, "POST", path+"/test", "ann", `{"event":"content.delete"}`, nil)
		s.want(400, "POST", path+"/replay", "ann", `{}`, nil)
		s.want(404, "POST", path+"/deliveries/99/replay", "ann", "", nil)
		s.want(400, "GET", path+"/deliveries?status=x", "ann", "", nil)
		s.want(400, "GET", path+"/deliveries?limit=501", "ann", "", nil)
		if text := s.want(200, "GET", "/api/webhook-events", "ann", "", nil); !strings.Contains(text, "webhook.disabled") || strings.Contains(text, "config.saved") {
			t.Error(text)
		}
	})
}
