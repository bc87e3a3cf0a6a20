package store

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
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
			require.Equal(t, there, !known.stays, known.name)
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

func newestOf(t *testing.T, s *Store) int64 {
	p, err := s.migrations()
	require.NoError(t, err)
	return newest(p)
}
