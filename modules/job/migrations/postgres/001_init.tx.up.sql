-- A job. The first columns are those of core/work; queue is "server" for a
-- command of this program, else "tag:" and the tag that workers ask for.
CREATE TABLE job (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue       text NOT NULL,
  due_at      bigint NOT NULL,
  owner       text,
  attempt     integer NOT NULL DEFAULT 0,
  buried_at   bigint,
  last_error  text,
  created_at  bigint NOT NULL,
  command     text NOT NULL,
  tag         text NOT NULL,
  username    text NOT NULL,
  state       text NOT NULL,              -- waiting, running, done, failed, cancelled
  status      text NOT NULL DEFAULT '',   -- what old clients read
  modified_at bigint NOT NULL,
  started_at  bigint NOT NULL DEFAULT 0,
  finished_at bigint NOT NULL DEFAULT 0,
  cancel_at   bigint NOT NULL DEFAULT 0, -- since when it should end
  claim       text NOT NULL DEFAULT '',   -- the owner of the last claim, also when it has ended
  lease       bigint NOT NULL DEFAULT 0, -- microseconds
  lost        text NOT NULL,              -- requeue or fail
  losses      bigint NOT NULL DEFAULT 0, -- claims that ended without an answer
  retries     bigint NOT NULL DEFAULT 0,
  failures    bigint NOT NULL DEFAULT 0,
  exit_code   bigint,
  schedule    text NOT NULL DEFAULT '',
  output_size bigint NOT NULL DEFAULT 0, -- bytes
  output_cut  bigint NOT NULL DEFAULT 0  -- 1: more was written than is kept
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
  job_id bigint NOT NULL,
  start  bigint NOT NULL, -- bytes before this piece
  text   text NOT NULL,
  PRIMARY KEY (job_id, start)
);
--bun:split
-- Schedules, each a row that core/work claims when it is due.
CREATE TABLE job_schedule (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue       text NOT NULL,              -- always "schedule"
  due_at      bigint NOT NULL,           -- the next run
  owner       text,
  attempt     integer NOT NULL DEFAULT 0,
  buried_at   bigint,
  last_error  text,
  created_at  bigint NOT NULL,
  name        text NOT NULL UNIQUE,
  export      text NOT NULL,
  cron        text NOT NULL,
  zone        text NOT NULL,
  command     text NOT NULL,
  tag         text NOT NULL,
  username    text NOT NULL,
  overlap     text NOT NULL,              -- skip, queue or allow
  previous_at bigint NOT NULL DEFAULT 0
);
--bun:split
CREATE INDEX job_schedule_due ON job_schedule (queue, due_at, id) WHERE buried_at IS NULL;
