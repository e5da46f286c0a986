-- Where in a trace the event happened: a traceparent, or empty.
ALTER TABLE event ADD COLUMN trace TEXT NOT NULL DEFAULT '';
