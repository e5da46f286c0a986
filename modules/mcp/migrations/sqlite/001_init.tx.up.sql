-- Times are microseconds since 1970 UTC. Lists are JSON.
CREATE TABLE mcp_session (
  id         TEXT    PRIMARY KEY,
  user_id    INTEGER NOT NULL,
  token_id   INTEGER NOT NULL,
  version    TEXT    NOT NULL,
  params     TEXT    NOT NULL,
  log_level  TEXT    NOT NULL DEFAULT '',
  subscribed TEXT    NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  used_at    INTEGER NOT NULL
) WITHOUT ROWID;
--bun:split
CREATE INDEX mcp_session_used ON mcp_session (used_at);
--bun:split
CREATE INDEX mcp_session_token ON mcp_session (token_id, used_at);
--bun:split
-- Which catalogue the agent with a token gets.
CREATE TABLE mcp_token (
  token_id INTEGER PRIMARY KEY,
  catalog  TEXT    NOT NULL
);
--bun:split
-- What a client sent to one process and another one waits for.
CREATE TABLE mcp_message (
  id         INTEGER PRIMARY KEY,
  process    TEXT    NOT NULL,
  session    TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  created_at INTEGER NOT NULL
);
--bun:split
-- Answers that no client was there for, to be asked for again.
CREATE TABLE mcp_event (
  session    TEXT    NOT NULL,
  stream     TEXT    NOT NULL,
  position   INTEGER NOT NULL,
  body       TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session, stream, position)
) WITHOUT ROWID;
--bun:split
-- The secret that signs what clients carry for the server.
CREATE TABLE mcp_secret (id INTEGER PRIMARY KEY, secret TEXT NOT NULL);
