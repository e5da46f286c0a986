CREATE TABLE parcel (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	queue      text NOT NULL,
	due_at     bigint NOT NULL,
	owner      text,
	attempt    integer NOT NULL DEFAULT 0,
	buried_at  bigint,
	last_error text,
	created_at bigint NOT NULL,
	address    text NOT NULL DEFAULT ''
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
--bun:split
CREATE INDEX parcel_due ON parcel (queue, due_at, id) WHERE buried_at IS NULL;
