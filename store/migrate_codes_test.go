package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestCodesInOneForm: codes of a database of before claim the form in which they are looked for. Where several have one form, none
// is lost, and the oldest is found in any letters.
func TestCodesInOneForm(t *testing.T) {
	ids := map[string]string{"sqlite": `unhex(printf('%%032x', %d))`, "postgres": `lpad(to_hex(%d), 32, '0')::uuid`}
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			url := d.Empty(t)
			s, now := storetest.Open(t, url), time.Now()
			require.NoError(t, s.Fill(t.Context(), 57, time.Time{}, func(*store.Filling) error { return nil }))
			raw := storetest.Raw(t, url)
			run := func(text string) {
				_, err := raw.Exec(text)
				require.NoError(t, err, text)
			}

			run(`INSERT INTO programme_version (id, version) VALUES (1, 0)`)
			for i, code := range []string{"Save10", "SAVE10", "GRÖSSE", "größe", "small", "SMALL", "Only", "0042"} {
				id := fmt.Sprintf(ids[d.Name], i+1)
				run(`INSERT INTO coupons (id, code, state, type, value, balance, currency, cost, created_at, version) VALUES (` + id + `, '` + code + `', 'created', 'amount', 0, 0, '', 0, 1, 0)`)
				run(`INSERT INTO names (kind, value, owner) VALUES (3, '` + code + `', ` + id + `)`)
			}

			require.NoError(t, s.Migrate(t.Context()))
			foundInAnyLetters(t, s, now)
		})
	}
}

func foundInAnyLetters(t *testing.T, s *store.Store, now time.Time) {
	for typed, want := range map[string]string{
		"save10": "Save10", "SaVe10": "Save10", "Save10": "Save10", "SAVE10": "SAVE10", "GRÖSSE": "GRÖSSE", "grösse": "GRÖSSE", "Größe": "GRÖSSE", "größe": "größe",
		"small": "small", "Small": "small", "SMALL": "SMALL", "ONLY": "Only", "0042": "0042",
	} {
		c, _, err := s.Coupon(t.Context(), typed)
		require.NoError(t, err, typed)
		require.Equal(t, want, c.Code, typed)
		needs := loyalty.Needs{Now: now, Customers: []loyalty.CustomerNeeds{{Coupons: []string{typed}}}}
		require.NoError(t, s.Within(t.Context(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			for _, name := range loyalty.CodeNames(typed) {
				if id, there := l.Names[name]; there {
					require.Equal(t, want, l.Coupons[id].Code, typed)
					break
				}
			}
			return &loyalty.Writes{}, nil
		}))
	}

	alike, err := s.CodesAlike(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"SAVE10", "SMALL"}, alike, "the letters of größe are small")
	for _, check := range verify(t, s) {
		require.Equal(t, store.LedgerHeld, check.Verdict, "%+v", check)
	}
}
