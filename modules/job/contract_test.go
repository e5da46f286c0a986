package job_test

import (
	"context"
	"strings"
	"testing"
)

func TestTheWayOfAJobWithAWorkerOutside(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		a := s.post("admin", "job", `{"class":"EMS\\CoreBundle\\Entity\\Job","arguments":[],"properties":{"command":"emscli:web:audit --x 'a","tag":"audit"}}`).is(200)
		id := a.text("id")
		a.has("success", "true", "jobId", `"`+id+`"`)
		for _, path := range []string{"job/" + id + "/status", "job-status/" + id} {
			s.get(path).is(200).has("id", `"`+id+`"`, "started", "false", "done", "false", "status", `""`, "output", "null", "user", `"admin"`, "tag", `"audit"`,
				"command", `"emscli:web:audit --x 'a"`, "created", `"2026-05-04T10:00:00+00:00"`)
		}
		s.post("admin", "start-job/"+id, "[]").is(200).keys("message", "job_id", "success", "acknowledged").has("job_id", id, "message", `"job is scheduled"`)
		s.post("worker", "next-job/other", "[]").is(200).keys("success", "message", "acknowledged")
		n := s.post("worker", "next-job/audit", "[]").is(200).keys("message", "job_id", "command", "output", "success", "acknowledged").
			has("job_id", `"`+id+`"`, "output", "null")
		claim := n.header.Get("X-Job-Claim")
		if claim == "" || n.header.Get("X-Job-Lease") != "1800" || n.header.Get("X-Job-Offset") != "0" {
			t.Errorf("%v", n.header)
		}
		s.post("worker", "next-job/audit", "[]").is(200).keys("success", "message", "acknowledged")
		s.post("worker", "job-write/"+id, `{"message":"one","new-line":true}`).is(200).keys("success", "acknowledged")
		s.post("worker", "job-write/"+id, `{"message":"t"}`, "X-Job-Claim", claim).is(200)
		s.post("worker", "job-write/"+id, `[]`).is(200)
		s.post("worker", "job-write/"+id, `{"message":"wo","new-line":false}`).is(200)
		s.get("job-status/"+id).is(200).has("started", "true", "done", "false", "output", `"one\ntwo"`, "state", `"running"`)
		s.post("worker", "job-completed/"+id, "[]").is(200).has("success", "true", "acknowledged", "true")
		s.post("worker", "job-completed/"+id, "").is(200)
		s.get("job-status/"+id).is(200).has("done", "true", "status", `"completed"`, "state", `"done"`)
		s.post("worker", "job-failed/"+id, `{"message":"no"}`).is(409)
		s.post("admin", "start-job/"+id, "[]").is(200).has("message", `"job already done"`)
		if got := s.told(); got != "job.done" {
			t.Errorf("events %q", got)
		}
	})
}

// Scripts send numbers as numbers and truth in quotes; the original takes both.
func TestAWorkerThatIsAScript(t *testing.T) {
	s := serve(t, nil)
	id := s.create("x", "t")
	s.post("worker", "next-job/t", "[]").is(200)
	for _, body := range []string{
		`{"message":5,"new-line":1}`, `{"message":"a","new-line":"1"}`, `{"message":"b","new-line":"true"}`, `{"message":"c","new-line":0}`,
		`{"message":"d","new-line":"0"}`, `{"message":"e","new-line":"false"}`, `{"message":"f","new-line":""}`, `{"message":null,"new-line":null}`, `{"message":-1.50}`,
	} {
		s.post("worker", "job-write/"+id, body).is(200)
	}
	for body, want := range map[string]string{
		`{"message":[]}`: "message: must be a string", `{"message":{"a":1}}`: "message: must be a string", `{"message":true}`: "message: must be a string",
		`{"new-line":[]}`: "new-line: must be a boolean", `{"new-line":2}`: "new-line: must be a boolean", `{"new-line":"yes"}`: "new-line: must be a boolean",
	} {
		if a := s.post("worker", "job-write/"+id, body).is(400); !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %s", body, a.body)
		}
	}
	s.post("worker", "job-failed/"+id, `{"message":137}`).is(200)
	s.get("job-status/"+id).is(200).has("output", `"5\na\nb\ncdef-1.50\n137\n"`)
}

func TestAJobThatFails(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.create("x", "t")
		s.post("worker", "next-job/t?job_id="+id, "[]").is(200).has("job_id", `"`+id+`"`)
		s.post("worker", "job-write/"+id, `{"message":"one"}`).is(200)
		s.post("worker", "job-failed/"+id, `{"message":"out of \u0000 paper","exit_code":3}`).is(200).has("success", "true")
		s.post("worker", "job-failed/"+id, `[]`).is(200)
		s.post("worker", "job-write/"+id, `{"message":"late"}`).is(200)
		s.get("job-status/"+id).is(200).has("done", "true", "status", `"failed"`, "output", `"one\nout of ? paper\nlate"`, "exit_code", "3")
		s.post("worker", "job-completed/"+id, "[]").is(409)
		s.post("worker", "job-heartbeat/"+id, "[]").is(409)
		if got := s.told(); got != "job.failed" {
			t.Errorf("events %q", got)
		}
		id = s.create("x", "t")
		s.post("worker", "next-job/t", "[]").is(200)
		s.post("worker", "job-failed/"+id, "").is(200)
		s.get("job-status/"+id).is(200).has("output", `"\njob failed\n"`)
	})
}

func TestCommandsOfTheServer(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.create(`old:say 'a b' "c\"d" --times=2 --with x,y e\ f`, "")
		s.get("job-status/"+id).is(200).has("started", "false", "done", "false")
		s.post("root", "start-job/"+id, "[]").is(403)
		s.post("admin", "start-job/"+id, "[]").is(200).has("job_id", id, "success", "true", "notice", `["The job `+id+` is done"]`)
		line := `a b c\"d e f x y\n`
		s.get("job-status/"+id).is(200).has("done", "true", "status", `"completed"`, "exit_code", "0", "output", `"`+line+line+`"`)
		id = s.create("fail", "")
		a := s.post("admin", "start-job/"+id, "[]").is(200)
		if a.raw("notice") == "" || !strings.Contains(a.raw("error"), "failed") {
			t.Errorf("%s", a.body)
		}
		s.get("job-status/"+id).is(200).has("status", `"failed"`, "exit_code", "1", "output", `"trying\nit did not work\n"`)
		id = s.create("crash", "")
		s.post("admin", "start-job/"+id, "[]").is(200)
		if got := s.get("job-status/" + id).text("output"); strings.Contains(got, "secret") || !strings.Contains(got, "crashed") {
			t.Errorf("%q", got)
		}
	})
}

// TestAStartGoesOnWithoutItsClient leaves in the middle of start-job, as the
// old client does after a second.
func TestAStartGoesOnWithoutItsClient(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.create("wait", "")
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := s.client.Do(s.request("admin", "POST", "/api/admin/start-job/"+id, "[]").WithContext(ctx))
			left <- err
		}()
		if who := <-s.steps.entered; who != "admin" {
			t.Errorf("it runs as %q", who)
		}
		leave()
		if err := <-left; err == nil {
			t.Fatal("the command waits, so there is no answer yet")
		}
		s.get("job-status/"+id).has("started", "true", "done", "false")
		s.idle()
		s.post("worker", "job-write/"+id, `{"message":"x"}`).is(409)
		s.steps.leave <- nil
		s.post("admin", "start-job/"+id, "[]").is(200)
		s.get("job-status/"+id).has("done", "true", "status", `"completed"`)
	})
}
