-- Who did what: an event that was recorded, under its id. Times are
-- microseconds since 1970 UTC.
CREATE TABLE audit_entry (
  id         INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  actor      TEXT NOT NULL,
  type       TEXT NOT NULL,
  subject    TEXT NOT NULL,
  data       TEXT NOT NULL,
  request_id TEXT NOT NULL
);
--bun:split
CREATE INDEX audit_entry_at ON audit_entry (at);
--bun:split
CREATE INDEX audit_entry_actor ON audit_entry (actor, id);
--bun:split
CREATE INDEX audit_entry_subject ON audit_entry (subject, id);
