package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Jobs is about commands that run later (spec 4.3). It needs ROLE_ADMIN or
// ROLE_JOB_WORKER.
type Jobs struct{ c *Client }

// NewJob is what a job is made from.
type NewJob struct {
	Command string `json:"command"`           // of the server, unless there is a tag
	Tag     string `json:"tag,omitempty"`     // of the workers outside that take it
	Retries int    `json:"retries,omitempty"` // how often it is tried again after it failed
	Lost    string `json:"lost,omitempty"`    // requeue or fail, when its worker falls silent
}

// Job is a job (spec 2.2).
type Job struct {
	ID         string    `json:"id"`
	Created    time.Time `json:"created"`
	Modified   time.Time `json:"modified"`
	Command    string    `json:"command"`
	Tag        string    `json:"tag"`
	User       string    `json:"user"`   // who made it
	Output     string    `json:"output"` // all of it
	OutputSize int64     `json:"output_size"`
	Started    bool      `json:"started"`
	Done       bool      `json:"done"`
	Status     string    `json:"status"` // words for people
	State      string    `json:"state"`  // waiting, running, done, failed or cancelled
	Attempt    int       `json:"attempt"`
	ExitCode   *int64    `json:"exit_code"` // nil: not known
}

// Create makes a job and gives its number. POST /api/admin/job/create (spec
// 4.3).
func (j *Jobs) Create(ctx context.Context, n NewJob) (id string, err error) {
	var a struct {
		ID string `json:"id"`
	}
	_, err = j.c.do(ctx, post("/api/admin/job/create").json(n), &a)
	return a.ID, err
}

// Get gives the state and output of a job. GET /api/admin/job/{job}/status (spec
// 4.3).
func (j *Jobs) Get(ctx context.Context, id string) (*Job, error) {
	var job Job
	if _, err := j.c.do(ctx, get("/api/admin/job/{}/status", id), &job); err != nil {
		return nil, err
	}
	return &job, nil
}

// List gives the numbers of the newest 10,000 jobs, the newest first. GET
// /api/admin/job.
func (j *Jobs) List(ctx context.Context) (ids []string, err error) {
	_, err = j.c.do(ctx, get("/api/admin/job"), &ids)
	return ids, err
}

// Begun is what became of a job that was started.
type Begun struct {
	Message string   `json:"message"`
	Notices []string `json:"notice"`
	Errors  []string `json:"error"` // not empty when the command has failed
}

// Start runs a command of the server and waits until it has ended, within the
// time that the server allows. A job with a tag is left to its worker. 403 for
// the job of somebody else. POST /api/admin/start-job/{job} (spec 4.3).
func (j *Jobs) Start(ctx context.Context, id string) (*Begun, error) {
	k := post("/api/admin/start-job/{}", id)
	k.wait = forever
	var b Begun
	if _, err := j.c.do(ctx, k, &b); err != nil {
		return nil, err
	}
	return &b, nil
}

// Cancel ends a job: one that runs is told so. POST /api/admin/job-cancel/{job}.
func (j *Jobs) Cancel(ctx context.Context, id string) (state string, err error) {
	return j.change(ctx, post("/api/admin/job-cancel/{}", id).idempotent())
}

// Retry begins a job anew that is over; 409 for another. POST
// /api/admin/job-retry/{job}.
func (j *Jobs) Retry(ctx context.Context, id string) (state string, err error) {
	return j.change(ctx, post("/api/admin/job-retry/{}", id))
}

func (j *Jobs) change(ctx context.Context, k *call) (string, error) {
	var a struct {
		State string `json:"state"`
	}
	_, err := j.c.do(ctx, k, &a)
	return a.State, err
}

// Delete removes a job and its output; 409 for one that runs. DELETE
// /api/admin/job/{job}.
func (j *Jobs) Delete(ctx context.Context, id string) error {
	_, err := j.c.do(ctx, newCall(http.MethodDelete, "/api/admin/job/{}", id), nil)
	return err
}

// Output is some of the output of a job.
type Output struct {
	Text  string `json:"output"`
	From  int64  `json:"from"` // offset in bytes
	Next  int64  `json:"next"` // from which to go on
	Done  bool   `json:"done"` // nothing more will come
	State string `json:"state"`
}

// Output reads about a MiB of the output from an offset on. See Follow. GET
// /api/admin/job/{job}/output.
func (j *Jobs) Output(ctx context.Context, id string, from int64) (*Output, error) {
	var o Output
	if _, err := j.c.do(ctx, get("/api/admin/job/{}/output", id).number("from", from), &o); err != nil {
		return nil, err
	}
	return &o, nil
}

// Schedule makes jobs at given times.
type Schedule struct {
	Name     string    `json:"name"`
	Cron     string    `json:"cron"`
	Timezone string    `json:"timezone"`
	Command  string    `json:"command"`
	Tag      string    `json:"tag"`
	User     string    `json:"user"`
	Overlap  string    `json:"overlap"`      // skip, queue or allow
	Previous time.Time `json:"previous_run"` // zero: never
	Next     time.Time `json:"next_run"`
	Problem  string    `json:"problem"` // why it makes no jobs
}

// Schedules lists the schedules. They are changed as configuration: see Config,
// kind schedule. GET /api/admin/job-schedules.
func (j *Jobs) Schedules(ctx context.Context) (all []Schedule, err error) {
	_, err = j.c.do(ctx, get("/api/admin/job-schedules"), &all)
	return all, err
}

// Command is a command of the server.
type Command struct {
	Name    string          `json:"name"`
	Usage   string          `json:"usage"`
	Aliases []string        `json:"aliases"` // its names in elasticms
	Short   string          `json:"short"`
	Long    string          `json:"long"`
	Roles   []string        `json:"roles"` // all needed
	Options []CommandOption `json:"options"`
}

// CommandOption is a flag of a command.
type CommandOption struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // string, bool, int, duration or list
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

// Commands lists the commands that the caller may run as jobs. GET
// /api/admin/job-commands.
func (j *Jobs) Commands(ctx context.Context) (all []Command, err error) {
	_, err = j.c.do(ctx, get("/api/admin/job-commands"), &all)
	return all, err
}

// Claim is a job that this worker has. It is lost when the worker is silent for
// longer than Lease; every method renews that, and then fails with 409.
type Claim struct {
	ID      string
	Command string
	Output  string        // of a worker before
	Lease   time.Duration // 0: the server does not say

	j      *Jobs
	token  string
	offset int64
}

// Next takes a job with a tag. wait is how long to wait for one, and lease for
// how long the worker may be silent, both in whole seconds; 0 leaves it to the
// server. The claim is nil when there is no job. POST /api/admin/next-job/{tag}
// (spec 4.3).
func (j *Jobs) Next(ctx context.Context, tag string, wait, lease time.Duration) (*Claim, error) {
	k := post("/api/admin/next-job/{}", tag).number("wait", int64(wait/time.Second)).number("lease", int64(lease/time.Second))
	k.wait = wait
	return j.claim(ctx, k)
}

// Take takes a certain job with a tag: 404 for an unknown one, 400 for one that
// has another tag or does not wait. See Next.
func (j *Jobs) Take(ctx context.Context, tag, id string, lease time.Duration) (*Claim, error) {
	return j.claim(ctx, post("/api/admin/next-job/{}", tag).set("job_id", id).number("lease", int64(lease/time.Second)))
}

func (j *Jobs) claim(ctx context.Context, k *call) (*Claim, error) {
	var a struct {
		ID      string `json:"job_id"`
		Command string `json:"command"`
		Output  string `json:"output"`
	}
	h, err := j.c.do(ctx, k.judged(), &a)
	if err != nil || a.ID == "" {
		return nil, err
	}
	c := &Claim{ID: a.ID, Command: a.Command, Output: a.Output, j: j, token: h.Get("X-Job-Claim"), offset: int64(len(a.Output))}
	if n, err := strconv.ParseInt(h.Get("X-Job-Offset"), 10, 64); err == nil {
		c.offset = n
	}
	if n, err := strconv.ParseInt(h.Get("X-Job-Lease"), 10, 64); err == nil {
		c.Lease = time.Duration(n) * time.Second
	}
	return c, nil
}

// report tells the server something about the job.
func (c *Claim) report(ctx context.Context, verb string, body, out any) (http.Header, error) {
	k := post("/api/admin/"+verb+"/{}", c.ID).idempotent().judged().json(body)
	if c.token != "" {
		k.header.Set("X-Job-Claim", c.token)
	}
	return c.j.c.do(ctx, k, out)
}

// Print appends to the output; cancel tells that the job should end. Not for use
// by several goroutines at once. POST /api/admin/job-write/{job} (spec 4.3).
func (c *Claim) Print(ctx context.Context, text string) (cancel bool, err error) {
	var a struct {
		Cancel bool `json:"cancel"`
	}
	h, err := c.report(ctx, "job-write", map[string]any{"message": text, "new-line": false, "offset": c.offset}, &a)
	if err != nil {
		return false, err
	}
	c.offset += int64(len(text))
	if n, err := strconv.ParseInt(h.Get("X-Job-Offset"), 10, 64); err == nil {
		c.offset = n
	}
	return a.Cancel, nil
}

// Heartbeat tells that the worker still works; cancel that the job should end.
// POST /api/admin/job-heartbeat/{job}.
func (c *Claim) Heartbeat(ctx context.Context) (cancel bool, err error) {
	var a struct {
		Cancel bool `json:"cancel"`
	}
	_, err = c.report(ctx, "job-heartbeat", []string{}, &a)
	return a.Cancel, err
}

// Complete ends the job with success. POST /api/admin/job-completed/{job} (spec
// 4.3).
func (c *Claim) Complete(ctx context.Context) error {
	_, err := c.report(ctx, "job-completed", map[string]int{"exit_code": 0}, nil)
	return err
}

// Fail ends the job without success, for a reason that its output tells; one
// with retries left waits for the next. POST /api/admin/job-failed/{job} (spec
// 4.3).
func (c *Claim) Fail(ctx context.Context, reason string, exitCode int) error {
	body := map[string]any{"message": reason}
	if exitCode != 0 {
		body["exit_code"] = exitCode
	}
	_, err := c.report(ctx, "job-failed", body, nil)
	return err
}
