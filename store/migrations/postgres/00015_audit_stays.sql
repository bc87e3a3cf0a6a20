-- +goose Up
-- The audit trail refuses change like the journal.
-- +goose StatementBegin
CREATE FUNCTION loyalty_audit_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'LY002';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_stay BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION loyalty_audit_stays();
CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION loyalty_audit_stays();

-- +goose Down
DROP TRIGGER audit_stay ON audit;
DROP TRIGGER audit_whole ON audit;
DROP FUNCTION loyalty_audit_stays();
