package job_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/job"
)

func TestALostWorker(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.create("x", "t")
		first := s.post("worker", "next-job/t?lease=60", "[]").is(200).header.Get("X-Job-Claim")
		s.clock.Advance(50 * time.Second)
		s.post("worker", "job-heartbeat/"+id, "[]", "X-Job-Claim", first).is(200).has("lease_seconds", "60", "cancel", "false")
		s.clock.Advance(50 * time.Second)
		s.post("worker", "next-job/t", "[]").is(200).keys("success", "message", "acknowledged")
		s.clock.Advance(11 * time.Second)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		// nobody took it: the worker may go on
		s.post("worker", "job-write/"+id, `{"message":"late","new-line":true}`, "X-Job-Claim", first).is(200)
		s.post("worker", "next-job/t", "[]").is(200).keys("success", "message", "acknowledged")
		s.clock.Advance(61 * time.Second)
		second := s.post("worker", "next-job/t?lease=60", "[]").is(200).has("job_id", `"`+id+`"`).header.Get("X-Job-Claim")
		for _, path := range []string{"job-write/", "job-heartbeat/", "job-completed/", "job-failed/"} {
			s.post("worker", path+id, `{"message":"stale"}`, "X-Job-Claim", first).is(409).has("code", `"stale_claim"`)
		}
		s.post("worker", "job-completed/"+id, `{"claim":"`+second+`"}`).is(200)
		out := s.get("job-status/" + id).text("output")
		if !strings.HasPrefix(out, "late\n") || !strings.Contains(out, "attempt 2 begins") || strings.Contains(out, "stale") {
			t.Errorf("%q", out)
		}
		// three losses are enough
		id = s.create("x", "t")
		for range 4 {
			s.post("worker", "next-job/t?lease=5", "[]").is(200).has("job_id", `"`+id+`"`)
			s.clock.Advance(6 * time.Second)
		}
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.get("job-status/"+id).has("state", `"failed"`, "status", `"failed"`, "attempt", "4")
		// or one, by policy
		id = s.post("admin", "job/create", `{"command":"x","tag":"t","lost":"fail"}`).is(200).text("id")
		s.post("worker", "next-job/t?lease=5", "[]").is(200).has("job_id", `"`+id+`"`)
		s.clock.Advance(6 * time.Second)
		s.post("worker", "next-job/t", "[]").is(200).keys("success", "message", "acknowledged")
		s.get("job-status/"+id).has("state", `"failed"`)
	})
}

func TestCancel(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.create("x", "t")
		s.post("root", "job-cancel/"+id, "[]").is(200).has("state", `"cancelled"`)
		s.post("worker", "next-job/t", "[]").is(200).keys("success", "message", "acknowledged")
		s.get("job-status/"+id).has("done", "true", "status", `"cancelled"`)
		id = s.create("x", "t")
		s.post("worker", "next-job/t", "[]").is(200).has("job_id", `"`+id+`"`)
		s.post("worker", "job-cancel/"+id, "[]").is(403)
		s.post("admin", "job-cancel/"+id, "[]").is(200).has("state", `"running"`)
		s.post("worker", "job-write/"+id, "[]").is(200).has("cancel", "true")
		s.post("worker", "job-heartbeat/"+id, "[]").is(200).has("cancel", "true")
		s.post("worker", "job-failed/"+id, `{"message":"told to end"}`).is(200)
		s.get("job-status/"+id).has("state", `"cancelled"`)
		// inside the server
		id = s.create("wait", "")
		done := make(chan *answer, 1)
		go func() { done <- s.post("admin", "start-job/"+id, "[]") }()
		<-s.steps.entered
		s.call("admin", "DELETE", "/api/admin/job/"+id, "").is(409)
		s.post("admin", "job-cancel/"+id, "[]").is(200)
		(<-done).is(200)
		s.get("job-status/"+id).has("state", `"cancelled"`)
		s.post("admin", "job-retry/"+id, "[]").is(200)
		<-s.steps.entered
		s.steps.leave <- nil
		s.post("admin", "start-job/"+id, "[]").is(200)
		s.get("job-status/"+id).has("state", `"done"`, "attempt", "2")
		s.call("worker", "DELETE", "/api/admin/job/"+id, "").is(403)
		s.call("admin", "DELETE", "/api/admin/job/"+id, "").is(200).has("id", `"`+id+`"`)
		s.get("job-status/" + id).is(404)
	})
}

func TestRetries(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.post("admin", "job/create", `{"command":"x","tag":"t","retries":1}`).is(200).text("id")
		s.post("worker", "next-job/t", "[]").is(200)
		s.post("worker", "job-failed/"+id, `{"message":"first"}`).is(200)
		s.get("job-status/"+id).has("done", "false", "started", "false", "state", `"waiting"`)
		s.post("worker", "next-job/t", "[]").is(200).keys("success", "message", "acknowledged")
		s.clock.Advance(11 * time.Second)
		s.post("worker", "next-job/t", "[]").is(200).has("job_id", `"`+id+`"`)
		s.post("worker", "job-failed/"+id, `{"message":"second"}`).is(200)
		s.get("job-status/"+id).has("done", "true", "state", `"failed"`)
	})
}

// TestAFailureThatIsToldTwice: a worker that did not get the answer tells again,
// and the job keeps its retries.
func TestAFailureThatIsToldTwice(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		for _, named := range []bool{true, false} {
			id := s.post("admin", "job/create", `{"command":"x","tag":"t","retries":2}`).is(200).text("id")
			var claim []string
			if a := s.post("worker", "next-job/t", "[]").is(200); named {
				claim = []string{"X-Job-Claim", a.header.Get("X-Job-Claim")}
			}
			for range 3 {
				s.post("worker", "job-failed/"+id, `{"message":"no luck"}`, claim...).is(200)
			}
			s.post("worker", "job-completed/"+id, "[]", claim...).is(409).has("code", `"job_not_running"`)
			out := s.get("job-status/"+id).has("state", `"waiting"`, "done", "false").text("output")
			if n := strings.Count(out, "no luck"); n != 1 {
				t.Errorf("told %d times: %q", n, out)
			}
			s.clock.Advance(11 * time.Second)
			s.post("worker", "next-job/t", "[]").is(200).has("job_id", `"`+id+`"`)
			s.post("worker", "job-completed/"+id, "[]").is(200)
			s.get("job-status/"+id).has("state", `"done"`, "attempt", "2")
		}
	})
}

// TestAWorkerOfBefore that comes back when its job was begun anew has no part in
// it any more.
func TestAWorkerOfBefore(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.post("admin", "job/create", `{"command":"x","tag":"t","lost":"fail"}`).is(200).text("id")
		old := s.post("worker", "next-job/t?lease=5", "[]").is(200).header.Get("X-Job-Claim")
		s.clock.Advance(6 * time.Second)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.get("job-status/"+id).has("state", `"failed"`)
		s.post("admin", "job-retry/"+id, "[]").is(200)
		for _, path := range []string{"job-write/", "job-heartbeat/", "job-completed/", "job-failed/"} {
			s.post("worker", path+id, `{"message":"stale"}`, "X-Job-Claim", old).is(409).has("code", `"stale_claim"`)
		}
		if out := s.get("job-status/"+id).has("state", `"waiting"`).text("output"); strings.Contains(out, "stale") {
			t.Errorf("%q", out)
		}
	})
}

// TestAnOldJobThatIsBegunAnew while old jobs are removed stays.
func TestAnOldJobThatIsBegunAnew(t *testing.T) {
	t.Parallel()
	s := serveOn(t, open(t, db.Config{URL: postgres(t)}), nil)
	id := s.create("x", "t")
	s.post("worker", "next-job/t", "[]").is(200)
	s.post("worker", "job-write/"+id, `{"message":"of before"}`).is(200)
	s.post("worker", "job-completed/"+id, "[]").is(200)
	s.clock.Advance(time.Hour)
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	type cleared struct {
		n   int
		err error
	}
	done := make(chan cleared, 1)
	err = s.db.InTx(auth.With(t.Context(), testUsers()["admin"]), func(ctx context.Context) error {
		if _, err := s.Retry(ctx, number); err != nil {
			return err
		}
		go func() {
			n, err := s.Clear(context.WithoutCancel(t.Context()), time.Minute)
			done <- cleared{n, err}
		}()
		testkit.Eventually(t, func() bool { // it has read the old state, and waits for the row
			var n int
			err := s.db.Row(t.Context(), db.SQL(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)).Scan(&n)
			return err == nil && n > 0
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if c := <-done; c.err != nil || c.n != 0 {
		t.Errorf("%+v", c)
	}
	if out := s.get("job-status/"+id).is(200).has("state", `"waiting"`).text("output"); !strings.HasPrefix(out, "of before") {
		t.Errorf("%q", out)
	}
}

func TestOffsets(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.create("x", "t")
		s.post("worker", "next-job/t", "[]").is(200)
		for _, c := range []struct {
			body   string
			status int
			size   string
		}{
			{`{"message":"añb","new-line":true,"offset":0}`, 200, "5"},
			{`{"message":"añb","new-line":true,"offset":0}`, 200, "5"},
			{`{"message":"b\ncd","offset":3}`, 200, "7"},
			{`{"message":"x","offset":8}`, 409, ""},
			{`{"message":"x","offset":-1}`, 400, ""},
			{`{"message":"x","offset":1.5}`, 400, ""},
			{`{"message":"x","offset":"1"}`, 400, ""},
			{`{"message":[5]}`, 400, ""},
			{`{"message":"x","new-line":"yes"}`, 400, ""},
			{`{"message"`, 400, ""},
			{`"text"`, 400, ""},
		} {
			if got := s.post("worker", "job-write/"+id, c.body).is(c.status).header.Get("X-Job-Offset"); got != c.size {
				t.Errorf("%s: offset %q, want %q", c.body, got, c.size)
			}
		}
		s.get("job/"+id+"/output?from=1").is(200).has("output", `"ñb\ncd"`, "from", "1", "next", "7", "done", "false")
		s.get("job/"+id+"/output?from=7").is(200).has("output", `""`, "next", "7")
		s.get("job/" + id + "/output?from=8").is(400)
		s.get("job/" + id + "/output?from=-1").is(400)
		s.get("job/" + id + "/output?from=x").is(400)
		if a := s.get("job/"+id+"/output", "Accept", "text/plain").is(200); string(a.body) != "añb\ncd" || a.header.Get("X-Job-Offset") != "7" {
			t.Errorf("%s %v", a.body, a.header)
		}
	})
}

func TestOutputIsCutOnce(t *testing.T) {
	s := serve(t, func(c *job.Config) { c.MaxOutput = 1024 })
	id := s.create("x", "t")
	s.post("worker", "next-job/t", "[]").is(200)
	for range 5 {
		s.post("worker", "job-write/"+id, `{"message":"`+strings.Repeat("é", 200)+`"}`).is(200)
	}
	out := s.get("job-status/" + id).text("output")
	if !strings.HasPrefix(out, strings.Repeat("é", 512)) || strings.Count(out, "not kept") != 1 || len(out) > 1200 {
		t.Errorf("%d bytes: …%s", len(out), out[1000:])
	}
}

// TestTheOutputIsFollowed reads events while a worker writes.
func TestTheOutputIsFollowed(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.create("x", "t")
		s.post("worker", "next-job/t", "[]").is(200)
		s.post("worker", "job-write/"+id, `{"message":"one\n"}`).is(200)
		req := s.request("admin", "GET", "/api/admin/job/"+id+"/output", "")
		req.Header.Set("Accept", "text/event-stream")
		res, err := s.client.Do(req)
		if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatal(res, err)
		}
		lines := bufio.NewScanner(res.Body)
		event := func() string {
			var all []string
			for lines.Scan() && lines.Text() != "" {
				all = append(all, lines.Text())
			}
			return strings.Join(all, "|")
		}
		expect := func(want string) {
			t.Helper()
			if got := event(); got != want {
				t.Fatalf("%q, want %q", got, want)
			}
		}
		expect(`event: output|id: 4|data: "one\n"`)
		s.post("worker", "job-write/"+id, `{"message":"tw"}`).is(200)
		expect(`event: output|id: 6|data: "tw"`)
		s.post("worker", "job-completed/"+id, "").is(200)
		expect(`event: end|data: {"state":"done","next":6}`)
		_ = res.Body.Close()
		if a := s.get("job/"+id+"/output", "Accept", "text/event-stream", "Last-Event-ID", "5").is(200); !strings.HasPrefix(string(a.body), "event: output\nid: 6\ndata: \"w\"\n\nevent: end") {
			t.Errorf("%s", a.body)
		}
	})
}

// TestAWaitingWorkerIsWoken: the job comes while next-job waits.
func TestAWaitingWorkerIsWoken(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		got := make(chan string, 3)
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() { got <- s.post("worker", "next-job/t?wait=50", "[]").is(200).text("job_id") })
		}
		ids := map[string]bool{}
		begin := time.Now()
		for range 3 {
			ids[s.create("x", "t")] = true
		}
		for range 3 {
			id := <-got
			if !ids[id] {
				t.Errorf("the job %s was given twice, or never made", id)
			}
			delete(ids, id)
		}
		waiting.Wait()
		if took := time.Since(begin); took > 40*time.Second { // they wait for fifty
			t.Errorf("it took %s", took)
		}
		// a stopping server answers those who wait
		go func() { got <- fmt.Sprint(s.post("worker", "next-job/t?wait=50", "[]").status) }()
		close(s.stopping)
		if status := <-got; status != "200" {
			t.Error(status)
		}
	})
}

func TestManyWorkersNeverGetTheSameJob(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		const jobs = 100
		for range jobs {
			s.create("x", "t")
		}
		var mu sync.Mutex
		given := map[string]int{}
		var workers sync.WaitGroup
		for range 8 {
			workers.Go(func() {
				for {
					a := s.post("worker", "next-job/t", "[]").is(200)
					if a.raw("job_id") == "" {
						return
					}
					mu.Lock()
					given[a.text("job_id")]++
					mu.Unlock()
				}
			})
		}
		workers.Wait()
		if len(given) != jobs {
			t.Errorf("%d jobs were given, want %d", len(given), jobs)
		}
		for id, n := range given {
			if n != 1 {
				t.Errorf("the job %s was given %d times", id, n)
			}
		}
	})
}

// TestACommandOfAServerThatDied begins again in the next one.
func TestACommandOfAServerThatDied(t *testing.T) {
	dead := serve(t, func(c *job.Config) { c.Workers = 0 })
	id := dead.create("say hello", "")
	dead.post("admin", "start-job/"+id, "[]").is(200).has("message", `"job is scheduled"`)
	if c, err := job.Claims(t.Context(), dead.Service); err != nil || c == nil {
		t.Fatal(c, err)
	}
	s := serveOn(t, dead.db, nil)
	s.clock.Advance(31 * time.Second)
	s.post("admin", "start-job/"+id, "[]").is(200).has("notice", `["The job `+id+` is done"]`)
	s.get("job-status/"+id).is(200).has("state", `"done"`, "attempt", "2")
}

// TestWhoIsLockedOutWhileWaiting gets no job, and reads no more of an output.
func TestWhoIsLockedOutWhileWaiting(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.create("x", "t")
		s.users.allow("worker", 1) // to begin the request
		s.post("worker", "next-job/t?wait=50", "[]").is(401)
		s.get("job-status/"+id).is(200).has("started", "false")

		s.post("root", "next-job/t", "[]").is(200)
		s.post("root", "job-write/"+id, `{"message":"one\n"}`).is(200)
		req := s.request("worker", "GET", "/api/admin/job/"+id+"/output", "")
		req.Header.Set("Accept", "text/event-stream")
		s.users.allow("worker", 1)
		res, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		events := bufio.NewReader(res.Body)
		if line, err := events.ReadString('\n'); err != nil || line != "event: output\n" {
			t.Fatalf("%q %v", line, err)
		}
		s.post("root", "job-write/"+id, `{"message":"two\n"}`).is(200)
		s.post("root", "job-completed/"+id, "").is(200)
		text, err := io.ReadAll(events)
		if err == nil || strings.Contains(string(text), "two") || strings.Contains(string(text), "end") {
			t.Errorf("%q %v", text, err)
		}
	})
}
