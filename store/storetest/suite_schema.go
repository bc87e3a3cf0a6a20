package storetest

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// appendOnly tries to change the journal with its own SQL.
func appendOnly(t *testing.T, b *bench) {
	c, _ := b.full(t, "c-1")
	old := b.event(c)
	old.RecordedAt = time.Now() // in this month's partition; the first is in the default one
	require.NoError(t, b.put(loyalty.Writes{Events: []loyalty.Event{old}}))
	raw := Raw(t, b.url)
	_, err := raw.Exec(`INSERT INTO audit (id, at, actor, action, target) SELECT id, 1, 'k', 'a', 't' FROM events`)
	require.NoError(t, err)
	attacks := []string{
		`UPDATE events SET action = 'x'`, `DELETE FROM events`, `UPDATE postings SET points = 1`, `DELETE FROM postings`,
		`UPDATE audit SET actor = 'x'`, `DELETE FROM audit`,
	}

	if b.d.Name == "postgres" {
		month := `events_` + time.Now().UTC().Format("2006_01")
		attacks = append(attacks, `TRUNCATE events`, `TRUNCATE postings`, `TRUNCATE events_default`,
			`TRUNCATE audit`, `TRUNCATE `+month,
			`UPDATE `+month+` SET action = 'x'`, `DELETE FROM `+month, `DELETE FROM events_default`,
			`INSERT INTO postings SELECT * FROM postings ON CONFLICT (customer_id, event_id, seq) DO UPDATE SET points = 1`)
	} else {
		attacks = append(attacks, `REPLACE INTO events SELECT * FROM events`, `REPLACE INTO postings SELECT * FROM postings`,
			`UPDATE OR REPLACE postings SET points = 1`,
			`INSERT INTO postings SELECT * FROM postings WHERE true ON CONFLICT DO UPDATE SET points = 1`)
	}

	for _, attack := range attacks {
		_, err := raw.Exec(attack)
		require.ErrorContains(t, err, "append-only", attack)
	}

	require.Equal(t, []int{2, 1}, []int{b.count(t, "events"), b.count(t, "postings")})
}

func migrations(t *testing.T, d Database) {
	ctx := context.Background()
	url := d.Empty(t)
	s := Open(t, url)
	require.ErrorIs(t, s.Ready(ctx), store.ErrMigrationsPending)
	require.NoError(t, s.Migrate(ctx))
	require.NoError(t, s.Ready(ctx))
	before := Schema(t, url)
	require.NoError(t, s.Migrate(ctx), "a second run")
	require.Equal(t, before, Schema(t, url))
	list, err := s.Migrations(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, m := range list {
		require.False(t, m.AppliedAt.IsZero(), m.Name)
	}

	raw := Raw(t, url)
	_, err = raw.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, ` +
		map[string]string{"sqlite": "1", "postgres": "true"}[d.Name] + `)`)
	require.NoError(t, err)
	require.ErrorIs(t, s.Ready(ctx), store.ErrNewerSchema)
	require.ErrorIs(t, s.Migrate(ctx), store.ErrNewerSchema)
	_, err = store.Open(ctx, store.Options{URL: url})
	require.ErrorIs(t, err, store.ErrNewerSchema)
	require.ErrorContains(t, err, "LOYALTY_DATABASE_URL")
}

// Schema lists the columns of tables as table.column, in order of name; a month of the journal is part of its table.
func Schema(t testing.TB, url string) []string {
	t.Helper()
	q := `SELECT c.table_name || '.' || c.column_name FROM information_schema.columns c WHERE c.table_schema = 'public'
 AND c.table_name NOT LIKE 'events\_%' AND c.table_name NOT LIKE 'goose%' AND c.table_name NOT LIKE 'export\_%'` // views exist on PostgreSQL only
	if url[:7] == "sqlite:" {
		q = `SELECT m.name || '.' || p.name FROM sqlite_master m, pragma_table_xinfo(m.name) p
 WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'`
	}
	list := column(t, Raw(t, url), q)
	slices.Sort(list)
	return list
}

func column(t testing.TB, db *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var s string
		require.NoError(t, rows.Scan(&s))
		list = append(list, s)
	}
	require.NoError(t, rows.Err())
	return list
}

// Months lists the partitions of a PostgreSQL journal.
func Months(t testing.TB, url string) []string {
	t.Helper()
	return column(t, Raw(t, url),
		`SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'events'::regclass ORDER BY 1`)
}

var _ loyalty.Store = (*store.Store)(nil)
