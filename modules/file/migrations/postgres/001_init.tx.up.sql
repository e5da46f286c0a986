-- The files there are, by the hash of their bytes. Name and type are those of
-- the last upload.
CREATE TABLE file_object (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash          text COLLATE "C" NOT NULL UNIQUE,
  algo          text NOT NULL,
  size          bigint NOT NULL,
  name          text NOT NULL,
  type          text NOT NULL,
  sniffed       text NOT NULL,                  -- the type its first bytes look like
  hidden        boolean NOT NULL DEFAULT false, -- not served to the public
  uploads       bigint NOT NULL DEFAULT 1,
  heads         bigint NOT NULL DEFAULT 0,
  first_seen_at bigint NOT NULL,
  last_seen_at  bigint NOT NULL,
  uploaded_by   text NOT NULL,
  removing_at   bigint NOT NULL DEFAULT 0       -- since when the garbage collection is at it
);
--bun:split
-- Uploads that are not complete. A user may have several of one hash, when
-- clients send it at the same time; the name of a stage is the id.
CREATE TABLE file_upload (
  id          text COLLATE "C" PRIMARY KEY,
  hash        text COLLATE "C" NOT NULL,
  username    text NOT NULL,
  size        bigint NOT NULL,
  name        text NOT NULL,
  type        text NOT NULL,
  uploaded    bigint NOT NULL,
  state       text NOT NULL,            -- of the hash after those bytes
  owner       text NOT NULL DEFAULT '', -- who writes to it now, until lease_until
  lease_until bigint NOT NULL DEFAULT 0,
  touched_at  bigint NOT NULL
);
--bun:split
CREATE INDEX file_upload_hash ON file_upload (hash, username);
--bun:split
CREATE INDEX file_upload_touched ON file_upload (touched_at);
--bun:split
-- Where the clients that send a hash are: what tells those of one user apart.
CREATE TABLE file_client (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash       text COLLATE "C" NOT NULL,
  username   text NOT NULL,
  at         bigint NOT NULL, -- bytes it has sent
  touched_at bigint NOT NULL
);
--bun:split
CREATE INDEX file_client_hash ON file_client (hash, username, at);
