package job

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
)

// Service knows the rules of jobs. It is safe for concurrent use.
type Service struct {
	cfg       *Config
	store     store
	jobs      *work.Claimer
	schedules *work.Claimer
	checks    *telemetry.Checks
	version   string
	bus       *event.Bus
	hub       *hub
	commands  *module.Commands
	people    port.Identities // nil when there are no accounts
	stopping  module.Stopping
	log       *slog.Logger
	now       func() time.Time
	runs      bool // this process runs commands
	tracing   *telemetry.Tracing
}

// Order is what a job is created from.
type Order struct {
	Command string
	Tag     string // empty for a command of the server
	Retries int    // how often it is tried again after it failed
	Lost    string // requeue or fail; empty for the configured one
}

// Create adds a job that belongs to whoever asks. A job without a tag must be a
// command of this program that the caller may run. Errors: Invalid, Forbidden.
func (s *Service) Create(ctx context.Context, o Order) (*Job, error) {
	who, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	j, err := s.draft(o, who)
	if err != nil {
		return nil, err
	}
	return j, s.add(ctx, j)
}

// draft checks an order.
func (s *Service) draft(o Order, who *auth.Identity) (*Job, error) {
	j := &Job{Command: strings.TrimSpace(o.Command), Tag: o.Tag, User: who.Username, State: Waiting, Created: s.now(), lost: o.Lost, retries: int64(o.Retries)}
	switch {
	case j.Command == "":
		return nil, problem.Field(problem.Invalid, "command", "is required")
	case len(j.Command) > maxCommand:
		return nil, problem.Field(problem.Invalid, "command", "must not be longer than %d bytes", maxCommand)
	case !utf8.ValidString(j.Command) || strings.ContainsRune(j.Command, 0):
		return nil, problem.Field(problem.Invalid, "command", "must be text")
	case o.Retries < 0 || o.Retries > maxRetries:
		return nil, problem.Field(problem.Invalid, "retries", "must be between 0 and %d", maxRetries)
	}
	if err := checkTag(j.Tag); err != nil {
		return nil, err
	}
	if j.lost == "" {
		j.lost = s.cfg.Lost
	}
	if j.lost != lostRequeue && j.lost != lostFail {
		return nil, problem.Field(problem.Invalid, "lost", "must be %s or %s", lostRequeue, lostFail)
	}
	if j.Tag != "" {
		return j, nil // somebody else's command: it means nothing here
	}
	_, err := s.commands.Parse(j.Command, who)
	return j, err
}

// checkTag tells what is wrong with a tag: clients put it into a path as it is.
func checkTag(tag string) error {
	if len(tag) > maxTag || !utf8.ValidString(tag) || strings.TrimSpace(tag) != tag ||
		strings.ContainsFunc(tag, func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune(`/?#%\`, r) }) {
		return problem.Field(problem.Invalid, "tag", "must be a word of at most %d bytes without / ? # %% and \\", maxTag).WithCode("invalid_tag")
	}
	return nil
}

// add stores a job and wakes who waits for it.
func (s *Service) add(ctx context.Context, j *Job) error {
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		due := j.Created
		if j.Tag == "" && j.Schedule == "" {
			due = time.Time{}
			if s.cfg.StartAfter > 0 {
				due = j.Created.Add(s.cfg.StartAfter)
			}
		}
		if err := s.store.insert(ctx, j, due); err != nil {
			return err
		}
		db.AfterCommit(ctx, func() { s.hub.wake(queueOf(j.Tag)) })
		return nil
	})
}

// Get gives a job; NotFound when there is none.
func (s *Service) Get(ctx context.Context, id int64) (*Job, error) { return s.store.job(ctx, id) }

// Delete removes a job that does not run, and its output. It gives Conflict for
// one that runs: cancel it first.
func (s *Service) Delete(ctx context.Context, id int64) error {
	return s.change(ctx, id, func(ctx context.Context, j *Job) error {
		if err := mayManage(ctx, j); err != nil {
			return err
		}
		if j.State == Running {
			return problem.New(problem.Conflict, "the job %d runs: cancel it first", id).WithCode("job_running")
		}
		return s.store.remove(ctx, id)
	})
}

// mayManage lets the owner of a job and administrators manage it.
func mayManage(ctx context.Context, j *Job) error {
	if who := auth.From(ctx); who == nil || who.Username != j.User && !who.Has(auth.RoleAdmin) {
		return problem.New(problem.Forbidden, "the job %d belongs to %s", j.ID, j.User).WithCode("foreign_job")
	}
	return nil
}

// mayFollow lets everybody who works on jobs see and report on those with a tag.
// What a command of the server prints may be more than they may see, and nobody
// reports on it.
func mayFollow(ctx context.Context, j *Job) error {
	if j.Tag != "" {
		return nil
	}
	return mayManage(ctx, j)
}

// change holds a job while fn works on it, and tells who waits for news of it.
func (s *Service) change(ctx context.Context, id int64, fn func(context.Context, *Job) error) error {
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		j, err := s.store.hold(ctx, id, s.now())
		if err != nil {
			return err
		}
		if err := fn(ctx, j); err != nil {
			return err
		}
		db.AfterCommit(ctx, func() { s.hub.wake(jobKey(id)) })
		return nil
	})
}

// note writes a line of the server's own into the output, on a line of its own.
func (s *Service) note(ctx context.Context, j *Job, format string, args ...any) error {
	return s.write(ctx, j, "\n"+fmt.Sprintf(format, args...)+"\n")
}

// write appends to the output of a job that is held, as far as there is room.
// Cutting is told once.
func (s *Service) write(ctx context.Context, j *Job, text string) error {
	if j.Cut {
		return nil
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if room := int64(s.cfg.MaxOutput) - j.Size; int64(len(text)) > room {
		j.Cut = true
		text = strings.ToValidUTF8(text[:max(room, 0)], "") + fmt.Sprintf("\n[more than %d bytes of output: the rest is not kept]\n", int64(s.cfg.MaxOutput))
	}
	return s.store.appendOutput(ctx, j, text)
}

// end makes a held job over and tells the event bus.
func (s *Service) end(ctx context.Context, j *Job, state State, status string) error {
	j.State, j.Status, j.Finished = state, status, s.now()
	if err := s.store.finish(ctx, j); err != nil {
		return err
	}
	kind := "job.failed"
	if state == Done {
		kind = "job.done"
	}
	data, err := json.Marshal(outcome{strconv.FormatInt(j.ID, 10), j.Tag, j.User, j.Schedule, state, j.Attempt, j.ExitCode})
	if err != nil {
		return err
	}
	return s.bus.Emit(ctx, event.Event{Type: kind, Subject: jobKey(j.ID), Data: data, Actor: j.User})
}
