-- AUTOINCREMENT: the id of an event is given to the outside and never used again.
CREATE TABLE event (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	type       TEXT NOT NULL,
	subject    TEXT NOT NULL,
	data       TEXT NOT NULL,
	at         INTEGER NOT NULL,
	actor      TEXT NOT NULL,
	request_id TEXT NOT NULL
);
--bun:split
-- low and high: the first and the last name of a type that the pattern fits.
CREATE TABLE event_subscriber (
	name         TEXT NOT NULL,
	pattern      TEXT NOT NULL,
	low          TEXT NOT NULL,
	high         TEXT NOT NULL,
	heartbeat_at INTEGER NOT NULL,
	PRIMARY KEY (name, pattern)
) WITHOUT ROWID;
--bun:split
CREATE TABLE event_delivery (
	id         INTEGER PRIMARY KEY,
	event_id   INTEGER NOT NULL,
	queue      TEXT NOT NULL,
	due_at     INTEGER NOT NULL,
	owner      TEXT,
	attempt    INTEGER NOT NULL DEFAULT 0,
	buried_at  INTEGER,
	last_error TEXT,
	created_at INTEGER NOT NULL
);
--bun:split
CREATE INDEX event_delivery_due ON event_delivery (queue, due_at, id) WHERE buried_at IS NULL;
--bun:split
CREATE INDEX event_delivery_buried ON event_delivery (queue, id) WHERE buried_at IS NOT NULL;
