-- Where in a trace the job was created: a traceparent, or empty.
ALTER TABLE job ADD COLUMN trace text NOT NULL DEFAULT '';
