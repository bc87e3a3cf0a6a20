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

// citusEngine is PostgreSQL whose tables are spread over machines. It differs in how a batch
// goes, and in that the questions which a read has about others are asked before it.
type citusEngine struct {
	*postgresEngine
	machines *machines
}

// citusDialector is PostgreSQL's under a name of its own: what was written for the planner
// of plain PostgreSQL, such as a LATERAL with a LIMIT, is none that Citus can spread.
type citusDialector struct{ postgres.Dialector }

func (citusDialector) Name() string { return "citus" }

// spreadSettings are those of batches: a statement is planned with its values, because the
// machine is chosen by them. A session whose batch was given up ends within a second, and its locks with it; a machine
// that takes no connection is not waited for longer than that of a batch. What batchSettings say of plans would hold on the coordinator only.
const spreadSettings = `SET plan_cache_mode = force_custom_plan; SET jit = off;
SET statement_timeout = '10s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '15s';
SET client_connection_check_interval = '1s'; SET citus.node_connection_timeout = '3s'`

func (e *citusEngine) close() error {
	e.machines.close()
	return e.postgresEngine.close()
}

// spreadOver makes the engine of a database that is spread; others keep theirs. The database says
// which it is, so that no setting can contradict it.
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
