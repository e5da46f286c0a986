package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
)

// workerVariable makes the test binary a worker for jobs; its value is a file
// with the addresses of the servers, and the token in the last line.
const workerVariable = "QUOIN_TEST_WORKER"

// linesOfJob is how many lines each job writes.
const linesOfJob = 5

// TestNoJobIsLostOrDoneTwice kills workers and a server with SIGKILL while
// eight workers work. Every job is done once, or has failed and says why, and
// what each attempt wrote is there, once and in order. QUOIN_TEST_JOBS says how
// many jobs (80).
func TestNoJobIsLostOrDoneTwice(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		jobsSurvive(t, db.Config{Path: filepath.Join(dir, "quoin.db")}, 1, "QUOIN_DATA="+dir)
	})
	t.Run("postgres", func(t *testing.T) {
		url := testkit.Postgres(t)
		jobsSurvive(t, db.Config{URL: url}, 2, "QUOIN_DATABASE_URL="+url, "QUOIN_MODULES__SEARCH__ENABLED=false")
	})
}

func jobsSurvive(t *testing.T, c db.Config, servers int, vars ...string) {
	n := 80
	if text := os.Getenv("QUOIN_TEST_JOBS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	var running []*server
	for range servers {
		running = append(running, start(t, append(vars, "QUOIN_DATA="+dataOf(t, vars))...))
	}
	running[0].login()
	addresses := filepath.Join(t.TempDir(), "servers")
	publish := func() {
		var text strings.Builder
		for _, s := range running {
			text.WriteString(s.base + "\n")
		}
		text.WriteString(running[0].token)
		if err := errors.Join(os.WriteFile(addresses+".new", []byte(text.String()), 0o600), os.Rename(addresses+".new", addresses)); err != nil {
			t.Fatal(err)
		}
	}
	publish()
	for range n {
		running[0].must(http.MethodPost, "/api/admin/job/create", `{"command":"x","tag":"t"}`)
	}
	d, err := db.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	begin := time.Now()
	w := &crew{t: t, addresses: addresses}
	for range 8 {
		w.hire()
	}
	open := func() (left int) {
		if err := d.Row(t.Context(), db.SQL(`SELECT count(*) FROM job WHERE finished_at = 0`)).Scan(&left); err != nil {
			t.Fatal(err)
		}
		return left
	}
	kills, killed := 0, false
	for left := open(); left > 0; left = open() {
		if time.Since(begin) > 15*time.Minute {
			t.Fatalf("%d jobs are still not over", left)
		}
		testkit.Eventually(t, func() bool {
			return open() <= left-max(1, n/12) || open() == 0 || time.Since(begin) > time.Duration(kills+1)*6*time.Second
		})
		if kills < 12 {
			w.killOne()
			kills++
		}
		if !killed && open() < n/2 {
			killed = true
			last := len(running) - 1
			token := running[0].token
			running[last].kill()
			running[last] = start(t, append(vars, "QUOIN_DATA="+dataOf(t, vars))...)
			running[last].token = token
			publish()
		}
	}
	w.dismiss()
	checkJobs(t, d, n)
	t.Logf("%d jobs in %s, %d workers and a server killed", n, time.Since(begin).Round(time.Millisecond), kills)
}

// dataOf is the data folder of the variables, or a new one.
func dataOf(t *testing.T, vars []string) string {
	for _, v := range vars {
		if dir, yes := strings.CutPrefix(v, "QUOIN_DATA="); yes {
			return dir
		}
	}
	return t.TempDir()
}

// crew are workers in processes of their own.
type crew struct {
	t         *testing.T
	addresses string
	workers   []*exec.Cmd
}

func (w *crew) hire() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{workerVariable + "=" + w.addresses}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cmd.Process.Kill() })
	w.workers = append(w.workers, cmd)
}

func (w *crew) killOne() {
	i := rand.N(len(w.workers))
	_ = w.workers[i].Process.Kill()
	_ = w.workers[i].Wait()
	w.workers = append(w.workers[:i], w.workers[i+1:]...)
	w.hire()
}

func (w *crew) dismiss() {
	var all sync.WaitGroup
	for _, c := range w.workers {
		_ = c.Process.Kill()
		all.Go(func() { _ = c.Wait() })
	}
	all.Wait()
}

// checkJobs reads every job with its output.
func checkJobs(t *testing.T, d *db.DB, n int) {
	t.Helper()
	rows, err := d.Query(t.Context(), db.SQL(`SELECT id, state, attempt FROM job ORDER BY id`))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	states, again := map[string]int{}, 0
	for rows.Next() {
		var id int64
		var state string
		var attempt int
		if err := rows.Scan(&id, &state, &attempt); err != nil {
			t.Fatal(err)
		}
		states[state]++
		if attempt > 1 {
			again++
		}
		checkOutput(t, id, state, outputOf(t, d, id))
	}
	if states["done"]+states["failed"] != n || states["done"] < n/2 {
		t.Errorf("states %v of %d jobs", states, n)
	}
	t.Logf("states %v, %d jobs were begun more than once", states, again)
}

func outputOf(t *testing.T, d *db.DB, id int64) string {
	t.Helper()
	rows, err := d.Query(t.Context(), db.SQL(`SELECT text FROM job_output WHERE job_id = ? ORDER BY start`), id)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all.WriteString(text)
	}
	return all.String()
}

// checkOutput wants the lines of each attempt from the first on, once and in
// order, and all of them from the last attempt of a job that is done.
func checkOutput(t *testing.T, id int64, state, output string) {
	t.Helper()
	next, reason := 0, false
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
		case strings.HasPrefix(line, "[nothing was heard"):
			next = 0
		case strings.HasPrefix(line, "nothing was heard"):
			reason = true
		case line == fmt.Sprintf("job %d line %d", id, next):
			next++
		default:
			t.Errorf("job %d: %q where line %d should be:\n%s", id, line, next, output)
			return
		}
	}
	if state == "done" && next != linesOfJob || state == "failed" && !reason {
		t.Errorf("job %d is %s, but its output is\n%s", id, state, output)
	}
}

// errStale tells a worker that its job is no longer its own.
var errStale = errors.New("stale")

// runWorker takes jobs and works on them until it is killed.
func runWorker(addresses string) int {
	w := &worker{addresses: addresses, client: &http.Client{Timeout: 20 * time.Second}}
	for {
		head, body, err := w.send("next-job/t?wait=1&lease=5", "", "[]")
		var j struct {
			ID string `json:"job_id"`
		}
		if err != nil || json.Unmarshal(body, &j) != nil || j.ID == "" {
			continue
		}
		claim := head.Get("X-Job-Claim")
		size, _ := strconv.Atoi(head.Get("X-Job-Offset"))
		for i := 0; i < linesOfJob && err == nil; i++ {
			text := fmt.Sprintf("job %s line %d", j.ID, i)
			_, _, err = w.send("job-write/"+j.ID, claim, fmt.Sprintf(`{"message":%q,"new-line":true,"offset":%d}`, text, size))
			size += len(text) + 1
			<-time.After(rand.N(4 * time.Millisecond)) // the work
		}
		if err == nil {
			_, _, _ = w.send("job-completed/"+j.ID, claim, "")
		}
	}
}

type worker struct {
	addresses string
	client    *http.Client
}

// send tries one server after the other until one answers.
func (w *worker) send(path, claim, body string) (http.Header, []byte, error) {
	for {
		text, err := os.ReadFile(w.addresses)
		if err != nil {
			return nil, nil, err
		}
		lines := strings.Split(string(text), "\n")
		token := lines[len(lines)-1]
		base := lines[rand.N(len(lines)-1)]
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, base+"/api/admin/"+path, bytes.NewReader([]byte(body)))
		if err != nil {
			return nil, nil, err
		}
		req.Header.Set("X-Auth-Token", token)
		req.Header.Set("Content-Type", "application/json")
		if claim != "" {
			req.Header.Set("X-Job-Claim", claim)
		}
		resp, err := w.client.Do(req)
		if err == nil {
			answer, failed := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			switch {
			case failed == nil && resp.StatusCode == http.StatusOK:
				return resp.Header, answer, nil
			case resp.StatusCode == http.StatusConflict:
				return nil, nil, errStale
			case failed == nil && resp.StatusCode < 500:
				return nil, nil, fmt.Errorf("%d %s", resp.StatusCode, answer)
			}
		}
		<-time.After(20 * time.Millisecond)
	}
}
