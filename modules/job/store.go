package job

import (
	"context"
	"errors"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// store keeps jobs and what they wrote.
type store struct{ db *db.DB }

// never is a due time that does not come.
const never = 1<<63 - 1

const columns = `id, command, tag, username, state, status, created_at, modified_at, started_at, finished_at, attempt, exit_code, schedule,
	output_size, output_cut, cancel_at, claim, coalesce(owner, ''), due_at, lease, lost, losses, retries, failures, trace`

var (
	insertJob = db.SQL(`INSERT INTO job (queue, due_at, created_at, modified_at, command, tag, username, state, lost, retries, schedule, trace)
		VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?, ?) RETURNING id`)
	selectJob    = db.SQL(`SELECT ` + columns + ` FROM job WHERE id = ?`)
	holdJob      = db.SQL(`UPDATE job SET modified_at = ? WHERE id = ? RETURNING ` + columns)
	beginJob     = db.SQL(`UPDATE job SET state = 'running', started_at = ?, modified_at = ?, claim = ?, lease = ?, losses = ?, status = '' WHERE id = ?`)
	finishJob    = db.SQL(`UPDATE job SET state = ?, status = ?, exit_code = ?, finished_at = ?, due_at = 9223372036854775807, owner = NULL WHERE id = ?`)
	againJob     = db.SQL(`UPDATE job SET state = 'waiting', status = '', failures = ? WHERE id = ?`)
	restartJob   = db.SQL(`UPDATE job SET state = 'waiting', status = '', claim = '', failures = 0, losses = 0, cancel_at = 0, finished_at = 0, exit_code = NULL, due_at = ? WHERE id = ?`)
	cancelJob    = db.SQL(`UPDATE job SET cancel_at = ? WHERE id = ?`)
	startJob     = db.SQL(`UPDATE job SET due_at = ? WHERE id = ? AND state = 'waiting' AND due_at > ?`)
	growJob      = db.SQL(`UPDATE job SET output_size = ?, output_cut = ? WHERE id = ?`)
	statusJob    = db.SQL(`UPDATE job SET status = ? WHERE id = ?`)
	insertOutput = db.SQL(`INSERT INTO job_output (job_id, start, text) VALUES (?, ?, ?)`)
	selectOutput = db.SQL(`SELECT start, text FROM job_output WHERE job_id = ? AND start >=
		coalesce((SELECT max(start) FROM job_output WHERE job_id = ? AND start <= ?), 0) ORDER BY start`)
	anyDue       = db.SQL(`SELECT id FROM job WHERE queue = ? AND due_at <= ? AND buried_at IS NULL LIMIT 1`)
	selectLost   = db.SQL(`SELECT id FROM job WHERE state = 'running' AND due_at <= ? ORDER BY due_at LIMIT 100`)
	selectIDs    = db.SQL(`SELECT id FROM job ORDER BY id DESC LIMIT ?`)
	selectOld    = db.SQL(`SELECT id FROM job WHERE finished_at > 0 AND finished_at < ? ORDER BY finished_at LIMIT 200`)
	deleteOutput = db.SQL(`DELETE FROM job_output WHERE job_id = ?`)
	deleteJob    = db.SQL(`DELETE FROM job WHERE id = ?`)
	selectNewest = db.SQL(`SELECT ` + columns + ` FROM job WHERE (? = '' OR state = ?) AND (? = '' OR tag = ?) ORDER BY id DESC LIMIT ?`)
)

func scanJob(row db.Row) (*Job, error) {
	j := &Job{}
	var created, modified, started, finished, cut, cancel, due, lease int64
	err := row.Scan(&j.ID, &j.Command, &j.Tag, &j.User, &j.State, &j.Status, &created, &modified, &started, &finished, &j.Attempt, &j.ExitCode, &j.Schedule,
		&j.Size, &cut, &cancel, &j.claim, &j.owner, &due, &lease, &j.lost, &j.losses, &j.retries, &j.failures, &j.trace)
	if err != nil {
		return nil, err
	}
	j.Created, j.Modified, j.Started, j.Finished = db.Time(created), db.Time(modified), db.Time(started), db.Time(finished)
	j.Cut, j.cancel, j.lease = cut != 0, cancel != 0, time.Duration(lease)*time.Microsecond
	if due != never {
		j.due = db.Time(due)
	}
	return j, nil
}

// one turns a missing row into the NotFound of a job.
func one(j *Job, err error, id int64) (*Job, error) {
	if errors.Is(err, db.ErrNotFound) {
		return nil, unknown(id)
	}
	return j, err
}

func (s store) job(ctx context.Context, id int64) (*Job, error) {
	j, err := scanJob(s.db.Row(ctx, selectJob, id))
	return one(j, err, id)
}

// hold gives a job and keeps other transactions from changing it until this
// one has ended.
func (s store) hold(ctx context.Context, id int64, now time.Time) (*Job, error) {
	j, err := scanJob(s.db.Row(ctx, holdJob, db.Micros(now), id))
	return one(j, err, id)
}

// insert adds a job that is due at the time, the zero time for never.
func (s store) insert(ctx context.Context, j *Job, due time.Time) error {
	at := int64(never)
	if !due.IsZero() {
		at = db.Micros(due)
	}
	created := db.Micros(j.Created)
	return s.db.Row(ctx, insertJob, queueOf(j.Tag), at, created, created, j.Command, j.Tag, j.User, j.lost, j.retries, j.Schedule, telemetry.TraceParent(ctx)).Scan(&j.ID)
}

// begin notes that a claim works on the job.
func (s store) begin(ctx context.Context, j *Job) error {
	at := db.Micros(j.Started)
	return s.db.Queue(ctx, beginJob, at, at, j.claim, j.lease.Microseconds(), j.losses, j.ID)
}

// finish ends a job: what work.Claimer.Done does, with the outcome, in one
// statement. The caller holds the job and has checked the claim.
func (s store) finish(ctx context.Context, j *Job) error {
	return s.db.Queue(ctx, finishJob, string(j.State), j.Status, j.ExitCode, db.Micros(j.Finished), j.ID)
}

// again makes a held job that failed wait; the claimer says until when.
func (s store) again(ctx context.Context, j *Job) error {
	return s.db.Queue(ctx, againJob, j.failures, j.ID)
}

func (s store) cancel(ctx context.Context, id int64, now time.Time) error {
	return s.db.Queue(ctx, cancelJob, db.Micros(now), id)
}

// restart makes a job that is over wait as if it were new.
func (s store) restart(ctx context.Context, id int64, now time.Time) error {
	return s.db.Queue(ctx, restartJob, db.Micros(now), id)
}

// start makes a waiting job due now.
func (s store) start(ctx context.Context, id int64, now time.Time) error {
	at := db.Micros(now)
	return s.db.Queue(ctx, startJob, at, id, at)
}

func (s store) setStatus(ctx context.Context, id int64, status string) error {
	return s.db.Queue(ctx, statusJob, status, id)
}

// appendOutput adds text behind what there is.
func (s store) appendOutput(ctx context.Context, j *Job, text string) error {
	if text != "" {
		if err := s.db.Queue(ctx, insertOutput, j.ID, j.Size, text); err != nil {
			return err
		}
	}
	j.Size += int64(len(text))
	cut := 0
	if j.Cut {
		cut = 1
	}
	return s.db.Queue(ctx, growJob, j.Size, cut, j.ID)
}

// output gives up to limit bytes (0 for all) of what the job wrote from an
// offset on. The pieces are whole, but for the first.
func (s store) output(ctx context.Context, id, from int64, limit int) ([]byte, error) {
	rows, err := s.db.Query(ctx, selectOutput, id, id, from)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []byte
	for rows.Next() {
		var start int64
		var text string
		if err := rows.Scan(&start, &text); err != nil {
			return nil, err
		}
		if skip := from - start; skip > 0 {
			text = text[min(skip, int64(len(text))):]
		}
		if out = append(out, text...); limit > 0 && len(out) >= limit {
			break
		}
	}
	return out, rows.Err()
}

// ids runs a statement that answers ids.
func (s store) ids(ctx context.Context, st *db.Statement, args ...any) ([]int64, error) {
	return db.All(ctx, s.db, db.Value[int64], st, args...)
}

// remove deletes a job with its output.
func (s store) remove(ctx context.Context, id int64) error {
	if err := s.db.Queue(ctx, deleteOutput, id); err != nil {
		return err
	}
	return s.db.Queue(ctx, deleteJob, id)
}

// list gives the newest jobs; an empty state or tag means any.
func (s store) list(ctx context.Context, state, tag string, limit int) ([]*Job, error) {
	return db.All(ctx, s.db, scanJob, selectNewest, state, state, tag, tag, limit)
}
