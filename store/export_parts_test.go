package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestExportPartsAreSmall: a part of a table of large rows is not as long as it has rows;
// no row is missed, and none told twice.
func TestExportPartsAreSmall(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := storetest.Open(t, url)
		customer := enrol(t, s, "large-", 1)[0]
		var w loyalty.Writes
		for k := range 12 {
			p := loyalty.Transaction{Customer: customer, Holder: customer, Name: fmt.Sprintf("t-%02d", k)}
			p.Checkout, p.CreatedAt, p.CheckoutDate, p.UpdatedAt, p.State = loyalty.NewID(start, loyalty.ID{}), start, start, start, loyalty.Accepted
			p.Detail.Attributes = map[string]json.RawMessage{"note": loyalty.JSON(strings.Repeat("n", 1<<20))}
			w.NewTransactions = append(w.NewTransactions, p)
		}

		require.NoError(t, storetest.Put(s, start, w))
		var names []string
		for q := (loyalty.ExportQuery{Limit: 500}); ; {
			part, err := s.ExportPurchases(context.Background(), q)
			require.NoError(t, err)
			require.LessOrEqual(t, len(part.Rows), 3)
			for _, p := range part.Rows {
				names = append(names, p.Name)
			}
			if q.After = part.Through; !part.More {
				break
			}
		}

		require.Len(t, names, 12)
		require.IsIncreasing(t, names)
	})
}
