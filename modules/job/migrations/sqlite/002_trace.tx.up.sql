-- Where in a trace the job was created: a traceparent, or empty.
ALTER TABLE job ADD COLUMN trace TEXT NOT NULL DEFAULT '';
