package job

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // time zones are known on every machine

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/work"
)

// What happens when a schedule is due while a job of it is not over.
const (
	overlapSkip  = "skip"  // nothing: this run is left out
	overlapQueue = "queue" // it is run after the other, once at most
	overlapAllow = "allow" // it is run beside the other
)

// scheduleQueue is the only queue of the table of schedules.
const scheduleQueue = "schedule"

const maxCron = 500 // bytes

// Schedule makes a job whenever its cron expression says so.
type Schedule struct {
	ID       int64
	Name     string
	Cron     string // five fields, or @daily and the like
	Zone     string // IANA name
	Command  string
	Tag      string
	User     string // whose job it is
	Overlap  string
	Previous time.Time // zero before the first run
	Next     time.Time
	export   []byte
}

// after gives the first time after now that the schedule is due; the zero time
// when there is none, as on a 30th of February.
func (x *Schedule) after(now time.Time) (time.Time, error) {
	zone, err := time.LoadLocation(x.Zone)
	if err != nil || x.Zone == "Local" {
		return time.Time{}, problem.Field(problem.Invalid, "properties.timezone", "%.60q is not a time zone such as Europe/Brussels", x.Zone)
	}
	// A zone of its own is there already, and what is due every second is no
	// schedule.
	if len(x.Cron) > maxCron || strings.Contains(x.Cron, "TZ=") || strings.HasPrefix(x.Cron, "@every") {
		return time.Time{}, problem.Field(problem.Invalid, "properties.cron", "%.100q is not a cron expression of five fields, such as 0 3 * * 1", x.Cron)
	}
	when, err := readTimetable(x.Cron, zone)
	if err != nil {
		return time.Time{}, problem.Field(problem.Invalid, "properties.cron", "%.100q is not a cron expression of five fields, such as 0 3 * * 1: %v", x.Cron, err)
	}
	return when.next(now), nil
}

// RunDue makes the jobs of the schedules that are due. Each due time makes one,
// in whichever process; those that were missed while no server ran make one
// together.
func (s *Service) RunDue(ctx context.Context) error {
	ids, err := s.store.ids(ctx, anyScheduleDue, db.Micros(s.now()))
	for err == nil && len(ids) > 0 && ctx.Err() == nil {
		more := false
		err = s.store.db.InTx(ctx, func(ctx context.Context) error {
			more = false
			list, err := s.schedules.Claim(ctx, scheduleQueue, rand.Text(), 1, time.Minute)
			if err != nil || len(list) == 0 {
				return err
			}
			more = true
			return s.fire(ctx, list[0])
		})
		if err != nil || !more {
			return err
		}
	}
	return errors.Join(err, ctx.Err())
}

// fire makes the job of a claimed schedule and says when it is due next, in one
// transaction.
func (s *Service) fire(ctx context.Context, l work.Lease) error {
	x, err := s.store.scheduleByID(ctx, l.ID)
	if err != nil {
		return err
	}
	next, err := x.after(s.now())
	if err != nil {
		return s.schedules.Bury(ctx, err, l)
	}
	open, err := s.store.openOf(ctx, x.Name)
	if err != nil {
		return err
	}
	if s.parked(x) {
		s.log.DebugContext(ctx, "a schedule names a command that is not there", "schedule", x.Name, "command", x.Command)
	} else if x.Overlap == overlapAllow || open == 0 || x.Overlap == overlapQueue && open < 2 {
		if _, err := s.launch(ctx, x); err != nil {
			return err
		}
	} else {
		s.log.InfoContext(ctx, "a run of a schedule is left out: an earlier one is not over", "schedule", x.Name)
	}
	if err := s.store.ran(ctx, x.ID, s.now()); err != nil {
		return err
	}
	if next.IsZero() {
		next = s.now().AddDate(100, 0, 0)
	}
	return s.schedules.Again(ctx, next, l)
}

// parked tells whether the command of a schedule is not there.
func (s *Service) parked(x *Schedule) bool {
	_, err := s.draft(Order{Command: x.Command, Tag: x.Tag}, auth.System("schedule"))
	return unknownCommand(err)
}

func unknownCommand(err error) bool {
	var p *problem.Problem
	return errors.As(err, &p) && p.Code == "unknown_command"
}

// launch makes a job of a schedule.
func (s *Service) launch(ctx context.Context, x *Schedule) (*Job, error) {
	j := &Job{Command: x.Command, Tag: x.Tag, User: x.User, Schedule: x.Name, State: Waiting, Created: s.now(), lost: s.cfg.Lost}
	return j, s.add(ctx, j)
}

// RunSchedule makes a job of a schedule now, whatever its cron expression says.
func (s *Service) RunSchedule(ctx context.Context, name string) (j *Job, err error) {
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		x, err := s.store.schedule(ctx, name)
		if err != nil {
			return err
		}
		j, err = s.launch(ctx, x)
		return err
	})
	return j, err
}

// SaveSchedule checks and stores a schedule, which belongs to who and runs with
// the rights of that account.
func (s *Service) SaveSchedule(ctx context.Context, x *Schedule, who *auth.Identity) (err error) {
	x.User = who.Username
	if x.Next, err = x.after(s.now()); err != nil {
		return err
	}
	if x.Next.IsZero() {
		return problem.Field(problem.Invalid, "properties.cron", "%.100q never comes", x.Cron)
	}
	if x.Overlap != overlapSkip && x.Overlap != overlapQueue && x.Overlap != overlapAllow {
		return problem.Field(problem.Invalid, "properties.overlap", "must be %s, %s or %s", overlapSkip, overlapQueue, overlapAllow)
	}
	// A schedule that came with an export may name a command that is not there,
	// or not any more: it is kept, and makes no jobs.
	if _, err := s.draft(Order{Command: x.Command, Tag: x.Tag}, who); err != nil && !unknownCommand(err) {
		return err
	} else if err != nil {
		s.log.WarnContext(ctx, "a schedule names a command that is not there, and makes no jobs", "schedule", x.Name, "command", x.Command)
	}
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		before, err := s.store.schedule(ctx, x.Name)
		if problem.Is(err, problem.NotFound) {
			before = nil
		} else if err != nil {
			return err
		}
		if err := s.store.saveSchedule(ctx, x, s.now()); err != nil {
			return err
		}
		return s.tellSaved(ctx, before, x)
	})
}

// RemoveSchedule removes a schedule and gives its number; NotFound when there is
// none. Jobs that it has made stay.
func (s *Service) RemoveSchedule(ctx context.Context, name string) (id int64, err error) {
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		x, err := s.store.schedule(ctx, name)
		if err != nil {
			return err
		}
		id = x.ID
		if gone, err := s.store.deleteSchedule(ctx, x.ID); err != nil || !gone {
			return cmp.Or(err, unknownSchedule(name))
		}
		return s.tell(ctx, "deleted", x, map[string]any{})
	})
	return id, err
}

// unknownSchedule is the NotFound of a schedule.
func unknownSchedule(name string) error {
	return problem.New(problem.NotFound, "there is no schedule %q", fmt.Sprintf("%.200s", name)).WithCode("unknown_schedule")
}
