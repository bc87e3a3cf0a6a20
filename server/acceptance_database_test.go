package server_test

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// contents is everything that a reader of the database sees past the program.
type contents struct {
	t    *testing.T
	url  string
	db   *sql.DB
	file string // of SQLite; empty on PostgreSQL
}

func contentsOf(t *testing.T, url string) *contents {
	c := &contents{t: t, url: url, db: storetest.Raw(t, url)}
	c.file, _ = strings.CutPrefix(url, "sqlite:")
	if c.file == url {
		c.file = ""
	}
	return c
}

// tables lists the tables of the program; on PostgreSQL a partitioned table
// stands for its partitions.
func (c *contents) tables() []string {
	c.t.Helper()
	query := `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`
	if c.file == "" {
		query = `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
AND NOT relispartition ORDER BY relname`
	}
	names := texts(c.t, c.db, query)
	require.Greater(c.t, len(names), 20)
	require.Contains(c.t, names, "events")
	return names
}

// columns gives every value of every row as text, by table and column: raw
// bytes stay as they are, so that nothing hides behind an encoding.
func (c *contents) columns() map[string]string {
	c.t.Helper()
	all := map[string]string{}
	for _, table := range c.tables() {
		maps.Copy(all, columnsOf(c.t, c.db, table, "SELECT * FROM "+table))
	}
	// What the planner remembers of values is kept in rows as well. Of languages and
	// currencies, by which customers are listed, it does until the next ANALYZE.
	if c.file == "" {
		maps.Copy(all, columnsOf(c.t, c.db, "pg_stats", `SELECT tablename, attname, most_common_vals::text, histogram_bounds::text
FROM pg_stats WHERE schemaname = 'public' AND (tablename, attname) NOT IN (('customers', 'language'), ('customers', 'currency'))`))
	}
	return all
}

func columnsOf(t *testing.T, db *sql.DB, table, query string) map[string]string {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(t, err)
	text := make([]strings.Builder, len(names))
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}

		require.NoError(t, rows.Scan(values...))
		for i, v := range values {
			switch v := (*v.(*any)).(type) {
			case nil:
			case []byte:
				text[i].Write(v)
			default:
				fmt.Fprint(&text[i], v)
			}
			text[i].WriteByte('\n')
		}
	}

	require.NoError(t, rows.Err())
	all := map[string]string{}
	for i, name := range names {
		all[table+"."+name] = text[i].String()
	}

	return all
}

// files gives the bytes of SQLite's file, of its log and of its index, as they
// lie on the disk now.
func (c *contents) files() map[string]string {
	c.t.Helper()
	all := map[string]string{}
	if c.file == "" {
		return all
	}

	for _, suffix := range []string{"", "-wal", "-shm"} {
		raw, err := os.ReadFile(c.file + suffix)
		if os.IsNotExist(err) && suffix != "" {
			continue
		}
		require.NoError(c.t, err)
		all["file"+suffix] = string(raw)
	}

	return all
}

// byAndBy are tables that are written behind what a caller sees: requests that failed, and what is
// made of the events that were recorded.
var byAndBy = []string{"failed_requests", "jobs", "tail", "numbered", "figures", "figure_refunds", "leaderboard", "rankings", "ranking_counts"}

// counts gives the number of rows of every table, but for those that are written by and by.
func (c *contents) counts() map[string]int {
	c.t.Helper()
	all := map[string]int{}
	for _, table := range c.tables() {
		var n int
		require.NoError(c.t, c.db.QueryRow(`SELECT count(*) FROM `+table).Scan(&n))
		all[table] = n
	}
	for _, table := range byAndBy {
		delete(all, table)
	}
	return all
}

// sums gives what the ledger adds up to: all postings by their accounts, and the
// figures of every customer.
func (c *contents) sums() []string {
	c.t.Helper()
	lines := texts(c.t, c.db, `SELECT CAST(from_account AS text) || ' ' || CAST(to_account AS text) || ' ' || CAST(SUM(points) AS text)
FROM postings GROUP BY from_account, to_account ORDER BY 1`)
	return append(lines, texts(c.t, c.db, `SELECT CAST(score AS text) || ' ' || CAST(spent AS text) || ' ' || CAST(reserved AS text)
|| ' ' || CAST(expired AS text) || ' ' || CAST(pending AS text) || ' ' || CAST(debt AS text) FROM balances ORDER BY customer_id`)...)
}

func texts(t *testing.T, db *sql.DB, query string, values ...any) (all []string) {
	t.Helper()
	rows, err := db.Query(query, values...)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		all = append(all, text)
	}
	require.NoError(t, rows.Err())
	return all
}

// exec changes the database behind the program's back.
func (c *contents) exec(query string, values ...any) {
	c.t.Helper()
	_, err := c.db.Exec(query, values...)
	require.NoError(c.t, err)
}

// id is an event's id as this database is asked for it.
func (c *contents) id(text any) any {
	c.t.Helper()
	id, err := uuid.Parse(fmt.Sprint(text))
	require.NoError(c.t, err)
	if c.file == "" {
		return id.String()
	}
	return id[:]
}

// ledgerHolds requires that every invariant of the ledger holds.
func ledgerHolds(t *testing.T, s *store.Store) {
	t.Helper()
	checked := 0
	s.VerifyLedger(t.Context(), func(c store.LedgerCheck) {
		checked++
		require.Equal(t, store.LedgerHeld, c.Verdict, "%s %s: %v %+v", c.Invariant, c.Title, c.Err, c.Findings)
	})
	require.Greater(t, checked, 5)
}

// sorted gives the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
