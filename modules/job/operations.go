package job

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/web"
)

// JobDone is the answer of what has nothing else to say.
type JobDone struct {
	Success      bool `json:"success"`
	Acknowledged bool `json:"acknowledged"`
}

// JobPath names a job.
type JobPath struct {
	Job string `path:"job" doc:"number of the job"`
}

// workers are the roles of who may use the jobs: administrators, and programs
// that work on them.
func workers() []string { return []string{auth.RoleAdmin, auth.RoleJobWorker} }

// operation fills in what all operations of this module have in common.
func operation(id, method, path, summary, doc string, errors ...int) web.Operation {
	return web.Operation{
		ID: id, Method: method, Path: path, Tag: "Job", Summary: summary, Doc: doc,
		Roles: []string{auth.RoleAPI}, OneOf: workers(), Errors: errors,
	}
}

const aboutCommands = "A command without a tag is one of this server's own (GET /api/admin/job-commands lists them), written as in a shell: quotes and backslashes, " +
	"but no line breaks and no ; | & < >. It runs with the rights of its owner. 400 with the command that was probably meant for an unknown one, 403 when the caller lacks its role. " +
	"A command with a tag means nothing here: a worker outside takes it with next-job. Optional: retries (how often it is tried again after it failed, with growing delays), " +
	"lost (requeue or fail: what becomes of it when its worker falls silent)."

// operations are the endpoints of jobs (spec.md 4.3, contract-notes 1.3).
func operations(s *Service) []web.Operation {
	create := func(path string) func(context.Context, *struct {
		RawBody []byte `contentType:"application/json"`
	}) (*web.Reply[jobCreated], error) {
		return func(ctx context.Context, in *struct {
			RawBody []byte `contentType:"application/json"`
		}) (*web.Reply[jobCreated], error) {
			return s.opCreate(ctx, in.RawBody, path)
		}
	}
	both := operation("job-status", http.MethodGet, "/api/admin/job/{job}/status", "State and output of a job",
		"status is empty for a new job; while a command runs inside the server it is the last line that it printed; then completed, failed or cancelled. "+
			"state tells the same in fixed words: waiting, running, done, failed, cancelled.", 404)
	both.Also = []string{"/api/admin/job-status/{job}"}
	return append([]web.Operation{
		web.Op(takes(operation("job-create", http.MethodPost, "/api/admin/job/create", "Create a job", aboutCommands, 413), jobOrder{}), create("")),
		web.Op(takes(operation("job-create-entity", http.MethodPost, "/api/admin/job", "Create a job from the export form",
			"The export form of a configuration entity: class, arguments, properties with command and tag. "+aboutCommands, 413), jobExport{}), create("properties")),
		web.Op(operation("job-list", http.MethodGet, "/api/admin/job", "Numbers of the newest jobs", "At most 10,000, the newest first."),
			func(ctx context.Context, _ *web.None) (*web.Reply[[]string], error) { return reply(s.names(ctx)) }),
		web.Op(answersWith(operation("job-get", http.MethodGet, "/api/admin/job/{job}", "One job in the export form", "As a configuration entity; job-status tells more.", 404), jobExport{}),
			func(ctx context.Context, in *JobPath) (*web.Raw, error) {
				export, err := entity{s}.Get(ctx, in.Job)
				if err != nil {
					return nil, err
				}
				return web.JSON(export)
			}),
		web.Op(operation("job-delete", http.MethodDelete, "/api/admin/job/{job}", "Remove a job and its output",
			"409 for one that runs: cancel it first. Only its owner and administrators may.", 404, 409), s.opDelete),
		web.Op(both, s.opStatus),
		web.Op(report("job-start", http.MethodPost, "/api/admin/start-job/{job}", "Start a job",
			"Runs a command of the server and answers when it has ended, with notice; it goes on when the client leaves. A job with a tag is left to its worker. Only who created the job may.", 404), s.opStart),
		web.Op(operation("job-cancel", http.MethodPost, "/api/admin/job-cancel/{job}", "Cancel a job",
			"A job that waits is over at once. One that runs is told: a command of the server ends soon, a worker outside sees cancel in the answers of job-heartbeat and job-write. "+
				"Only its owner and administrators may.", 404), s.opCancel),
		web.Op(operation("job-retry", http.MethodPost, "/api/admin/job-retry/{job}", "Begin a job anew that is over",
			"409 for one that is not over. Only its owner and administrators may.", 404, 409), s.opRetry),
		web.Op(operation("job-schedules", http.MethodGet, "/api/admin/job-schedules", "The schedules with their next runs",
			"They are created, changed and removed as configuration, under /api/admin/schedule."),
			func(ctx context.Context, _ *web.None) (*web.Reply[[]scheduleView], error) {
				return reply(s.scheduleViews(ctx))
			}),
		web.Op(operation("job-commands", http.MethodGet, "/api/admin/job-commands", "The commands of the server", "Those that the caller may run as jobs."), s.opCommands),
	}, append(workerOperations(s), outputOperation(s))...)
}

func reply[T any](v T, err error) (*web.Reply[T], error) {
	if err != nil {
		return nil, err
	}
	return web.Answer(v)
}

type jobCreated struct {
	ID    string `json:"id"`
	JobID string `json:"jobId" doc:"the same"`
	JobDone
}

func (s *Service) opCreate(ctx context.Context, raw []byte, path string) (*web.Reply[jobCreated], error) {
	j, err := s.createFrom(ctx, raw, path)
	if err != nil {
		return nil, err
	}
	id := strconv.FormatInt(j.ID, 10)
	return web.Answer(jobCreated{id, id, JobDone{true, true}})
}

// createFrom creates a job from a body; path is where in it the order is.
func (s *Service) createFrom(ctx context.Context, raw []byte, path string) (*Job, error) {
	if err := rawjson.CheckObject(raw, rawjson.Limits{}); err != nil {
		return nil, err
	}
	if path != "" {
		var err error
		if raw, err = properties(raw); err != nil {
			return nil, err
		}
	}
	o, err := order(raw, path)
	if err != nil {
		return nil, err
	}
	return s.Create(ctx, o)
}

func (s *Service) opDelete(ctx context.Context, in *JobPath) (*web.Reply[jobCreated], error) {
	id, err := parseID(in.Job)
	if err == nil {
		err = s.Delete(ctx, id)
	}
	return reply(jobCreated{in.Job, in.Job, JobDone{true, true}}, err)
}

func (s *Service) opStatus(ctx context.Context, in *JobPath) (*web.Reply[jobView], error) {
	id, err := parseID(in.Job)
	if err != nil {
		return nil, err
	}
	j, output, err := s.look(ctx, id)
	if err != nil {
		return nil, err
	}
	return web.Answer(j.view(output))
}

// look gives a job with its output, null when there is none.
func (s *Service) look(ctx context.Context, id int64) (*Job, *string, error) {
	j, err := s.store.job(ctx, id)
	if err == nil {
		err = mayFollow(ctx, j)
	}
	if err != nil || j.Size == 0 {
		return j, nil, err
	}
	text, err := s.store.output(ctx, id, 0, 0)
	output := string(text)
	return j, &output, err
}

// jobBegun is the answer of start-job.
type jobBegun struct {
	Message string `json:"message"`
	JobID   int64  `json:"job_id"`
	JobDone
	Notice []string `json:"notice,omitempty"`
	Error  []string `json:"error,omitempty" doc:"when the command has failed"`
}

type startIn struct {
	JobPath
	RawBody []byte `contentType:"application/json"` // see nextIn
}

func (s *Service) opStart(ctx context.Context, in *startIn) (*web.Reply[jobBegun], error) {
	id, err := parseID(in.Job)
	if err != nil {
		return nil, err
	}
	j, already, err := s.Start(ctx, id)
	if err != nil {
		return nil, err
	}
	b := jobBegun{Message: "job is scheduled", JobID: id, JobDone: JobDone{true, true}}
	switch {
	case already:
		b.Message = "job already done"
	case j.State.Over():
		b.Message = "job is done"
		b.Notice = []string{fmt.Sprintf("The job %d is done", id)}
		if j.State != Done {
			b.Error = []string{fmt.Sprintf("The job %d is %s; its output tells why", id, j.State)}
		}
	case j.State == Running && j.Tag == "":
		b.Message = "job is running"
	}
	return web.Answer(b)
}

// jobChanged is the answer of cancel and retry.
type jobChanged struct {
	ID    string `json:"id"`
	State State  `json:"state"`
	JobDone
}

func (s *Service) opCancel(ctx context.Context, in *JobPath) (*web.Reply[jobChanged], error) {
	return s.managed(ctx, in, s.Cancel)
}

func (s *Service) opRetry(ctx context.Context, in *JobPath) (*web.Reply[jobChanged], error) {
	return s.managed(ctx, in, s.Retry)
}

func (s *Service) managed(ctx context.Context, in *JobPath, fn func(context.Context, int64) (*Job, error)) (*web.Reply[jobChanged], error) {
	id, err := parseID(in.Job)
	if err != nil {
		return nil, err
	}
	j, err := fn(ctx, id)
	if err != nil {
		return nil, err
	}
	return web.Answer(jobChanged{in.Job, j.State, JobDone{true, true}})
}

// jobCommand is a command as clients see it.
type jobCommand struct {
	Name    string      `json:"name"`
	Usage   string      `json:"usage"`
	Aliases []string    `json:"aliases" doc:"its names in elasticms"`
	Short   string      `json:"short"`
	Long    string      `json:"long"`
	Roles   []string    `json:"roles" doc:"all needed"`
	Options []jobOption `json:"options"`
}

type jobOption struct {
	Name    string `json:"name"`
	Type    string `json:"type" enum:"string,bool,int,duration,list"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

func (s *Service) opCommands(ctx context.Context, _ *web.None) (*web.Reply[[]jobCommand], error) {
	return web.Answer(s.commandList(auth.From(ctx)))
}
