package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestListsAfterAMerge: a customer that another node merges into this one is in its lists at once and stays there,
// although this node found no merged customer before.
func TestListsAfterAMerge(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		storetest.PlainOnly(t) // the merge is written by hand
		s, ctx := storetest.Open(t, url), context.Background()
		ids := enrol(t, s, "c-", 3)
		require.NoError(t, credit(s, "c-", 3))
		require.NoError(t, credit(s, "c-", 3))
		raw := storetest.Raw(t, url)
		value := func(id loyalty.ID) string {
			if strings.HasPrefix(url, "sqlite") {
				return fmt.Sprintf("X'%x'", id[:])
			}
			return "'" + id.String() + "'"
		}

		for i, id := range ids {
			_, err := raw.Exec(fmt.Sprintf("INSERT INTO coupons (id, code, created_at, state, customer_id, type, value, balance, currency, cost, claimed_at, version) VALUES (%s, 'C%d', 1, 'claimed', %s, 'voucher', 1, 1, 'EUR', 0, 1, 1)",
				value(loyalty.NewID(start, loyalty.ID{})), i, value(id)))
			require.NoError(t, err)
		}

		count := func(name string) (events, coupons int) {
			e, err := s.Events(ctx, loyalty.EventQuery{Ref: name, Page: loyalty.Page{Limit: 100}})
			require.NoError(t, err)
			c, err := s.Coupons(ctx, loyalty.CouponQuery{Ref: name, At: start, Page: loyalty.Page{Limit: 100}})
			require.NoError(t, err)
			require.Equal(t, ids[0], e.Customer.ID)
			return len(e.Events), len(c.Coupons)
		}

		for merged := 1; merged <= 3; merged++ {
			for range 2 {
				events, coupons := count("c-0")
				require.Equal(t, []int{2 * merged, merged}, []int{events, coupons})
			}
			if merged < 3 {
				_, err := raw.Exec(fmt.Sprintf("UPDATE customers SET status = 'merged', merged_into = %s WHERE id = %s", value(ids[0]), value(ids[merged])))
				require.NoError(t, err)
			}
		}

		events, coupons := count("c-2")
		require.Equal(t, []int{6, 3}, []int{events, coupons}, "by the name of one who was merged")
	})
}
