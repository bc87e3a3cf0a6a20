package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/migrations"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// A database whose deliveries have the index that an early program made is read as any other.
func TestIndexOfDeliveries(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			raw := storetest.Raw(t, d.Migrated(t))
			file, err := migrations.Files.ReadFile(d.Name + "/00043_deliveries_by_state.sql")
			require.NoError(t, err)
			up, _, _ := strings.Cut(string(file), "-- +goose Down")
			for _, sql := range []string{`DROP INDEX deliveries_state`, `CREATE INDEX deliveries_dead ON deliveries (webhook_id, number) WHERE state = 'dead'`, up, up, `DROP INDEX deliveries_state`} {
				_, err = raw.Exec(sql)
				require.NoError(t, err, sql)
			}
			_, err = raw.Exec(`DROP INDEX deliveries_dead`)
			require.Error(t, err, "the early index stayed")
		})
	}
}
