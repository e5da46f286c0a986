-- The files there are, by the hash of their bytes. Name and type are those of
-- the last upload.
CREATE TABLE file_object (
  id            INTEGER PRIMARY KEY,
  hash          TEXT NOT NULL UNIQUE,
  algo          TEXT NOT NULL,
  size          INTEGER NOT NULL,
  name          TEXT NOT NULL,
  type          TEXT NOT NULL,
  sniffed       TEXT NOT NULL,              -- the type its first bytes look like
  hidden        INTEGER NOT NULL DEFAULT 0, -- not served to the public
  uploads       INTEGER NOT NULL DEFAULT 1,
  heads         INTEGER NOT NULL DEFAULT 0,
  first_seen_at INTEGER NOT NULL,
  last_seen_at  INTEGER NOT NULL,
  uploaded_by   TEXT NOT NULL,
  removing_at   INTEGER NOT NULL DEFAULT 0  -- since when the garbage collection is at it
);
--bun:split
-- Uploads that are not complete. A user may have several of one hash, when
-- clients send it at the same time; the name of a stage is the id.
CREATE TABLE file_upload (
  id          TEXT PRIMARY KEY,
  hash        TEXT NOT NULL,
  username    TEXT NOT NULL,
  size        INTEGER NOT NULL,
  name        TEXT NOT NULL,
  type        TEXT NOT NULL,
  uploaded    INTEGER NOT NULL,
  state       TEXT NOT NULL,           -- of the hash after those bytes
  owner       TEXT NOT NULL DEFAULT '', -- who writes to it now, until lease_until
  lease_until INTEGER NOT NULL DEFAULT 0,
  touched_at  INTEGER NOT NULL
) WITHOUT ROWID;
--bun:split
CREATE INDEX file_upload_hash ON file_upload (hash, username);
--bun:split
CREATE INDEX file_upload_touched ON file_upload (touched_at);
--bun:split
-- Where the clients that send a hash are: what tells those of one user apart.
CREATE TABLE file_client (
  id         INTEGER PRIMARY KEY,
  hash       TEXT NOT NULL,
  username   TEXT NOT NULL,
  at         INTEGER NOT NULL, -- bytes it has sent
  touched_at INTEGER NOT NULL
);
--bun:split
CREATE INDEX file_client_hash ON file_client (hash, username, at);
