package job

import (
	"context"
	"errors"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

const scheduleColumns = `id, name, export, cron, zone, command, tag, username, overlap, previous_at, due_at`

var (
	// upsertSchedule keeps when a schedule is due next that keeps its times: a run
	// that was missed while no server ran is not lost with it.
	upsertSchedule = db.SQL(`INSERT INTO job_schedule (queue, due_at, created_at, name, export, cron, zone, command, tag, username, overlap)
		VALUES ('schedule', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET
			due_at = CASE WHEN job_schedule.cron = excluded.cron AND job_schedule.zone = excluded.zone THEN job_schedule.due_at ELSE excluded.due_at END, export = excluded.export, cron = excluded.cron, zone = excluded.zone,
			command = excluded.command, tag = excluded.tag, username = excluded.username, overlap = excluded.overlap, owner = NULL, buried_at = NULL
		RETURNING id, due_at`)
	selectSchedule     = db.SQL(`SELECT ` + scheduleColumns + ` FROM job_schedule WHERE name = ?`)
	selectScheduleByID = db.SQL(`SELECT ` + scheduleColumns + ` FROM job_schedule WHERE id = ?`)
	selectSchedules    = db.SQL(`SELECT ` + scheduleColumns + ` FROM job_schedule ORDER BY name`)
	anyScheduleDue     = db.SQL(`SELECT id FROM job_schedule WHERE queue = 'schedule' AND due_at <= ? AND buried_at IS NULL LIMIT 1`)
	deleteSchedule     = db.SQL(`DELETE FROM job_schedule WHERE id = ?`)
	ranSchedule        = db.SQL(`UPDATE job_schedule SET previous_at = ? WHERE id = ?`)
	countOpen          = db.SQL(`SELECT count(*) FROM job WHERE schedule = ? AND schedule <> '' AND finished_at = 0`)
)

func scanSchedule(row db.Row) (*Schedule, error) {
	x := &Schedule{}
	var previous, due int64
	err := row.Scan(&x.ID, &x.Name, &x.export, &x.Cron, &x.Zone, &x.Command, &x.Tag, &x.User, &x.Overlap, &previous, &due)
	x.Previous, x.Next = db.Time(previous), db.Time(due)
	return x, err
}

func (s store) schedule(ctx context.Context, name string) (*Schedule, error) {
	x, err := scanSchedule(s.db.Row(ctx, selectSchedule, name))
	if errors.Is(err, db.ErrNotFound) {
		err = unknownSchedule(name)
	}
	return x, err
}

func (s store) scheduleByID(ctx context.Context, id int64) (*Schedule, error) {
	return scanSchedule(s.db.Row(ctx, selectScheduleByID, id))
}

func (s store) allSchedules(ctx context.Context) ([]*Schedule, error) {
	return db.All(ctx, s.db, scanSchedule, selectSchedules)
}

// saveSchedule writes a schedule and sets its id, and when it is due.
func (s store) saveSchedule(ctx context.Context, x *Schedule, now time.Time) error {
	var due int64
	err := s.db.Row(ctx, upsertSchedule, db.Micros(x.Next), db.Micros(now), x.Name, string(x.export), x.Cron, x.Zone, x.Command, x.Tag, x.User, x.Overlap).Scan(&x.ID, &due)
	x.Next = db.Time(due)
	return err
}

// deleteSchedule tells whether it was this call that removed it.
func (s store) deleteSchedule(ctx context.Context, id int64) (bool, error) {
	n, err := s.db.Exec(ctx, deleteSchedule, id)
	return n > 0, err
}

func (s store) ran(ctx context.Context, id int64, at time.Time) error {
	return s.db.Queue(ctx, ranSchedule, db.Micros(at), id)
}

// openOf counts the jobs of a schedule that are not over.
func (s store) openOf(ctx context.Context, schedule string) (n int, err error) {
	err = s.db.Row(ctx, countOpen, schedule).Scan(&n)
	return n, err
}
