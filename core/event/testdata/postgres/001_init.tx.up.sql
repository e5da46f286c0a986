CREATE TABLE thing (subject text PRIMARY KEY);
--bun:split
CREATE TABLE seen (event_id bigint NOT NULL, subject text NOT NULL);
--bun:split
CREATE TABLE effect (event_id bigint NOT NULL, subject text NOT NULL);
--bun:split
CREATE INDEX seen_event ON seen (event_id);
--bun:split
CREATE INDEX effect_event ON effect (event_id);
--bun:split
CREATE TABLE span (event_id bigint NOT NULL, process text NOT NULL, began_at bigint NOT NULL, ended_at bigint);
