CREATE TABLE work_schedule (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	queue      text NOT NULL,
	due_at     bigint NOT NULL,
	owner      text,
	attempt    integer NOT NULL DEFAULT 0,
	buried_at  bigint,
	last_error text,
	created_at bigint NOT NULL
);
--bun:split
CREATE UNIQUE INDEX work_schedule_queue ON work_schedule (queue);
