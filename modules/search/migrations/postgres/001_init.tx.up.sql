-- What other processes, such as the command line, ask of the one that holds
-- the index. Whoever asks removes the row when it has the answer.
CREATE TABLE search_request (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  what     text NOT NULL,
  argument text NOT NULL, -- JSON
  asked_at bigint NOT NULL,
  beat_at  bigint NOT NULL DEFAULT 0, -- when somebody last worked on it
  progress text NOT NULL DEFAULT '',
  done_at  bigint NOT NULL DEFAULT 0,
  answer   text NOT NULL DEFAULT '', -- JSON
  failure  text NOT NULL DEFAULT ''
);
