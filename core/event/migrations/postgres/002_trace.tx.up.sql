-- Where in a trace the event happened: a traceparent, or empty.
ALTER TABLE event ADD COLUMN trace text NOT NULL DEFAULT '';
