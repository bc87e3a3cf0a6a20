package migrations

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryStatementIsRead: the plan of a migration says what each of its statements does.
func TestEveryStatementIsRead(t *testing.T) {
	for _, dialect := range []string{"sqlite", "postgres"} {
		files, err := fs.Glob(Files, dialect+"/*.sql")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			steps, err := Steps(dialect, f)
			require.NoError(t, err)
			require.NotEmpty(t, steps, f)
			for _, s := range steps {
				require.NotEqual(t, Unknown, s.Cost, "%s: %s: add what it does to patterns", f, s.What)
			}
		}
	}
}

func TestSteps(t *testing.T) {
	steps, err := Steps("postgres", "00005_coupons.sql")
	require.NoError(t, err)
	require.Equal(t, Step{What: "makes table coupon_events"}, steps[0])
	require.Equal(t, Step{What: "fills coupon_events from events", Table: "events", Cost: Writes}, steps[1])
	require.Equal(t, Step{What: "makes index coupons_pool of coupons", Table: "coupons", Cost: Indexes, Lock: lockWrites}, steps[2])
	steps, err = Steps("postgres", "00016_chain.sql")
	require.NoError(t, err)
	require.Equal(t, Step{What: "changes balances in the catalogue", Table: "balances", Lock: lockAll}, steps[0])
	steps, err = Steps("sqlite", "00011_acceptance.sql")
	require.NoError(t, err)
	require.Equal(t, Step{What: "changes rows of modules", Table: "modules", Cost: Writes, Lock: lockRows}, steps[0])
	require.Equal(t, Step{What: "changes index a in the catalogue"}, read("ALTER INDEX a ALTER COLUMN 2 SET STATISTICS 0"))
	require.Equal(t, Step{What: "does: VACUUM", Cost: Unknown}, read("VACUUM"))

	require.Equal(t, []string{"CREATE TABLE a ( b text )", "SELECT 1; SELECT 2"},
		statements("CREATE TABLE a (\n  b text -- what; is it\n);\n-- +goose StatementBegin\nSELECT 1;\nSELECT 2;\n-- +goose StatementEnd\n"))
}
