CREATE TABLE parcel (
	id         INTEGER PRIMARY KEY,
	queue      TEXT NOT NULL,
	due_at     INTEGER NOT NULL,
	owner      TEXT,
	attempt    INTEGER NOT NULL DEFAULT 0,
	buried_at  INTEGER,
	last_error TEXT,
	created_at INTEGER NOT NULL,
	address    TEXT NOT NULL DEFAULT ''
);
--bun:split
CREATE INDEX parcel_due ON parcel (queue, due_at, id) WHERE buried_at IS NULL;
