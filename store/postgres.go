package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// postgresEngine keeps two pools. Batches have their own, so that slow reads never make a purchase wait, with planner
// settings that would be wrong for reads.
type postgresEngine struct {
	batches *pgxpool.Pool
	reads   *pgxpool.Pool
	rows    *sql.DB // the reads' pool, for database/sql
	schema  *sql.DB // for migrations, without time limits
	sealer  sealer
	grace   time.Duration // how long to look for the outcome of a broken commit
}

// defaultConnections bounds a pool if neither the options nor the address do.
const defaultConnections = 16

// batchSettings pin the plans of batches. All their statements reach rows by keys. Without these settings a plan
// cached while a table was small, or made for the hundred rows that the planner expects of an array, can scan the
// table or a partial index. Joins run in the order of the text. force_generic_plan also saves planning a statement on
// each execution.
const batchSettings = `SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET enable_material = off; SET jit = off; SET join_collapse_limit = 1;
SET statement_timeout = '10s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '15s'`

// plansLast is how long a session of the batches keeps its plans. A plan made while a table was nearly empty begins
// with that table and not with the requested rows: after an import, or in the first hour of an installation, it reads
// the whole table for each batch until the table is analyzed, which PostgreSQL does once a minute at most. Planning
// everything again takes some milliseconds.
var plansLast = 5 * time.Second

// planned is when a connection's plans were last discarded.
const planned = "planned"

// planAgain discards the plans of a session if they are old.
func planAgain(ctx context.Context, c *pgx.Conn) (usable bool, err error) {
	kept := c.PgConn().CustomData()
	switch at, used := kept[planned].(time.Time); {
	case !used: // there are none yet
	case time.Since(at) < plansLast:
		return true, nil
	default:
		_, err = c.PgConn().Exec(ctx, "DISCARD PLANS").ReadAll()
	}
	kept[planned] = time.Now()
	return err == nil, nil // if it fails, the pool tries another connection
}

// readSettings bound what a session of the other pool can withhold from others. A node that freezes inside an
// administrative transaction loses it before callers that wait for the same lock, such as one that revokes a key,
// give up. Compilation is off: a page is read faster than its query compiles.
const readSettings = `SET jit = off; SET statement_timeout = '30s'; SET lock_timeout = '8s'; SET idle_in_transaction_session_timeout = '5s'`

// sessionSettings apply to both pools. An acknowledged write survives a crash of the database whatever its default
// is; a stricter setting, which waits for a replica, is kept. The database notices a node without network within a
// minute and releases its locks.
const sessionSettings = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');
SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 60000`

// keepAlive is the same for this side of the connection.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// unhurried are the limits of a transaction that reads the whole ledger; it holds no lock that others wait for.
// Compilation stays off: for a page of chains the planner expects so many rows that compiling would take longer than
// reading.
const unhurried = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '30min'`

func openPostgres(ctx context.Context, s *database, o Options) error {
	config, err := poolConfig(o.URL)
	if err == nil {
		err = checkPooler(ctx, config.ConnConfig)
	}
	if err == nil {
		err = connectPostgres(ctx, s, config, o, gormConfig())
	}
	if err != nil {
		return fmt.Errorf("LOYALTY_DATABASE_URL: %w", err)
	}
	return nil
}

// poolConfig reads the address of a server.
func poolConfig(address string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	// When a caller gives up, the ping and its connection would hang for a minute, and closing would wait for it.
	if config.PingTimeout == 0 {
		config.PingTimeout = 3 * time.Second
	}

	config.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext
	if !sizesPool(address) {
		config.MaxConns = defaultConnections
	}

	return config, nil
}

// connectPostgres creates the pools of a server.
func connectPostgres(ctx context.Context, s *database, config *pgxpool.Config, o Options, g *gorm.Config) (err error) {
	e := &postgresEngine{sealer: s.sealer, grace: 5 * time.Second}
	if e.reads, err = pool(ctx, config.Copy(), o.ReadConnections, readSettings); err != nil {
		return err
	}

	batches := config.Copy()
	batches.PrepareConn = planAgain
	if e.batches, err = pool(ctx, batches, o.BatchConnections, batchSettings); err != nil {
		e.reads.Close()
		return err
	}

	e.schema = stdlib.OpenDB(*config.ConnConfig, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `SET idle_in_transaction_session_timeout = '5min'; `+sessionSettings)
		return err
	}))

	e.schema.SetMaxIdleConns(0)
	s.engine = e
	e.rows = stdlib.OpenDBFromPool(e.reads)
	s.read, err = gorm.Open(postgres.New(postgres.Config{Conn: e.rows}), g)
	if err != nil {
		return errors.Join(err, e.close())
	}

	s.write = s.read
	return nil
}

// sizesPool reports whether the address sets the size of a pool.
func sizesPool(address string) bool {
	config, err := pgx.ParseConfig(address)
	return err == nil && config.RuntimeParams["pool_max_conns"] != ""
}

// pool creates a pool of the given size, if one is given.
func pool(ctx context.Context, config *pgxpool.Config, size int, settings string) (*pgxpool.Pool, error) {
	if size > 0 {
		config.MaxConns = int32(size)
	}

	more := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		if _, err := c.Exec(ctx, settings+"; "+sessionSettings); err != nil {
			return err
		}
		if more != nil {
			if err := more(ctx, c); err != nil {
				return err
			}
		}
		return noteSession(ctx, c)
	}

	return pgxpool.NewWithConfig(ctx, config)
}

// warnings returns the settings of the server that can lose an acknowledged write.
func (e *postgresEngine) warnings(ctx context.Context) (list []string, err error) {
	rows, err := e.reads.Query(ctx, `SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name`)
	if err != nil {
		return nil, e.classify(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range names {
		list = append(list, "PostgreSQL's "+name+" is off: a crash of its machine can lose acknowledged writes or damage the database")
	}
	return list, e.classify(err)
}

func (e *postgresEngine) unhurried(db *gorm.DB) error { return db.Exec(unhurried).Error }

func (e *postgresEngine) migrator() *sql.DB { return e.schema }

func (e *postgresEngine) dialect() goose.Dialect { return goose.DialectPostgres }

func (e *postgresEngine) close() error {
	err := e.rows.Close() // it has its own goroutine
	e.batches.Close()
	e.reads.Close()
	return errors.Join(err, e.schema.Close())
}

func (e *postgresEngine) schemaVersion(ctx context.Context) (version int64, err error) {
	var table *string
	if err := e.reads.QueryRow(ctx, `SELECT to_regclass('goose_db_version')::text`).Scan(&table); err != nil || table == nil {
		return 0, err
	}
	err = e.reads.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&version)
	return version, err
}

func (e *postgresEngine) time(ctx context.Context) (now time.Time, err error) {
	err = e.reads.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now)
	return now, err
}

// room creates a table and rolls it back: only new pages show whether the disk has space. It is a temporary table,
// which needs no right to create tables.
func (e *postgresEngine) room(ctx context.Context) error {
	_, err := e.reads.Exec(ctx, `BEGIN; CREATE TEMPORARY TABLE loyalty_room AS SELECT repeat(md5(n::text), 200) FROM generate_series(1, 200) n; ROLLBACK`)
	return err
}

// rest does nothing: the server maintains its log itself.
func (*postgresEngine) rest() {}

func (e *postgresEngine) pools() []Pool {
	of := func(name string, p *pgxpool.Pool) Pool {
		s := p.Stat()
		return Pool{
			Name: name, Used: int(s.AcquiredConns()), Idle: int(s.IdleConns()), Most: int(s.MaxConns()),
			Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
			Opened: s.NewConnsCount(), Closed: s.MaxIdleDestroyCount() + s.MaxLifetimeDestroyCount(),
		}
	}
	return []Pool{of("batches", e.batches), of("reads", e.reads)}
}
