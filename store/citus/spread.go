package citus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// DefaultShards is the number of parts of a table of customers: four for each of two machines. A statement over
// several customers costs one task for each part that it touches.
const DefaultShards = 8

// maxShards is more than any number of machines needs.
const maxShards = 1024

// settings apply to all sessions of the database: allow triggers, which the months of the journal have; one connection,
// hence one snapshot, for each machine and transaction; one order of locks; and concurrent writes over many parts of a
// table.
var settings = []string{
	`citus.enable_unsafe_triggers = on`,
	`citus.max_adaptive_executor_pool_size = 1`,
	`citus.multi_shard_modify_mode = 'sequential'`,
	`citus.enable_deadlock_prevention = off`,
}

// querier reads the database; *sql.DB and *sql.Conn implement it.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Spread reports whether the tables of a database are spread over machines.
func Spread(ctx context.Context, db querier) (spread bool, err error) {
	var there bool
	if err := db.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') AND to_regclass('balances') IS NOT NULL`).
		Scan(&there); err != nil || !there {
		return false, err
	}
	err = db.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'balances'::regclass AND partmethod = 'h')`).
		Scan(&spread)
	return spread, err
}

// Check says in one line why a database cannot be spread.
func Check(ctx context.Context, c *sql.Conn, shards int) error {
	if shards < 1 || shards > maxShards {
		return fmt.Errorf("shards: from 1 to %d, not %d", maxShards, shards)
	}

	var citus bool
	err := c.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')`).Scan(&citus)
	switch {
	case err != nil:
		return err
	case !citus:
		return errors.New("the database does not have the extension citus: CREATE EXTENSION citus in the database of this name on the coordinator and on each worker, then name the workers with citus_add_node")
	}

	var workers int
	err = c.QueryRowContext(ctx,
		`SELECT count(*) FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary' AND isactive AND shouldhaveshards`).
		Scan(&workers)
	switch {
	case err != nil:
		return err
	case workers == 0:
		return errors.New("the database has no workers: name them with citus_add_node")
	}

	var node string
	err = c.QueryRowContext(ctx,
		`SELECT coalesce(min(CASE WHEN n.groupid = 0 THEN 'the coordinator' ELSE 'worker ' || n.nodename || ':' || n.nodeport END), '')
FROM run_command_on_all_nodes('SHOW max_prepared_transactions') r JOIN pg_dist_node n ON n.nodeid = r.nodeid WHERE NOT r.success OR r.result = '0'`).Scan(&node)
	switch {
	case err != nil:
		return err
	case node != "":
		return fmt.Errorf("%s has max_prepared_transactions = 0: raise it, because writes on several machines could not be committed together", node)
	}

	return nil
}

// Distribute spreads the tables of a checked and empty database, each to its placement, in the given number of
// shards. It may be called again: a table that is in its place keeps its shards. It fails if tables that are not
// spread yet have customers.
func Distribute(ctx context.Context, c *sql.Conn, shards int) error {
	spread, err := Spread(ctx, c)
	if err != nil {
		return err
	}

	var customers bool
	if err := c.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM customers)`).Scan(&customers); err != nil {
		return err
	}
	if customers && !spread {
		return errors.New("the database already has customers: dump the programme, and restore it into an empty database that is spread")
	}
	if err := configure(ctx, c, shards); err != nil {
		return err
	}
	if err := placeAll(ctx, c); err != nil {
		return err
	}

	return Repair(ctx, c)
}

// makeFinder creates a finder table, unless it exists: Citus accepts the definition of a column's statistics only
// once.
func makeFinder(ctx context.Context, c *sql.Conn, table, text string) error {
	var there bool
	err := c.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, table).Scan(&there)
	if err == nil && !there {
		_, err = c.ExecContext(ctx, text)
	}
	return err
}

// placeFinder puts a finder table in its place; one without a key is copied to each machine.
func placeFinder(ctx context.Context, c *sql.Conn, p placement) error {
	if p.Key != "" {
		return place(ctx, c, p)
	}
	known, err := placed(ctx, c, p.table)
	if err == nil && !known {
		_, err = c.ExecContext(ctx, `SELECT create_reference_table($1)`, p.table)
	}
	return err
}

func placed(ctx context.Context, c *sql.Conn, table string) (known bool, err error) {
	err = c.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = $1::regclass)`,
		table).Scan(&known)
	return known, err
}

// configure applies the settings to this session and to later ones.
func configure(ctx context.Context, c *sql.Conn, shards int) error {
	var quoted string
	if err := c.QueryRowContext(ctx, `SELECT quote_ident(current_database())`).Scan(&quoted); err != nil {
		return err
	}

	texts := []string{fmt.Sprintf(`SET citus.shard_count = %d`, shards)}
	for _, s := range settings {
		texts = append(texts, `SET `+s, `ALTER DATABASE `+quoted+` SET `+s)
	}

	for _, text := range texts {
		if _, err := c.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}

	return nil
}

// place puts a table in its place, unless Citus knows it already.
func place(ctx context.Context, c *sql.Conn, p placement) error {
	if p.plain {
		return nil
	}

	known, err := placed(ctx, c, p.table)
	switch {
	case err != nil || known:
		return err
	case p.Key == "":
		_, err = c.ExecContext(ctx, `SELECT citus_add_local_table_to_metadata($1)`, p.table)
	case p.Group == "":
		_, err = c.ExecContext(ctx, `SELECT create_distributed_table($1, $2, colocate_with => 'none')`, p.table, p.Key)
	default:
		_, err = c.ExecContext(ctx, `SELECT create_distributed_table($1, $2, colocate_with => $3)`, p.table, p.Key, p.Group)
	}

	return err
}
