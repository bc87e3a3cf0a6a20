package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/store/citus"
)

// citusEngine is PostgreSQL whose tables are spread over machines. It runs batches differently, and it runs nested
// queries of a read before the read.
type citusEngine struct {
	*postgresEngine
	machines *machines
}

// citusDialector is PostgreSQL's under another name: Citus cannot distribute texts that were written for the planner
// of plain PostgreSQL, such as a LATERAL with a LIMIT.
type citusDialector struct{ postgres.Dialector }

func (citusDialector) Name() string { return "citus" }

// spreadSettings are the session settings of batches. A statement is planned with its values, because they choose the
// machine; what batchSettings set for plans would apply to the coordinator only. The session of an abandoned batch
// ends within a second and releases its locks. A machine that accepts no connection is waited for no longer than a
// batch.
const spreadSettings = `SET plan_cache_mode = force_custom_plan; SET jit = off;
SET statement_timeout = '10s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '15s';
SET client_connection_check_interval = '1s'; SET citus.node_connection_timeout = '3s'`

func (e *citusEngine) close() error {
	e.machines.close()
	return e.postgresEngine.close()
}

// spreadOver replaces the engine of a database that is spread. It asks the database, so that no setting can
// contradict it.
func spreadOver(ctx context.Context, s *database, o Options) error {
	e, ok := s.engine.(*postgresEngine)
	if !ok {
		return nil
	}

	spread, err := citus.Spread(ctx, e.rows)
	if err == nil && spread {
		var config *pgxpool.Config
		if config, err = poolConfig(o.URL); err == nil {
			e.batches.Close()
			e.grace = spreadGrace
			e.batches, err = pool(ctx, config, o.BatchConnections, spreadSettings)
			s.engine = &citusEngine{e, newMachines(config.ConnConfig)}
		}
		if err == nil {
			s.read, err = gorm.Open(citusDialector{postgres.Dialector{Config: &postgres.Config{Conn: e.rows}}}, gormConfig())
			s.write = s.read
		}
	}

	if err != nil {
		return errors.Join(fmt.Errorf("LOYALTY_DATABASE_URL: %w", s.classify(err)), s.close())
	}

	return nil
}
