CREATE TABLE thing (subject TEXT PRIMARY KEY);
--bun:split
CREATE TABLE seen (event_id INTEGER NOT NULL, subject TEXT NOT NULL);
--bun:split
CREATE TABLE effect (event_id INTEGER NOT NULL, subject TEXT NOT NULL);
--bun:split
CREATE INDEX seen_event ON seen (event_id);
--bun:split
CREATE INDEX effect_event ON effect (event_id);
