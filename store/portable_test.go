package store

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/migrations"
)

// TestEveryTableIsPortable: dump and restore would omit a table of the schema that portableTables lacks. Add a line
// there for each new table.
func TestEveryTableIsPortable(t *testing.T) {
	s, err := Open(t.Context(), Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "loyalty.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Fill(t.Context(), newestOf(t, s), s.now(), func(*Filling) error { return nil }))
	require.NoError(t, s.Still(t.Context(), func(still *Still) error {
		for _, known := range portableTables {
			there := slices.ContainsFunc(still.Tables, func(table Table) bool { return table.Name == known.name })
			require.Equal(t, there, !known.gone && !known.stays, "%s: a table that migrations dropped stays in the list as gone, for archives of older schemas", known.name)
		}
		return nil
	}), "add the table to portableTables")
}

// TestSeededTables: what the migrations put into tables is known, so that a database with
// nothing else in it counts as empty.
func TestSeededTables(t *testing.T) {
	s, err := Open(t.Context(), Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "loyalty.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	p, err := s.migrations()
	require.NoError(t, err)
	_, err = p.Up(context.Background())
	require.NoError(t, err)
	require.NoError(t, s.Still(t.Context(), func(still *Still) error { return mustBeEmpty(still) }),
		"a table that a migration fills is seeded")
}

// TestMigrationsAreTwins: each migration is there for both databases.
func TestMigrationsAreTwins(t *testing.T) {
	lists := map[string][]string{}
	for _, d := range []string{"sqlite", "postgres"} {
		files, err := migrations.Files.ReadDir(d)
		require.NoError(t, err)
		for _, f := range files {
			lists[d] = append(lists[d], strings.TrimSuffix(f.Name(), ".sql"))
		}
	}
	require.Equal(t, lists["sqlite"], lists["postgres"])
}

func newestOf(t *testing.T, s *Store) int64 {
	p, err := s.migrations()
	require.NoError(t, err)
	return newest(p)
}
