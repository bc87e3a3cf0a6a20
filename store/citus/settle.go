package citus

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// settleLock is the advisory lock for placing tables: when several nodes migrate at once, one of them does it.
const settleLock = 7_301_957

// Settle puts each table of a spread database in its place. A migration creates tables on the coordinator only, where
// other machines do not find them. A new table with its own key gets as many shards as the customers have.
func Settle(ctx context.Context, c *sql.Conn) (err error) {
	if _, err := c.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, settleLock); err != nil {
		return err
	}

	defer func() {
		_, unlocked := c.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, settleLock)
		err = errors.Join(err, unlocked)
	}()

	var shards int
	if err := c.QueryRowContext(ctx, `SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = 'balances'::regclass`).
		Scan(&shards); err != nil {
		return err
	}
	if err := configure(ctx, c, cmp.Or(shards, DefaultShards)); err != nil {
		return err
	}

	return placeAll(ctx, c)
}

// placeAll puts every table in its place. Tables that Citus knows already stay as they are.
func placeAll(ctx context.Context, c *sql.Conn) error {
	for _, p := range placements {
		if err := place(ctx, c, p); err != nil {
			return fmt.Errorf("table %s: %w", p.table, err)
		}
	}

	for _, f := range finders {
		if err := makeFinder(ctx, c, f.table, f.make); err != nil {
			return fmt.Errorf("table %s: %w", f.table, err)
		}
		if err := placeFinder(ctx, c, f.placement); err != nil {
			return fmt.Errorf("table %s: %w", f.table, err)
		}
	}

	return nil
}

// Repair rebuilds the finder tables. It deletes wrong rows before it fills: a row that a batch writes meanwhile, and
// that the deletion removes by mistake, is filled again.
func Repair(ctx context.Context, c *sql.Conn) error {
	for _, f := range finders {
		var there bool
		if err := c.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, f.table).Scan(&there); err != nil {
			return err
		}
		if !there {
			continue // Settle creates it
		}

		for _, text := range []string{f.stray, f.fill} {
			if _, err := c.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("table %s: %w", f.table, err)
			}
		}
	}

	return nil
}

// where is how Citus stores a table; empty: Citus does not know it.
type where struct{ method, copies, key string }

// right reports whether a table is stored according to its placement. A plain table always is: it is on the
// coordinator.
func (p placement) right(is where, everywhere bool) bool {
	switch {
	case p.plain:
		return true
	case everywhere:
		return is.method == "n" && is.copies == "t"
	case p.Key == "":
		return is.method == "n" && is.copies != "t"
	}
	return is.method == "h" && is.key == p.Key
}

// Misplaced names the tables of a spread database that are not in their place. It ignores tables that the database
// lacks, except for the finders, which no migration creates.
func Misplaced(ctx context.Context, db querier) (list []string, err error) {
	there, err := kept(ctx, db)
	if err != nil {
		return nil, err
	}

	for _, p := range placements {
		if is, has := there[p.table]; has && !p.right(is, false) {
			list = append(list, p.table)
		}
	}

	for _, f := range finders {
		if is, has := there[f.table]; !has || !f.right(is, f.Key == "") {
			list = append(list, f.table)
		}
	}

	return list, nil
}

// kept returns how each table of the schema is stored.
func kept(ctx context.Context, db querier) (there map[string]where, err error) {
	rows, err := db.QueryContext(ctx, `SELECT c.relname, coalesce(p.partmethod::text, ''), coalesce(p.repmodel::text, ''),
 coalesce(CASE WHEN p.partmethod = 'h' THEN column_to_column_name(p.logicalrelid, p.partkey) END, '')
FROM pg_class c LEFT JOIN pg_dist_partition p ON p.logicalrelid = c.oid
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('balances'))`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()

	there = map[string]where{}
	for rows.Next() {
		var table string
		var is where
		if err := rows.Scan(&table, &is.method, &is.copies, &is.key); err != nil {
			return nil, err
		}
		there[table] = is
	}

	return there, rows.Err()
}
