CREATE TABLE note (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, slug text NOT NULL UNIQUE, body text NOT NULL, done boolean NOT NULL DEFAULT false);
--bun:split
CREATE TABLE tag (note_id bigint NOT NULL, name text NOT NULL);
