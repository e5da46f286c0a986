-- Who did what: an event that was recorded, under its id. Times are
-- microseconds since 1970 UTC.
CREATE TABLE audit_entry (
  id         bigint PRIMARY KEY,
  at         bigint NOT NULL,
  actor      text NOT NULL,
  type       text NOT NULL,
  subject    text NOT NULL,
  data       text NOT NULL,
  request_id text NOT NULL
);
--bun:split
CREATE INDEX audit_entry_at ON audit_entry (at);
--bun:split
CREATE INDEX audit_entry_actor ON audit_entry (actor, id);
--bun:split
CREATE INDEX audit_entry_subject ON audit_entry (subject, id);
