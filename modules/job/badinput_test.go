package job_test

import (
	"strings"
	"testing"
)

func TestWhoMayDoWhat(t *testing.T) {
	s := serve(t, nil)
	id := s.create("x", "t")
	for _, c := range []struct {
		as, method, path, body string
		status                 int
	}{
		{"", "POST", "job/create", `{"command":"x"}`, 401},
		{"nobody", "POST", "next-job/t", `[]`, 401},
		{"noapi", "POST", "next-job/t", `[]`, 403},
		{"author", "POST", "job/create", `{`, 403},
		{"author", "GET", "job/" + id + "/status", ``, 403},
		{"author", "POST", "next-job/t", ``, 403},
		{"worker", "POST", "job/create", `{"command":"say x"}`, 403},
		{"worker", "POST", "job/create", `{"command":"x","tag":"t"}`, 200},
		{"worker", "POST", "start-job/" + id, `[]`, 403},
		{"worker", "POST", "job-cancel/" + id, `[]`, 403},
		{"worker", "GET", "job-status/" + id, ``, 200},
		{"admin", "POST", "job/create", `{"command":"super"}`, 403},
		{"root", "POST", "job/create", `{"command":"super"}`, 200},
		{"root", "POST", "job/create", `{"command":"host read"}`, 400},
	} {
		s.call(c.as, c.method, "/api/admin/"+c.path, c.body).is(c.status)
	}
}

// A worker outside sees and ends nothing of the commands of the server.
func TestCommandsOfOthersAreNoneOfAWorker(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.create("say secret", "")
		for path, body := range map[string]string{"job-completed/": "[]", "job-failed/": `{"message":"no"}`, "job-write/": `{"message":"x"}`} {
			s.post("worker", path+id, body).is(403).has("code", `"foreign_job"`)
		}
		s.post("admin", "start-job/"+id, "[]").is(200)
		for _, path := range []string{"job-status/" + id, "job/" + id + "/status", "job/" + id + "/output", "job/" + id} {
			s.call("admin", "GET", "/api/admin/"+path, "").is(200)
			s.call("worker", "GET", "/api/admin/"+path, "").is(403).has("code", `"foreign_job"`)
		}
	})
}

func TestJobsThatAreNotThere(t *testing.T) {
	s := serve(t, nil)
	for _, id := range []string{"0", "-1", "999", "x", "1.0", "01", "+1", "9223372036854775808", strings.Repeat("9", 500), "%20", "%C3%A9"} {
		for _, path := range []string{"job/" + id + "/status", "job-status/" + id, "job/" + id, "job/" + id + "/output"} {
			s.get(path).is(404)
		}
		for _, path := range []string{"start-job/", "job-write/", "job-completed/", "job-failed/", "job-heartbeat/", "job-cancel/", "job-retry/"} {
			s.post("admin", path+id, "[]").is(404)
		}
	}
	if out := s.post("admin", "next-job/t?job_id=7", "[]").is(404); !strings.Contains(string(out.body), "there is no job 7\"") {
		t.Errorf("%s", out.body)
	}
	s.post("admin", "next-job/t?job_id=x", "[]").is(404)
	id := s.create("x", "t")
	s.post("admin", "next-job/other?job_id="+id, "[]").is(400)
	s.post("admin", "next-job/t?job_id="+id, "[]").is(200)
	s.post("admin", "next-job/t?job_id="+id, "[]").is(400)
	for _, query := range []string{"wait=-1", "wait=x", "lease=-5", "lease=1e9"} {
		s.post("admin", "next-job/t?"+query, "[]").is(400)
	}
}

func TestJobsThatCannotBeCreated(t *testing.T) {
	s := serve(t, nil)
	for body, want := range map[string]string{
		`{`:                                      "",
		`[]`:                                     "command",
		`5`:                                      "",
		`{}`:                                     "command",
		`{"command":""}`:                         "command",
		`{"command":"  "}`:                       "command",
		`{"command":null}`:                       "command",
		`{"command":5}`:                          "command",
		`{"command":["say"]}`:                    "command",
		`{"command":"x","tag":5}`:                "tag",
		`{"command":"x","tag":"a/b"}`:            "tag",
		`{"command":"x","tag":" a"}`:             "tag",
		`{"command":"x","tag":"a\nb"}`:           "tag",
		`{"command":"x","tag":"t","retries":-1}`: "retries",
		`{"command":"x","tag":"t","retries":1e3}`:          "retries",
		`{"command":"x","tag":"t","retries":1000}`:         "retries",
		`{"command":"x","tag":"t","lost":"perhaps"}`:       "lost",
		`{"command":"x\u0000","tag":"t"}`:                  "command",
		`{"command":"say a\nsay b"}`:                       "line",
		`{"command":"say a; say b"}`:                       ";",
		`{"command":"say a && say b"}`:                     "&",
		`{"command":"say a | say b"}`:                      "|",
		`{"command":"say 'a"}`:                             "closed",
		`{"command":"say \"a"}`:                            "closed",
		`{"command":"say a\\"}`:                            "backslash",
		`{"command":"sai a"}`:                              `did you mean`,
		`{"command":"old:sya a"}`:                          `did you mean \"old:say\"`,
		`{"command":"emscli:web:audit"}`:                   "tag",
		`{"command":"say"}`:                                "usage",
		`{"command":"say a --tiems=2"}`:                    `did you mean \"--times\"`,
		`{"command":"say a --times"}`:                      "needs a value",
		`{"command":"say a --times=x"}`:                    "whole number",
		`{"command":"say a --times=1 --times=2"}`:          "twice",
		`{"command":"say a --loud=perhaps"}`:               "neither true nor false",
		`{"command":"say a --for=5"}`:                      "duration",
		`{"command":"` + strings.Repeat("x", 70000) + `"}`: "longer",
	} {
		a := s.post("root", "job/create", body).is(400)
		if !strings.Contains(string(a.body), want) {
			t.Errorf("%.80s: %s", body, a.body)
		}
	}
	for _, body := range []string{`{}`, `{"properties":5}`, `{"properties":{}}`, `{"class":"x","arguments":[],"properties":{"tag":"t"}}`} {
		s.post("root", "job", body).is(400)
	}
	if ids := string(s.get("job").is(200).body); strings.TrimSpace(ids) != "[]" {
		t.Errorf("%s", ids)
	}
	s.post("root", "job/create", `{"command":"say ';' \"a;b\" \\;"}`).is(200)
}
