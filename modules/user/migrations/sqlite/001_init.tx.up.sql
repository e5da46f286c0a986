-- Times are microseconds since 1970 UTC; 0 means never. Lists and objects are JSON.
CREATE TABLE user_account (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  username           TEXT    NOT NULL,
  username_canonical TEXT    NOT NULL UNIQUE,
  email              TEXT    NOT NULL DEFAULT '',
  email_canonical    TEXT    NOT NULL DEFAULT '',
  display_name       TEXT    NOT NULL DEFAULT '',
  password_hash      TEXT    NOT NULL DEFAULT '',
  roles              TEXT    NOT NULL DEFAULT '[]',
  circles            TEXT    NOT NULL DEFAULT '[]',
  enabled            BOOLEAN NOT NULL,
  expires_at         BIGINT  NOT NULL DEFAULT 0,
  last_login         BIGINT  NOT NULL DEFAULT 0,
  locale             TEXT    NOT NULL,
  locale_preferred   TEXT    NOT NULL DEFAULT '',
  options            TEXT    NOT NULL DEFAULT '{}',
  extra              TEXT    NOT NULL DEFAULT '{}',
  created_at         BIGINT  NOT NULL,
  modified_at        BIGINT  NOT NULL
);
--bun:split
CREATE UNIQUE INDEX user_account_email ON user_account (email_canonical) WHERE email_canonical <> '';
--bun:split
CREATE TABLE user_token (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id      BIGINT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
  hash         TEXT   NOT NULL UNIQUE,
  hint         TEXT   NOT NULL,
  name         TEXT   NOT NULL,
  created_at   BIGINT NOT NULL,
  created_by   TEXT   NOT NULL,
  expires_at   BIGINT NOT NULL DEFAULT 0,
  last_used_at BIGINT NOT NULL DEFAULT 0,
  actor        TEXT   NOT NULL DEFAULT '',
  actor_id     BIGINT REFERENCES user_account (id) ON DELETE CASCADE
);
--bun:split
CREATE INDEX user_token_user ON user_token (user_id);
--bun:split
CREATE INDEX user_token_actor ON user_token (actor_id) WHERE actor_id IS NOT NULL;
--bun:split
CREATE INDEX user_token_expires ON user_token (expires_at) WHERE expires_at > 0;
