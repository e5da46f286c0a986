-- What other processes, such as the command line, ask of the one that holds
-- the index. Whoever asks removes the row when it has the answer.
CREATE TABLE search_request (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  what     TEXT NOT NULL,
  argument TEXT NOT NULL, -- JSON
  asked_at INTEGER NOT NULL,
  beat_at  INTEGER NOT NULL DEFAULT 0, -- when somebody last worked on it
  progress TEXT NOT NULL DEFAULT '',
  done_at  INTEGER NOT NULL DEFAULT 0,
  answer   TEXT NOT NULL DEFAULT '', -- JSON
  failure  TEXT NOT NULL DEFAULT ''
);
