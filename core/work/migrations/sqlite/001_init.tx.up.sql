CREATE TABLE work_schedule (
	id         INTEGER PRIMARY KEY,
	queue      TEXT NOT NULL,
	due_at     INTEGER NOT NULL,
	owner      TEXT,
	attempt    INTEGER NOT NULL DEFAULT 0,
	buried_at  INTEGER,
	last_error TEXT,
	created_at INTEGER NOT NULL
);
--bun:split
CREATE UNIQUE INDEX work_schedule_queue ON work_schedule (queue);
