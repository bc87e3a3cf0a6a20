package action_test

import (
	"testing"

	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/stretchr/testify/require"
)

// rowsOfLines is how many a purchase has.
func (s *shop) rowsOfLines(purchase string) (n int) {
	s.T.Helper()
	require.NoError(s.T, s.Raw.QueryRow(`SELECT COUNT(*) FROM purchase_lines WHERE transaction_id = '`+purchase+`'`).Scan(&n))
	return n
}

// TestRowsOfLines: a purchase has rows of lines exactly while it has more than 64 lines, whatever becomes of it.
func TestRowsOfLines(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{"type":"accept","pending_days":9}`}, func(t *testing.T, s *shop) {
		s.Enrol("ada")
		for i, step := range []struct {
			action, data string
			lines        int // afterwards
		}{
			{"checkout", `,"total":600,"items":` + loyaltytest.Basket(300, ""), 300},
			{"checkout_update", `,"total":500`, 300},
			{"checkout_update", `,"total":500,"items":` + loyaltytest.Basket(130, ""), 130},
			{"checkout_update", `,"total":500,"items":` + loyaltytest.Basket(64, ""), 64},
			{"checkout_update", `,"total":500,"items":` + loyaltytest.Basket(310, ""), 310},
			{"checkout_accept", ``, 310},
			{"refund_item", `,"product_id":"p-2","quantity":1`, 310},
			{"refund_item", `,"product_id":"p-299","quantity":1`, 310},
			{"refund", ``, 310},
		} {
			s.Must("ada", step.action, `{"transaction_id":"T-1"`+step.data+`}`)
			rows := 0
			if step.lines > 64 {
				rows = (step.lines + 63) / 64
			}
			require.Equal(t, rows, s.rowsOfLines("T-1"), "after step %d, %s", i, step.action)
			require.Len(t, s.Transaction("ada", "T-1").Detail.Items, step.lines)
			s.FoldsBack()
		}
	})
}
