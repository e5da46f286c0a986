-- The newest of a type, and which types there are.
CREATE INDEX audit_entry_type ON audit_entry (type, id);
