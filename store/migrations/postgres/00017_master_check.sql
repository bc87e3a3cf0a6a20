-- +goose Up

-- A value that only the programme's master key opens, so that a node with another one stops before it seals anything.
CREATE TABLE master_check (
    id     integer PRIMARY KEY CHECK (id = 1),
    sealed bytea NOT NULL
);

-- The program makes the months of the journal itself: apart, and attached ready.
DROP FUNCTION loyalty_journal_month(text, bigint, bigint);

-- +goose Down
DROP TABLE master_check;
-- +goose StatementBegin
CREATE FUNCTION loyalty_journal_month(month text, starts bigint, ends bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE part text := 'events_' || month;
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('loyalty_journal_month'));
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I PARTITION OF events FOR VALUES FROM (%s) TO (%s)', part, starts, ends);
    EXECUTE format('CREATE TRIGGER events_whole BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION loyalty_journal_stays()', part);
EXCEPTION WHEN check_violation THEN
    NULL;
END $$;
-- +goose StatementEnd
