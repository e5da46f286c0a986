-- Where in a trace the event happened: a traceparent, or empty.
ALTER TABLE webhook_message ADD COLUMN trace text NOT NULL DEFAULT '';
