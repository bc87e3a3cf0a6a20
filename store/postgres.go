package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// postgresEngine keeps two pools: batches have one to themselves, so that slow
// reads never make a purchase wait, and with planner settings that would be
// wrong for reads.
type postgresEngine struct {
	batches *pgxpool.Pool
	reads   *pgxpool.Pool
	rows    *sql.DB       // reads, as database/sql has it
	grace   time.Duration // how long to look for the outcome of a broken commit
}

// batchSettings pin the plans of the batch. All its statements reach rows by
// their keys; without this a plan cached while a table was small, or for the
// hundred rows the planner expects of an array, can be a scan of the table, or of
// a partial index. Joins are made in the order in which they are written.
// force_generic_plan also saves planning a statement on each execution.
const batchSettings = `SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET enable_material = off; SET jit = off; SET join_collapse_limit = 1;
SET statement_timeout = '10s'; SET idle_in_transaction_session_timeout = '15s'`

func openPostgres(ctx context.Context, s *Store, o Options) error {
	e := &postgresEngine{grace: 5 * time.Second}
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return fmt.Errorf("LOYALTY_DATABASE_URL: %w", err)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	config.MaxConns = int32(o.Connections)
	if e.reads, err = pgxpool.NewWithConfig(ctx, config.Copy()); err != nil {
		return fmt.Errorf("LOYALTY_DATABASE_URL: %w", err)
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, batchSettings)
		return err
	}
	if e.batches, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		e.reads.Close()
		return fmt.Errorf("LOYALTY_DATABASE_URL: %w", err)
	}
	s.engine = e
	e.rows = stdlib.OpenDBFromPool(e.reads)
	s.read, err = gorm.Open(postgres.New(postgres.Config{Conn: e.rows}), gormConfig())
	if err != nil {
		return errors.Join(fmt.Errorf("LOYALTY_DATABASE_URL: %w", err), e.close())
	}
	s.write = s.read
	return nil
}

func (e *postgresEngine) dialect() goose.Dialect { return goose.DialectPostgres }

func (e *postgresEngine) close() error {
	err := e.rows.Close() // it has a goroutine of its own
	e.batches.Close()
	e.reads.Close()
	return err
}

func (e *postgresEngine) schemaVersion(ctx context.Context) (version int64, err error) {
	var table *string
	if err := e.reads.QueryRow(ctx, `SELECT to_regclass('goose_db_version')::text`).Scan(&table); err != nil || table == nil {
		return 0, err
	}
	err = e.reads.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&version)
	return version, err
}

func (e *postgresEngine) extendJournal(ctx context.Context, now time.Time) error {
	now = now.UTC()
	for i := range 3 {
		from := time.Date(now.Year(), now.Month()+time.Month(i), 1, 0, 0, 0, 0, time.UTC)
		to := from.AddDate(0, 1, 0)
		_, err := e.reads.Exec(ctx, `SELECT loyalty_journal_month($1, $2, $3)`,
			from.Format("2006_01"), from.UnixMilli(), to.UnixMilli())
		if err != nil {
			return fmt.Errorf("journal of %s: %w", from.Format("2006-01"), e.classify(err))
		}
	}
	return nil
}
