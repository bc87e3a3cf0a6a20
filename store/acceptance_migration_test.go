package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/migrations"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// What an older program stored can be read by this one, and means what it meant.
func TestStoredAcceptance(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			raw := storetest.Raw(t, d.Migrated(t))
			file, err := migrations.Files.ReadFile(d.Name + "/00011_acceptance.sql")
			require.NoError(t, err)
			up, _, _ := strings.Cut(string(file), "-- +goose Down")
			for _, c := range []struct{ module, before, after string }{
				{"checkout_accept", `{"type":"manual","pending_days":14}`, `{"type":"manual"}`},
				{"checkout_accept", `{"type":"accept","pending_days":0}`, `{"type":"accept","pending_days":0}`},
				{"pending_events", `{"actions":["visit"],"days":0}`, `{"actions":["visit"],"days":3650}`},
				{"pending_events", `{"actions":["visit"],"days":10}`, `{"actions":["visit"],"days":10}`},
			} {
				_, err = raw.Exec(`DELETE FROM modules WHERE name = '` + c.module + `'`)
				require.NoError(t, err)
				_, err = raw.Exec(`INSERT INTO modules (name, enabled, config) VALUES ('` + c.module + `', true, '` + c.before + `')`)
				require.NoError(t, err)
				_, err = raw.Exec(up)
				require.NoError(t, err)
				var after string
				require.NoError(t, raw.QueryRow(`SELECT config FROM modules WHERE name = '`+c.module+`'`).Scan(&after))
				require.Equal(t, c.after, after)
			}
		})
	}
}
