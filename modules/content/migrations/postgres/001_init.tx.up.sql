-- Configuration entities (content types, environments, analyzers …) in the
-- form in which clients export them, byte for byte.
CREATE TABLE content_config (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind       text NOT NULL,
  name       text NOT NULL,
  export     text NOT NULL,
  state      text NOT NULL DEFAULT '{}', -- what is ours: index names, members of aliases
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  UNIQUE (kind, name)
);
--bun:split
-- One counter that every change of content_config raises, so that other
-- processes notice.
CREATE TABLE content_config_version (id bigint PRIMARY KEY CHECK (id = 1), version bigint NOT NULL);
--bun:split
INSERT INTO content_config_version (id, version) VALUES (1, 1);
--bun:split
-- A process takes 64 ids at once, so that it need not wait for an insert.
CREATE SEQUENCE content_revision_id INCREMENT BY 64;
--bun:split
-- The unique key finds the newest revision of a document and refuses a number
-- that is taken, which is what prevents lost updates.
CREATE TABLE content_revision (
  id           bigint PRIMARY KEY, -- of content_revision_id
  type_id      bigint NOT NULL,
  ouuid        text COLLATE "C" NOT NULL,
  number       bigint NOT NULL,
  draft        boolean NOT NULL,
  failed       boolean NOT NULL DEFAULT false, -- a draft that index or update left behind
  deleted      boolean NOT NULL DEFAULT false,
  edits        bigint NOT NULL DEFAULT 0,      -- of a draft, for its ETag
  raw          text NOT NULL,
  created_at   bigint NOT NULL,
  created_by   text NOT NULL,
  finalized_at bigint NOT NULL DEFAULT 0,
  finalized_by text NOT NULL DEFAULT '',
  lock_by      text NOT NULL DEFAULT '',
  lock_until   bigint NOT NULL DEFAULT 0,
  UNIQUE (type_id, ouuid, number)
);
--bun:split
CREATE INDEX content_revision_draft ON content_revision (created_at) WHERE draft;
--bun:split
-- Which revision of a document an environment holds; none after unpublishing.
CREATE TABLE content_publication (
  type_id        bigint NOT NULL,
  ouuid          text COLLATE "C" NOT NULL,
  environment_id bigint NOT NULL,
  revision_id    bigint,
  published_at   bigint NOT NULL,
  published_by   text NOT NULL,
  PRIMARY KEY (type_id, ouuid, environment_id)
);
