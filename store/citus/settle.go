package citus

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// settleLock is the advisory lock under which tables are placed: of several nodes that migrate at once, one does it.
const settleLock = 7_301_957

// Settle puts each table of a spread database where it goes. A migration makes tables on the coordinator alone, where no other
// machine finds them. A new table with a key of its own gets as many shards as the customers have.
func Settle(ctx context.Context, c *sql.Conn) (err error) {
	if _, err := c.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, settleLock); err != nil {
		return err
	}
	defer func() {
		_, unlocked := c.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, settleLock)
		err = errors.Join(err, unlocked)
	}()

	var shards int
	if err := c.QueryRowContext(ctx, `SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = 'balances'::regclass`).Scan(&shards); err != nil {
		return err
	}
	if err := configure(ctx, c, cmp.Or(shards, DefaultShards)); err != nil {
		return err
	}
	return placeAll(ctx, c)
}

// placeAll puts every table in its place. What is there already stays as it is.
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

// Repair fills anew what customers are found by. Wrong rows go first, so that a row which a batch wrote meanwhile, and which the
// deletion took for a wrong one, is there again in the end.
func Repair(ctx context.Context, c *sql.Conn) error {
	for _, f := range finders {
		var there bool
		if err := c.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, f.table).Scan(&there); err != nil {
			return err
		}
		if !there {
			continue // Settle makes it
		}

		for _, text := range []string{f.stray, f.fill} {
			if _, err := c.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("table %s: %w", f.table, err)
			}
		}
	}
	return nil
}

// where is how Citus keeps a table; empty: it does not know it.
type where struct{ method, copies, key string }

// right reports whether a table is kept as its placement says. One that is plain is on the coordinator in any case.
func (p placement) right(is where, everywhere bool) bool {
	switch {
	case p.plain:
		return true
	case everywhere:
		return is.method == "n" && is.copies == "t"
	case p.key == "":
		return is.method == "n" && is.copies != "t"
	}
	return is.method == "h" && is.key == p.key
}

// Misplaced names the tables of a spread database that are not where they go. A table that the database does not have is not
// named, except for the finders, which no migration makes.
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
		if is, has := there[f.table]; !has || !f.right(is, f.key == "") {
			list = append(list, f.table)
		}
	}
	return list, nil
}

// kept tells how each table of the schema is kept.
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
