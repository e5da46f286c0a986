-- Times are microseconds since 1970 UTC; 0 means never.
CREATE TABLE form_submission (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  name         TEXT    NOT NULL,
  instance     TEXT    NOT NULL,
  locale       TEXT    NOT NULL,
  label        TEXT    NOT NULL,
  data         TEXT, -- null once it was processed
  expires_at   BIGINT  NOT NULL DEFAULT 0,
  tries        INTEGER NOT NULL DEFAULT 0,
  process_id   TEXT,
  process_by   TEXT,
  held_until   BIGINT  NOT NULL DEFAULT 0, -- by whoever processes it
  processed_at BIGINT  NOT NULL DEFAULT 0,
  created_at   BIGINT  NOT NULL,
  modified_at  BIGINT  NOT NULL
);
--bun:split
CREATE INDEX form_submission_expires ON form_submission (expires_at) WHERE expires_at > 0;
--bun:split
CREATE INDEX form_submission_waiting ON form_submission (name, seq) WHERE processed_at = 0;
--bun:split
-- The bytes are in the blob store under the key form-<id>.
CREATE TABLE form_file (
  id            TEXT    PRIMARY KEY,
  submission_id TEXT    NOT NULL,
  position      INTEGER NOT NULL,
  filename      TEXT    NOT NULL,
  mime_type     TEXT    NOT NULL,
  size          BIGINT  NOT NULL,
  form_field    TEXT    NOT NULL
);
--bun:split
CREATE INDEX form_file_submission ON form_file (submission_id, position);
--bun:split
-- Blobs to be deleted: written in the transaction that makes them useless.
CREATE TABLE form_trash (key TEXT PRIMARY KEY, created_at BIGINT NOT NULL);
--bun:split
-- Who read what; it outlives the submission and holds nothing of it.
CREATE TABLE form_access (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  submission_id TEXT   NOT NULL,
  username      TEXT   NOT NULL,
  what          TEXT   NOT NULL,
  address       TEXT   NOT NULL,
  at            BIGINT NOT NULL
);
--bun:split
CREATE INDEX form_access_submission ON form_access (submission_id, id);
--bun:split
CREATE INDEX form_access_at ON form_access (at);
--bun:split
-- value is a hash; code too, unless codes may be shown again.
CREATE TABLE form_verification (
  value      TEXT    PRIMARY KEY,
  code       TEXT    NOT NULL,
  hashed     BOOLEAN NOT NULL,
  tries      INTEGER NOT NULL,
  expires_at BIGINT  NOT NULL,
  created_at BIGINT  NOT NULL
);
--bun:split
CREATE INDEX form_verification_expires ON form_verification (expires_at);
