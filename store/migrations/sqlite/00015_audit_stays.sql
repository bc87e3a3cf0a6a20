-- +goose Up
-- The audit trail refuses change like the journal.
-- +goose StatementBegin
CREATE TRIGGER audit_update BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only: UPDATE of audit is refused');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_delete BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only: DELETE of audit is refused');
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER audit_update;
DROP TRIGGER audit_delete;
