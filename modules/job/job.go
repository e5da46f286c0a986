// Package job keeps commands that are to be run: some inside the server, those
// with a tag by workers outside (spec.md 2.2, 3.1, 4.3).
package job

import (
	"fmt"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

// State is where a job stands.
type State string

// The states. A job that failed and is tried again waits.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Over reports whether nothing more will happen.
func (s State) Over() bool { return s == Done || s == Failed || s == Cancelled }

// What becomes of a job whose worker falls silent.
const (
	lostRequeue = "requeue"
	lostFail    = "fail"
)

// Bounds of what clients choose.
const (
	minLease   = 5 * time.Second
	maxLease   = 24 * time.Hour
	maxCommand = 64 << 10 // bytes
	maxTag     = 200      // bytes
	maxRetries = 100
	maxStatus  = 250 // bytes
)

// The values of status that clients may rely on; while a command runs inside
// the server it is the last line that it printed, and empty before that.
const (
	statusCompleted = "completed"
	statusFailed    = "failed"
	statusCancelled = "cancelled"
)

// Job is a job as it is stored, without its output.
type Job struct {
	ID       int64
	Command  string
	Tag      string // empty: a command of this program
	User     string // who created it
	State    State
	Status   string
	Created  time.Time
	Modified time.Time
	Started  time.Time // of the last attempt; zero before the first
	Finished time.Time // zero until it is over
	Attempt  int       // how often it was begun
	ExitCode *int64
	Schedule string // the schedule that made it, or empty
	Size     int64  // of the output, bytes
	Cut      bool   // more was written than is kept

	cancel   bool // it should end
	claim    string
	owner    string // empty unless it is leased
	due      time.Time
	lease    time.Duration
	lost     string
	losses   int64
	retries  int64
	failures int64
	trace    string // of the request that created it
}

// jobView is a job as clients see it (spec.md 2.2).
type jobView struct {
	ID       string  `json:"id"`
	Created  string  `json:"created"`
	Modified string  `json:"modified"`
	Command  string  `json:"command"`
	Tag      string  `json:"tag" doc:"empty for a command of the server"`
	User     string  `json:"user" doc:"who created it"`
	Done     bool    `json:"done"`
	Output   *string `json:"output"`
	Started  bool    `json:"started"`
	Status   string  `json:"status" doc:"empty at first; the last line while the command runs inside the server; then completed, failed or cancelled"`
	State    State   `json:"state" enum:"waiting,running,done,failed,cancelled"`
	Attempt  int     `json:"attempt" doc:"how often it was begun"`
	ExitCode *int64  `json:"exit_code" doc:"null unless it is known"`
	Size     int64   `json:"output_size" doc:"bytes"`
}

func (j *Job) view(output *string) jobView {
	return jobView{
		ID: strconv.FormatInt(j.ID, 10), Created: atom(j.Created), Modified: atom(j.Modified), Command: j.Command, Tag: j.Tag, User: j.User,
		Done: j.State.Over(), Output: output, Started: !j.Started.IsZero() && j.State != Waiting, Status: j.Status, State: j.State,
		Attempt: j.Attempt, ExitCode: j.ExitCode, Size: j.Size,
	}
}

// atom writes a time as the API does.
func atom(t time.Time) string { return t.UTC().Format(web.Atom) }

// parseID reads the number of a job; what is none is not there.
func parseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 || strconv.FormatInt(id, 10) != text {
		return 0, unknown(text)
	}
	return id, nil
}

func unknown(id any) error {
	return problem.New(problem.NotFound, "there is no job %.40s", fmt.Sprint(id)).WithCode("unknown_job")
}

// The queues of core/work.
const serverQueue = "server"

func queueOf(tag string) string {
	if tag == "" {
		return serverQueue
	}
	return "tag:" + tag
}
