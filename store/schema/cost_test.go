package schema

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestEveryMigrationSaysItsCost: an operator sees what a migration does before it runs.
func TestEveryMigrationSaysItsCost(t *testing.T) {
	for _, dialect := range []string{"sqlite", "postgres"} {
		files, err := fs.Glob(Files, dialect+"/*.sql")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			require.GreaterOrEqual(t, Version(f), int64(Baseline), f)
			_, err := Steps(dialect, f)
			require.NoError(t, err)
		}
	}
}

// TestMigrationsAreTwins: each migration is there for both databases.
func TestMigrationsAreTwins(t *testing.T) {
	lists := map[string][]string{}
	for _, dialect := range []string{"sqlite", "postgres"} {
		files, err := fs.Glob(Files, dialect+"/*.sql")
		require.NoError(t, err)
		for _, f := range files {
			lists[dialect] = append(lists[dialect], strings.TrimPrefix(f, dialect+"/"))
		}
	}
	require.Equal(t, lists["sqlite"], lists["postgres"])
}

func TestSteps(t *testing.T) {
	was := Files
	t.Cleanup(func() { Files = was })
	steps := func(text string) ([]Step, error) {
		Files = fstest.MapFS{"postgres/00101_made_up.sql": {Data: []byte(text)}}
		return Steps("postgres", "00101_made_up.sql")
	}

	list, err := steps("-- +goose Up\n-- cost: at once; reads and writes wait\n-- cost: indexes customers; writes wait\n" +
		"-- cost: rewrites names\n-- Why.\n-- +goose Down\n-- cost: nothing\n")
	require.NoError(t, err)
	require.Equal(t, []Step{
		{What: "at once", Waits: "reads and writes wait"}, {What: "indexes customers", Table: "customers", Work: Indexes, Waits: "writes wait"},
		{What: "rewrites names", Table: "names", Work: Rewrites},
	}, list)

	for _, wrong := range []string{
		"", "SELECT 1;", "-- cost: ", "-- cost: rewrites", "-- cost: at once customers", "-- cost: drops customers", "-- cost: at once; nobody waits",
		"-- cost:at once", "-- costs: at once", "-- cost: rewrites customers, writes wait",
	} {
		_, err := steps("-- +goose Up\n" + wrong + "\n")
		require.Error(t, err, wrong)
	}
}
