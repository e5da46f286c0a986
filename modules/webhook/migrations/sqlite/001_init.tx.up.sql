-- Times are microseconds since 1970 UTC; 0 means never. Lists are JSON.
CREATE TABLE webhook_subscription (
  id               TEXT    PRIMARY KEY,
  identity         TEXT    NOT NULL UNIQUE,
  url              TEXT    NOT NULL,
  events           TEXT    NOT NULL,
  content_types    TEXT    NOT NULL,
  environments     TEXT    NOT NULL,
  description      TEXT    NOT NULL,
  ordered          BOOLEAN NOT NULL,
  rate             INTEGER NOT NULL,
  concurrency      INTEGER NOT NULL,
  secret           TEXT    NOT NULL,
  old_secret       TEXT    NOT NULL DEFAULT '',
  old_secret_until BIGINT  NOT NULL DEFAULT 0,
  owner            TEXT    NOT NULL,
  enabled          BOOLEAN NOT NULL,
  paused           BOOLEAN NOT NULL DEFAULT FALSE,
  message          TEXT    NOT NULL DEFAULT '',
  failures         INTEGER NOT NULL DEFAULT 0,
  failing_since    BIGINT  NOT NULL DEFAULT 0,
  open_until       BIGINT  NOT NULL DEFAULT 0,
  validated_at     BIGINT  NOT NULL DEFAULT 0,
  validate_at      BIGINT  NOT NULL,
  created_at       BIGINT  NOT NULL,
  modified_at      BIGINT  NOT NULL
);
--bun:split
-- One row whose version grows with every change of a subscription.
CREATE TABLE webhook_state (id INTEGER PRIMARY KEY, version BIGINT NOT NULL);
--bun:split
INSERT INTO webhook_state (id, version) VALUES (1, 1);
--bun:split
-- What happened, once for all subscriptions; id is that of the event.
CREATE TABLE webhook_message (
  id      BIGINT PRIMARY KEY,
  type    TEXT   NOT NULL,
  subject TEXT   NOT NULL,
  body    TEXT   NOT NULL,
  at      BIGINT NOT NULL
);
--bun:split
-- A call to make: a queue of core/work whose queues are subscriptions. control
-- is the type of a call that no event asked for.
CREATE TABLE webhook_delivery (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  queue      TEXT    NOT NULL,
  due_at     BIGINT  NOT NULL,
  owner      TEXT,
  attempt    INTEGER NOT NULL DEFAULT 0,
  buried_at  BIGINT,
  last_error TEXT,
  created_at BIGINT  NOT NULL,
  message_id BIGINT,
  control    TEXT    NOT NULL DEFAULT '',
  subject    TEXT    NOT NULL DEFAULT '',
  at         BIGINT  NOT NULL,
  webhook_id TEXT    NOT NULL -- of a control; that of an event has its id
);
--bun:split
CREATE INDEX webhook_delivery_due ON webhook_delivery (queue, due_at, id) WHERE buried_at IS NULL;
--bun:split
CREATE UNIQUE INDEX webhook_delivery_once ON webhook_delivery (message_id, queue) WHERE message_id IS NOT NULL;
--bun:split
CREATE INDEX webhook_delivery_list ON webhook_delivery (queue, id);
--bun:split
CREATE INDEX webhook_delivery_order ON webhook_delivery (queue, subject, at, id) WHERE subject <> '' AND due_at < 9223372036854775807 AND buried_at IS NULL;
--bun:split
CREATE TABLE webhook_attempt (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  delivery_id BIGINT  NOT NULL,
  at          BIGINT  NOT NULL,
  duration    BIGINT  NOT NULL,
  status      INTEGER NOT NULL,
  error       TEXT    NOT NULL,
  response    TEXT    NOT NULL
);
--bun:split
CREATE INDEX webhook_attempt_delivery ON webhook_attempt (delivery_id, id);
