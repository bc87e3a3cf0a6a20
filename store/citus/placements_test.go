package citus_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/citus"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestEveryTableHasAPlace: every table has its place on Citus in placements. The column that chooses the machine is
// in each unique key of the table, as Citus requires.
func TestEveryTableHasAPlace(t *testing.T) {
	url := storetest.Postgres(t)
	db := storetest.Raw(t, url)
	rows, err := db.Query(`SELECT c.relname, coalesce((SELECT array_to_string(array_agg(a.attname), ',') FROM pg_attribute a
 WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND NOT a.attnum = ANY (i.indkey))), '')
 FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace AND c.relname <> 'goose_db_version' ORDER BY 1`)
	require.NoError(t, err)
	defer rows.Close()
	var there []string
	for rows.Next() {
		var table, inAll string
		require.NoError(t, rows.Scan(&table, &inAll))
		if slices.Contains(citus.Finders(), table) {
			continue
		}
		there = append(there, table)
		if key, _ := citus.Key(table); key != "" {
			require.Contains(t, inAll, key, "a unique key of %s does not have %s", table, key)
		}
	}

	require.NoError(t, rows.Err())
	placed := slices.Sorted(slices.Values(citus.Tables()))
	require.Equal(t, there, placed, "add the table to placements, where it goes on Citus")
	require.Len(t, slices.Compact(placed), len(there))
}
