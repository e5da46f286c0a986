-- Configuration entities (content types, environments, analyzers …) in the
-- form in which clients export them, byte for byte. An id is never used again,
-- for revisions and publications name it.
CREATE TABLE content_config (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  export     TEXT NOT NULL,
  state      TEXT NOT NULL DEFAULT '{}', -- what is ours: index names, members of aliases
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (kind, name)
);
--bun:split
-- One counter that every change of content_config raises, so that other
-- processes notice.
CREATE TABLE content_config_version (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL);
--bun:split
INSERT INTO content_config_version (id, version) VALUES (1, 1);
--bun:split
-- The rowid clusters revisions in the order of writing. The unique key finds
-- the newest revision of a document and refuses a number that is taken, which
-- is what prevents lost updates.
CREATE TABLE content_revision (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  type_id      INTEGER NOT NULL,
  ouuid        TEXT NOT NULL,
  number       INTEGER NOT NULL,
  draft        INTEGER NOT NULL,
  failed       INTEGER NOT NULL DEFAULT 0, -- a draft that index or update left behind
  deleted      INTEGER NOT NULL DEFAULT 0,
  edits        INTEGER NOT NULL DEFAULT 0, -- of a draft, for its ETag
  raw          TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  created_by   TEXT NOT NULL,
  finalized_at INTEGER NOT NULL DEFAULT 0,
  finalized_by TEXT NOT NULL DEFAULT '',
  lock_by      TEXT NOT NULL DEFAULT '',
  lock_until   INTEGER NOT NULL DEFAULT 0,
  UNIQUE (type_id, ouuid, number)
);
--bun:split
CREATE INDEX content_revision_draft ON content_revision (created_at) WHERE draft;
--bun:split
-- Which revision of a document an environment holds; none after unpublishing.
CREATE TABLE content_publication (
  type_id        INTEGER NOT NULL,
  ouuid          TEXT NOT NULL,
  environment_id INTEGER NOT NULL,
  revision_id    INTEGER,
  published_at   INTEGER NOT NULL,
  published_by   TEXT NOT NULL,
  PRIMARY KEY (type_id, ouuid, environment_id)
) WITHOUT ROWID;
