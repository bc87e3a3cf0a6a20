package citus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// DefaultShards is how many parts a table of customers has: four for each of two machines.
// A statement over several customers costs a task for each part that it meets.
const DefaultShards = 8

// maxShards is more than any number of machines needs.
const maxShards = 1024

// settings hold for all sessions of the database: the program makes months of the journal,
// which have triggers; one connection, hence one snapshot, for each machine and
// transaction; one order of locks; and several writes at once over many parts of a table.
var settings = []string{
	`citus.enable_unsafe_triggers = on`,
	`citus.max_adaptive_executor_pool_size = 1`,
	`citus.multi_shard_modify_mode = 'sequential'`,
	`citus.enable_deadlock_prevention = off`,
}

// querier reads the database: *sql.DB and *sql.Conn do.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Spread says whether the tables of a database are spread over machines.
func Spread(ctx context.Context, db querier) (spread bool, err error) {
	var there bool
	if err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') AND to_regclass('balances') IS NOT NULL`).Scan(&there); err != nil || !there {
		return false, err
	}
	err = db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'balances'::regclass AND partmethod = 'h')`).Scan(&spread)
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
	err = c.QueryRowContext(ctx, `SELECT count(*) FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary' AND isactive AND shouldhaveshards`).Scan(&workers)
	switch {
	case err != nil:
		return err
	case workers == 0:
		return errors.New("the database has no workers: name them with citus_add_node")
	}
	var node string
	err = c.QueryRowContext(ctx, `SELECT coalesce(min(CASE WHEN n.groupid = 0 THEN 'the coordinator' ELSE 'worker ' || n.nodename || ':' || n.nodeport END), '')
FROM run_command_on_all_nodes('SHOW max_prepared_transactions') r JOIN pg_dist_node n ON n.nodeid = r.nodeid WHERE NOT r.success OR r.result = '0'`).Scan(&node)
	switch {
	case err != nil:
		return err
	case node != "":
		return fmt.Errorf("%s has max_prepared_transactions = 0: what is written on several machines could not be committed together", node)
	}
	return nil
}

// Distribute spreads the tables of a checked and empty database, each where its placement
// says, in so many shards. It may be called again: what is in its place stays there, with the shards
// that it has. Customers in tables that are not spread yet make it fail.
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
		return errors.New("customers are there already: dump the programme, and restore it into an empty database that is spread")
	}
	if err := configure(ctx, c, shards); err != nil {
		return err
	}
	if err := placeAll(ctx, c); err != nil {
		return err
	}
	return Repair(ctx, c)
}

// makeFinder makes such a table, unless it is there: Citus lets what was said of a column's statistics
// be said once only.
func makeFinder(ctx context.Context, c *sql.Conn, table, text string) error {
	var there bool
	err := c.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, table).Scan(&there)
	if err == nil && !there {
		_, err = c.ExecContext(ctx, text)
	}
	return err
}

// placeFinder puts such a table where it goes: one without a key is on each machine.
func placeFinder(ctx context.Context, c *sql.Conn, p placement) error {
	if p.key != "" {
		return place(ctx, c, p)
	}
	known, err := placed(ctx, c, p.table)
	if err == nil && !known {
		_, err = c.ExecContext(ctx, `SELECT create_reference_table($1)`, p.table)
	}
	return err
}

func placed(ctx context.Context, c *sql.Conn, table string) (known bool, err error) {
	err = c.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = $1::regclass)`, table).Scan(&known)
	return known, err
}

// configure sets what the tables are spread with, for this session and those to come.
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

// place puts a table where it goes, unless Citus knows it already.
func place(ctx context.Context, c *sql.Conn, p placement) error {
	if p.plain {
		return nil
	}
	known, err := placed(ctx, c, p.table)
	switch {
	case err != nil || known:
		return err
	case p.key == "":
		_, err = c.ExecContext(ctx, `SELECT citus_add_local_table_to_metadata($1)`, p.table)
	case p.group == "":
		_, err = c.ExecContext(ctx, `SELECT create_distributed_table($1, $2, colocate_with => 'none')`, p.table, p.key)
	default:
		_, err = c.ExecContext(ctx, `SELECT create_distributed_table($1, $2, colocate_with => $3)`, p.table, p.key, p.group)
	}
	return err
}
