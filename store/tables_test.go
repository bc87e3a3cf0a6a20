package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/schema"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestTables compares the one list of tables with the schemas of both databases. A table that is missing in the list,
// or is in it wrongly, would be left out of dumps, of a change of the master key, or of its place on Citus.
func TestTables(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			s := storetest.Open(t, d.Migrated(t))
			require.NoError(t, s.Still(t.Context(), func(still *store.Still) error {
				areArchived(t, still)
				return nil
			}))
		})
	}

	t.Run("rooms", inRooms)
	t.Run("seals", areSealed)
	t.Run("places", arePlaced)
}

// areArchived compares the tables of archives, their rows in a new database, and their sealed columns.
func areArchived(t *testing.T, still *store.Still) {
	t.Helper()
	var listed, there []string
	for _, known := range schema.Tables {
		if known.Rows != schema.Local {
			listed = append(listed, known.Name)
		}
	}

	for _, table := range still.Tables {
		there = append(there, table.Name)
		known := schema.Find(table.Name)
		rows, err := still.Count(table)
		require.NoError(t, err)
		filled := known.Rows == schema.Seeded || table.Name == "master_check"
		require.Equal(t, filled, rows > 0, "%s: a table that the schema fills is Seeded", table.Name)
		for _, column := range known.Sealed {
			is := slices.ContainsFunc(table.Columns, func(c store.Column) bool {
				return c.Name == column && c.Kind == store.KindBytes
			})
			require.True(t, is, "%s.%s", table.Name, column)
		}
	}

	require.Equal(t, listed, there)
}

// inRooms holds that the baselines have their tables in the order of the list, under headings that name their rooms.
// Tables of later migrations stand between them, behind those that they refer to.
func inRooms(t *testing.T) {
	words := regexp.MustCompile(`(?m)^-- -+\n-- (.+)\n|^CREATE TABLE (\w+) \(`)
	for _, dialect := range []string{"sqlite", "postgres"} {
		text, err := fs.ReadFile(schema.Files, dialect+"/00100_baseline.sql")
		require.NoError(t, err)
		heading, last := "", -1
		for _, m := range words.FindAllStringSubmatch(string(text), -1) {
			if m[1] != "" {
				heading = strings.ToLower(m[1])
				continue
			}
			at := slices.IndexFunc(schema.Tables, func(table schema.Table) bool { return table.Name == m[2] })
			require.GreaterOrEqual(t, at, 0, "%s: store/schema/tables.go lacks the table %s", dialect, m[2])
			require.Greater(t, at, last, "%s: %s is in another order in store/schema/tables.go", dialect, m[2])
			require.Contains(t, heading, schema.Tables[at].Room, "%s: the room of %s", dialect, m[2])
			last = at
		}
	}
}

// areSealed holds that each sealed column is bound to its row, and that each name that a value is bound to is a table
// with sealed columns, or one that the change of the master key writes itself.
func areSealed(t *testing.T) {
	known := []string{"master_check", "names_key"}
	var columns []string
	for _, table := range schema.Tables {
		for _, column := range table.Sealed {
			known, columns = append(known, table.Name), append(columns, table.Name+"."+column)
		}
	}
	require.ElementsMatch(t, store.Sealings(), columns)

	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	bound := regexp.MustCompile(`rowID\("(\w+)"`)
	seen := 0
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range bound.FindAllStringSubmatch(string(text), -1) {
			seen++
			require.Contains(t, known, m[1], "%s seals values of %s: name the column in schema.Tables", f, m[1])
		}
	}
	require.Greater(t, seen, 8)
}

// arePlaced holds that the column that chooses a table's machine is in each of its unique keys, as Citus requires, and
// that the list has every table.
func arePlaced(t *testing.T) {
	db := storetest.Raw(t, storetest.Postgres(t))
	rows, err := db.Query(`SELECT c.relname, coalesce((SELECT array_to_string(array_agg(a.attname), ',')
 FROM pg_attribute a
 WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT EXISTS
  (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND NOT a.attnum = ANY (i.indkey))), '')
 FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
  AND c.relname <> 'goose_db_version'`)
	require.NoError(t, err)
	defer rows.Close()

	count := 0
	for rows.Next() {
		var table, inAll string
		require.NoError(t, rows.Scan(&table, &inAll))
		known := schema.Find(table)
		if known == nil {
			storetest.PlainOnly(t) // a spread database has tables of its own
		}

		require.NotNil(t, known, "%s is not in schema.Tables", table)
		count++
		if known.Place.Key != "" {
			require.Contains(t, strings.Split(inAll, ","), known.Place.Key, "%s: it is not in every unique key", table)
		}
		if known.Place.Group != "" {
			require.Equal(t, schema.Place{Key: "customer_id"}, schema.Find(known.Place.Group).Place, table)
		}
	}

	require.NoError(t, rows.Err())
	require.Len(t, schema.Tables, count)
}
