-- Processes take ids in blocks, so that an event knows its id without asking.
CREATE SEQUENCE event_id INCREMENT BY 256;
--bun:split
CREATE TABLE event (
	id         bigint PRIMARY KEY,
	type       text NOT NULL,
	subject    text NOT NULL,
	data       text NOT NULL,
	at         bigint NOT NULL,
	actor      text NOT NULL,
	request_id text NOT NULL
);
--bun:split
-- low and high: the first and the last name of a type that the pattern fits.
CREATE TABLE event_subscriber (
	name         text NOT NULL,
	pattern      text NOT NULL,
	low          text COLLATE "C" NOT NULL,
	high         text COLLATE "C" NOT NULL,
	heartbeat_at bigint NOT NULL,
	PRIMARY KEY (name, pattern)
) WITH (fillfactor = 50);
--bun:split
-- Rows live for moments: vacuum by number, not by share of a size that varies.
CREATE TABLE event_delivery (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	event_id   bigint NOT NULL,
	queue      text NOT NULL,
	due_at     bigint NOT NULL,
	owner      text,
	attempt    integer NOT NULL DEFAULT 0,
	buried_at  bigint,
	last_error text,
	created_at bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);
--bun:split
CREATE INDEX event_delivery_due ON event_delivery (queue, due_at, id) WHERE buried_at IS NULL;
--bun:split
CREATE INDEX event_delivery_buried ON event_delivery (queue, id) WHERE buried_at IS NOT NULL;
