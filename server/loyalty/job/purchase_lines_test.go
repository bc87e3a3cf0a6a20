package job_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// asBefore puts a purchase into the form in which programs wrote it before lines had rows of
// their own.
func (s *shop) asBefore(customer, purchase string) {
	s.t.Helper()
	t := s.transaction(customer, purchase)
	require.NotZero(s.t, t.Pieces, "it has rows of lines now")
	detail, err := json.Marshal(t.Detail)
	require.NoError(s.t, err)
	for _, text := range []string{`UPDATE transactions SET pieces = 0, detail = '` + strings.ReplaceAll(string(detail), "'", "''") + `'`, `DELETE FROM purchase_lines`} {
		_, err = s.raw.Exec(text + ` WHERE transaction_id = '` + purchase + `'`)
		require.NoError(s.t, err)
	}
}

// rowsOfLines is how many a purchase has.
func (s *shop) rowsOfLines(purchase string) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.raw.QueryRow(`SELECT COUNT(*) FROM purchase_lines WHERE transaction_id = '`+purchase+`'`).Scan(&n))
	return n
}

// TestPurchasesFromBeforeRowsOfLines: a purchase that was written before its lines had rows of
// their own is updated, accepted and given back as any other, and gets them when it is
// written. In each step one purchase is in the old form, its twin is not, and both come out alike.
func TestPurchasesFromBeforeRowsOfLines(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{"type":"accept","pending_days":9}`}, func(t *testing.T, s *shop) {
		steps := []struct {
			action, data string
			lines        int // afterwards
		}{
			{"checkout", `,"total":600,"items":` + basket(300, ""), 300},
			{"checkout_update", `,"total":500`, 300},
			{"checkout_update", `,"total":500,"items":` + basket(130, ""), 130},
			{"checkout_update", `,"total":500,"items":` + basket(64, ""), 64},
			{"checkout_update", `,"total":500,"items":` + basket(310, ""), 310},
			{"checkout_accept", ``, 310},
			{"refund_item", `,"product_id":"p-2","quantity":1`, 310},
			{"refund_item", `,"product_id":"p-299","quantity":1`, 310},
			{"refund", ``, 310},
		}

		s.enrol("old", "new")
		for i, step := range steps {
			if i > 0 && steps[i-1].lines > 64 {
				s.asBefore("old", "T-old")
				require.Zero(t, s.rowsOfLines("T-old"))
			}

			for _, name := range []string{"old", "new"} {
				s.must(name, step.action, `{"transaction_id":"T-`+name+`"`+step.data+`}`)
				rows := 0
				if step.lines > 64 {
					rows = (step.lines + 63) / 64
				}
				require.Equal(t, rows, s.rowsOfLines("T-"+name), "after step %d, %s", i, step.action)
			}

			was, is := s.transaction("old", "T-old"), s.transaction("new", "T-new")
			require.Len(t, was.Detail.Items, step.lines)
			for k := range was.Detail.Items {
				was.Detail.Items[k].Event, is.Detail.Items[k].Event = loyalty.ID{}, loyalty.ID{}
			}

			delete(was.Detail.Attributes, "transaction_id")
			delete(is.Detail.Attributes, "transaction_id")
			require.Equal(t, is.PurchaseState, was.PurchaseState, "step %d, %s", i, step.action)
			require.Equal(t, is.Detail, was.Detail, "step %d, %s", i, step.action)
			require.Equal(t, s.customer("new").Figures, s.customer("old").Figures)
			s.foldsBack()
		}

		// what is in the old form and due is accepted by itself
		for i := range 2 {
			s.must("old", "checkout", fmt.Sprintf(`{"transaction_id":"T-%d","total":600,"items":%s}`, i, basket(100, "")))
		}

		s.asBefore("old", "T-0")
		s.wait(10 * 24 * time.Hour)
		s.must("old", "point_add", `{"points":1}`)
		require.Equal(t, loyalty.Accepted, s.transaction("old", "T-0").State)
		require.Equal(t, s.transaction("old", "T-1").Earned, s.transaction("old", "T-0").Earned)
		s.foldsBack()
	})
}
