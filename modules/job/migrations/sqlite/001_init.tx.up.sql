-- A job. The first columns are those of core/work; queue is "server" for a
-- command of this program, else "tag:" and the tag that workers ask for.
CREATE TABLE job (
  id          INTEGER PRIMARY KEY AUTOINCREMENT, -- numbers are never used again
  queue       TEXT NOT NULL,
  due_at      INTEGER NOT NULL,
  owner       TEXT,
  attempt     INTEGER NOT NULL DEFAULT 0,
  buried_at   INTEGER,
  last_error  TEXT,
  created_at  INTEGER NOT NULL,
  command     TEXT NOT NULL,
  tag         TEXT NOT NULL,
  username    TEXT NOT NULL,
  state       TEXT NOT NULL,              -- waiting, running, done, failed, cancelled
  status      TEXT NOT NULL DEFAULT '',   -- what old clients read
  modified_at INTEGER NOT NULL,
  started_at  INTEGER NOT NULL DEFAULT 0,
  finished_at INTEGER NOT NULL DEFAULT 0,
  cancel_at   INTEGER NOT NULL DEFAULT 0, -- since when it should end
  claim       TEXT NOT NULL DEFAULT '',   -- the owner of the last claim, also when it has ended
  lease       INTEGER NOT NULL DEFAULT 0, -- microseconds
  lost        TEXT NOT NULL,              -- requeue or fail
  losses      INTEGER NOT NULL DEFAULT 0, -- claims that ended without an answer
  retries     INTEGER NOT NULL DEFAULT 0,
  failures    INTEGER NOT NULL DEFAULT 0,
  exit_code   INTEGER,
  schedule    TEXT NOT NULL DEFAULT '',
  output_size INTEGER NOT NULL DEFAULT 0, -- bytes
  output_cut  INTEGER NOT NULL DEFAULT 0  -- 1: more was written than is kept
);
--bun:split
CREATE INDEX job_due ON job (queue, due_at, id) WHERE buried_at IS NULL;
--bun:split
CREATE INDEX job_running ON job (due_at) WHERE state = 'running';
--bun:split
CREATE INDEX job_finished ON job (finished_at) WHERE finished_at > 0;
--bun:split
CREATE INDEX job_of_schedule ON job (schedule, id) WHERE schedule <> '';
--bun:split
-- The output of a job, in the pieces it was written in.
CREATE TABLE job_output (
  job_id INTEGER NOT NULL,
  start  INTEGER NOT NULL, -- bytes before this piece
  text   TEXT NOT NULL,
  PRIMARY KEY (job_id, start)
) WITHOUT ROWID;
--bun:split
-- Schedules, each a row that core/work claims when it is due.
CREATE TABLE job_schedule (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  queue       TEXT NOT NULL,              -- always "schedule"
  due_at      INTEGER NOT NULL,           -- the next run
  owner       TEXT,
  attempt     INTEGER NOT NULL DEFAULT 0,
  buried_at   INTEGER,
  last_error  TEXT,
  created_at  INTEGER NOT NULL,
  name        TEXT NOT NULL UNIQUE,
  export      TEXT NOT NULL,
  cron        TEXT NOT NULL,
  zone        TEXT NOT NULL,
  command     TEXT NOT NULL,
  tag         TEXT NOT NULL,
  username    TEXT NOT NULL,
  overlap     TEXT NOT NULL,              -- skip, queue or allow
  previous_at INTEGER NOT NULL DEFAULT 0
);
--bun:split
CREATE INDEX job_schedule_due ON job_schedule (queue, due_at, id) WHERE buried_at IS NULL;
