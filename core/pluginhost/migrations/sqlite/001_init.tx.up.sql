-- Times are microseconds since 1970 UTC; 0 means never. Lists and objects are JSON.
CREATE TABLE plugins_plugin (
  name       TEXT    PRIMARY KEY,
  enabled    BOOLEAN NOT NULL,
  sha256     TEXT    NOT NULL DEFAULT '',
  granted    TEXT    NOT NULL DEFAULT '[]',
  config     TEXT    NOT NULL DEFAULT '{}',
  run_as     TEXT    NOT NULL DEFAULT '',
  generation BIGINT  NOT NULL
);
--bun:split
CREATE TABLE plugins_status (
  name       TEXT    NOT NULL,
  instance   TEXT    NOT NULL,
  state      TEXT    NOT NULL,
  reason     TEXT    NOT NULL,
  version    TEXT    NOT NULL,
  pid        BIGINT  NOT NULL,
  updated_at BIGINT  NOT NULL,
  PRIMARY KEY (name, instance)
);
--bun:split
CREATE TABLE plugins_kv (
  plugin     TEXT    NOT NULL,
  key        TEXT    NOT NULL,
  value      BLOB    NOT NULL,
  expires_at BIGINT  NOT NULL,
  PRIMARY KEY (plugin, key)
);
