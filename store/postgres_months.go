package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// How the months of the journal are created. They are created long before they are needed, so that no attempt may
// make a purchase wait: an attempt that does not get its locks at once is abandoned, and repeated later.
const (
	monthsAhead = 12
	monthTries  = 5
	monthPause  = 500 * time.Millisecond
	// monthAlone keeps nodes that start together from creating the same month. Only they wait for that lock, so they
	// may wait for each other; the journal's own locks come after it.
	monthAlone = `SET LOCAL statement_timeout = '60s'; SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(hashtext('loyalty_journal_month'));
SET LOCAL lock_timeout = '200ms'; SET LOCAL statement_timeout = '10s'`
)

// month is one partition of the journal.
type month struct {
	table       string
	starts, end time.Time
}

func monthOf(now time.Time, ahead int) month {
	starts := time.Date(now.Year(), now.Month()+time.Month(ahead), 1, 0, 0, 0, 0, time.UTC)
	return month{"events_" + starts.Format("2006_01"), starts, starts.AddDate(0, 1, 0)}
}

// inside is the condition that an event is of the month.
func (m month) inside() string {
	return fmt.Sprintf("recorded_at >= %d AND recorded_at < %d", m.starts.UnixMilli(), m.end.UnixMilli())
}

// extendJournal creates the missing months. A month that cannot be created does not stop the others.
func (e *postgresEngine) extendJournal(ctx context.Context, now time.Time) error {
	var failed []error
	for ahead := range monthsAhead + 1 {
		m := monthOf(now.UTC(), ahead)
		err := e.patiently(ctx, func() error { return e.makeMonth(ctx, m, now) })
		if err != nil {
			failed = append(failed, fmt.Errorf("journal of %s: %w", m.starts.Format("2006-01"), e.classify(err)))
		}
		if lockedOut(err) {
			break // the next one would wait for the same locks
		}
	}
	return errors.Join(failed...)
}

// patiently repeats an attempt that did not get its locks in time.
func (e *postgresEngine) patiently(ctx context.Context, attempt func() error) error {
	for n := 1; ; n++ {
		err := attempt()
		if err == nil || n == monthTries || !lockedOut(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(monthPause):
		}
	}
}

func lockedOut(err error) bool { return sqlState(err, "55P03", "40P01") }

// makeMonth creates one month, unless it exists, or the default partition already has events of it: then the whole
// month belongs there.
func (e *postgresEngine) makeMonth(ctx context.Context, m month, now time.Time) error {
	var exists, caught, full bool
	err := e.reads.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL, EXISTS (SELECT 1 FROM events_default WHERE `+m.inside()+`),
EXISTS (SELECT 1 FROM events_default)`, m.table).Scan(&exists, &caught, &full)
	if err != nil || exists || caught {
		return err
	}

	guarded := full && m.starts.After(now.AddDate(0, 1, 0))
	if guarded {
		if err := e.guardDefault(ctx, m); err != nil {
			return err
		}
	}

	err = pgx.BeginFunc(ctx, e.reads, func(tx pgx.Tx) error { return attach(ctx, tx, m, guarded) })
	if sqlState(err, "23514") {
		return nil // an event of the month reached the default partition meanwhile
	}

	return err
}

// guardDefault proves to the default partition, which holds events of months that were not created in time, that it
// has none of this month. The scan for that blocks neither readers nor writers, unlike the one that attaching would
// make. Only a month in the far future is closed to the default partition like that.
func (e *postgresEngine) guardDefault(ctx context.Context, m month) error {
	name := "without_" + m.table
	err := pgx.BeginFunc(ctx, e.reads, func(tx pgx.Tx) error {
		if err := monthsAlone(ctx, tx); err != nil {
			return err
		}
		var exists bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = $1 AND conrelid = 'events_default'::regclass)`, name).Scan(&exists)
		if err != nil || exists {
			return err
		}
		_, err = tx.Exec(ctx, fmt.Sprintf(`ALTER TABLE events_default ADD CONSTRAINT %s CHECK (recorded_at < %d OR recorded_at >= %d) NOT VALID`,
			name, m.starts.UnixMilli(), m.end.UnixMilli()))
		return err
	})
	if err != nil {
		return err
	}

	_, err = e.reads.Exec(ctx, `BEGIN; SET LOCAL lock_timeout = '200ms'; SET LOCAL statement_timeout = 0;
ALTER TABLE events_default VALIDATE CONSTRAINT `+name+`; COMMIT`)
	return err
}

// monthsAlone excludes other nodes, and limits the wait for other locks. The lock is a separate statement, so that
// later ones see what the other nodes did.
func monthsAlone(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, monthAlone)
	return err
}

// attach creates the table separately and attaches it when it is ready. CREATE TABLE … PARTITION OF would lock the
// whole journal; this locks, besides the new table, only the default partition, and scans nothing.
func attach(ctx context.Context, tx pgx.Tx, m month, guarded bool) error {
	if err := monthsAlone(ctx, tx); err != nil {
		return err
	}

	var exists bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = $1
AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass))`, m.table).Scan(&exists)
	if err != nil || exists {
		return err
	}

	statements := []string{
		fmt.Sprintf(`CREATE TABLE %s (LIKE events INCLUDING ALL, CONSTRAINT %s_month CHECK (%s))`, m.table, m.table, m.inside()),
		fmt.Sprintf(`CREATE TRIGGER events_whole BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION loyalty_journal_stays()`, m.table),
		fmt.Sprintf(`ALTER TABLE events ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)`, m.table, m.starts.UnixMilli(), m.end.UnixMilli()),
		fmt.Sprintf(`ALTER TABLE %s DROP CONSTRAINT %s_month`, m.table, m.table),
	}

	if guarded {
		statements = append(statements, `ALTER TABLE events_default DROP CONSTRAINT IF EXISTS without_`+m.table)
	}

	for _, s := range statements {
		if _, err := tx.Exec(ctx, s); err != nil {
			return err
		}
	}

	return nil
}
