package job

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/web"
)

// fromWorker is a message of a worker about a job.
type fromWorker struct {
	JobPath
	Claim   string `header:"X-Job-Claim" doc:"the token that next-job gave; a claim that is not the newest any more is refused with 409"`
	RawBody []byte `contentType:"application/json"`
}

// read gives the report and the message.
func (in *fromWorker) read() (Report, message, error) {
	id, err := parseID(in.Job)
	if err != nil {
		return Report{}, message{}, err
	}
	m, err := parseMessage(in.RawBody)
	return Report{ID: id, Token: cmp.Or(in.Claim, value(m.Claim))}, m, err
}

// value is what a pointer points at, or nothing.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

const aboutClaim = " The claim token of next-job may be sent in the header X-Job-Claim, or as claim in the body: then 409 tells that the job has been given to another worker."

// report is an operation whose body may be left out.
func report(id, method, path, summary, doc string, errors ...int) web.Operation {
	o := operation(id, method, path, summary, doc, errors...)
	o.EmptyBody = true
	return o
}

func workerOperations(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(report("job-next", http.MethodPost, "/api/admin/next-job/{tag}", "Take a job with a tag",
			"The oldest job with the tag, or the one of job_id: 404 for an unknown one, 400 for one that has another tag or does not wait. Two workers never get the same job. "+
				"The header X-Job-Claim names the claim, X-Job-Lease says for how many seconds the worker may be silent: every report renews it. "+
				"A worker that falls silent loses the job, which goes to the next one or fails.", 404), s.opNext),
		web.Op(takes(report("job-write", http.MethodPost, "/api/admin/job-write/{job}", "Append to the output of a job",
			"Body: message, new-line (true adds a line break). With offset, the number of bytes that the output had before (header X-Job-Offset of next-job and of this), a repeated call appends nothing; "+
				"409 when something in between is missing. What exceeds the configured size is not kept. The answer has cancel when the job should end."+aboutClaim, 404, 409, 413), jobMessage{}), s.opWrite),
		web.Op(takes(report("job-heartbeat", http.MethodPost, "/api/admin/job-heartbeat/{job}", "Renew the lease of a job",
			"409 when the job does not run (any more)."+aboutClaim, 404, 409), jobMessage{}), s.opHeartbeat),
		web.Op(takes(report("job-completed", http.MethodPost, "/api/admin/job-completed/{job}", "End a job with success",
			"A second time it does nothing. 409 for a job that has failed. Optional body: exit_code."+aboutClaim, 404, 409), jobMessage{}), s.opCompleted),
		web.Op(takes(report("job-failed", http.MethodPost, "/api/admin/job-failed/{job}", "End a job without success",
			"Appends message to the output. A job with retries left waits for the next one, any other is over. A second time it does nothing. 409 for a job that has completed. "+
				"Optional: exit_code."+aboutClaim, 404, 409), jobMessage{}), s.opFailed),
	}
}

type nextIn struct {
	Tag   string `path:"tag" doc:"tag of the jobs that this worker can do"`
	JobID string `query:"job_id" doc:"take this job only"`
	Wait  int    `query:"wait" minimum:"0" maximum:"86400" doc:"how many seconds to wait for a job when there is none; the server has a limit (a minute)"`
	Lease int    `query:"lease" minimum:"0" maximum:"86400" doc:"for how many seconds the worker may be silent; 5 at least"`
	// It means nothing, but only when it was read the server notices that the
	// client leaves.
	RawBody []byte `contentType:"application/json"`
}

// nextJob is the answer of next-job. Old clients refuse any further key.
type nextJob struct {
	Message string  `json:"message"`
	JobID   string  `json:"job_id"`
	Command string  `json:"command"`
	Output  *string `json:"output"`
	JobDone
}

// noJob is the answer when there is no job.
type noJob struct {
	Success      bool   `json:"success"`
	Message      string `json:"message"`
	Acknowledged bool   `json:"acknowledged"`
}

type nextOut struct {
	Claim  string `header:"X-Job-Claim"`
	Lease  string `header:"X-Job-Lease"`
	Offset string `header:"X-Job-Offset"`
	Body   any
}

func (s *Service) opNext(ctx context.Context, in *nextIn) (*nextOut, error) {
	if err := checkTag(in.Tag); err != nil {
		return nil, err
	}
	var id int64
	if in.JobID != "" {
		var err error
		if id, err = parseID(in.JobID); err != nil {
			return nil, err
		}
	}
	c, err := s.Next(ctx, in.Tag, id, time.Duration(in.Lease)*time.Second, time.Duration(in.Wait)*time.Second)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return &nextOut{Body: noJob{true, "no job is waiting with the tag " + in.Tag, true}}, nil
	}
	var output *string
	if c.Size > 0 {
		text, err := s.store.output(ctx, c.ID, 0, 0)
		if err != nil {
			return nil, err
		}
		all := string(text)
		output = &all
	}
	number := strconv.FormatInt(c.ID, 10)
	return &nextOut{
		Claim: c.Token, Lease: strconv.Itoa(int(c.Lease.Seconds())), Offset: strconv.FormatInt(c.Size, 10),
		Body: nextJob{fmt.Sprintf("the job %s is yours", number), number, c.Command, output, JobDone{true, true}},
	}, nil
}

// jobWritten is the answer of job-write.
type jobWritten struct {
	JobDone
	Cancel bool `json:"cancel,omitempty" doc:"the job should end"`
}

type writeOut struct {
	Offset string `header:"X-Job-Offset"`
	Body   jobWritten
}

func (s *Service) opWrite(ctx context.Context, in *fromWorker) (*writeOut, error) {
	r, m, err := in.read()
	if err != nil {
		return nil, err
	}
	text := string(value(m.Text))
	if value(m.Line) {
		text += "\n"
	}
	n, err := s.Write(ctx, r, text, m.Offset)
	if err != nil {
		return nil, err
	}
	return &writeOut{strconv.FormatInt(n.Size, 10), jobWritten{JobDone{true, true}, n.Cancel}}, nil
}

// jobAlive is the answer of job-heartbeat.
type jobAlive struct {
	JobDone
	Cancel bool  `json:"cancel" doc:"the job should end"`
	Lease  int   `json:"lease_seconds"`
	Offset int64 `json:"offset" doc:"bytes of output"`
}

func (s *Service) opHeartbeat(ctx context.Context, in *fromWorker) (*web.Reply[jobAlive], error) {
	r, _, err := in.read()
	if err != nil {
		return nil, err
	}
	n, err := s.Heartbeat(ctx, r)
	return reply(jobAlive{JobDone{true, true}, n.Cancel, int(n.Lease.Seconds()), n.Size}, err)
}

func (s *Service) opCompleted(ctx context.Context, in *fromWorker) (*web.Reply[JobDone], error) {
	r, m, err := in.read()
	if err == nil {
		err = s.Complete(ctx, r, m.Exit)
	}
	return reply(JobDone{true, true}, err)
}

func (s *Service) opFailed(ctx context.Context, in *fromWorker) (*web.Reply[JobDone], error) {
	r, m, err := in.read()
	if err == nil {
		reason := "job failed"
		if m.Text != nil {
			reason = string(*m.Text)
		}
		err = s.Fail(ctx, r, reason, m.Exit)
	}
	return reply(JobDone{true, true}, err)
}
