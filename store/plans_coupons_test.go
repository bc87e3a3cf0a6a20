package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// fillCoupons makes 40,000 coupons of 200 customers and two pools over four months,
// 8,000 claims, 20,000 customers who do nothing, and 40,000 events, of which 40 are one coupon's.
// Customers 1 and 2 are merged into 3. Of the large pool nearly all codes are free.
func fillCoupons(t *testing.T, url string) (customers []loyalty.ID, moved loyalty.ID) {
	t.Helper()
	customers = enrol(t, storetest.Open(t, url), "member-", 200)
	raw, ids := storetest.Raw(t, url), make([]string, len(customers))
	for i, id := range customers {
		ids[i] = "'" + id.String() + "'::uuid"
	}

	run := func(text string, args ...any) {
		_, err := raw.Exec(fmt.Sprintf(text, args...))
		require.NoError(t, err, text)
	}

	whose, from := "(ARRAY["+strings.Join(ids, ",")+"])[1 + i % 200]", pastStart.UnixMilli()
	run("UPDATE customers SET status = 'merged', merged_into = %s WHERE id IN (%s, %s)", ids[3], ids[1], ids[2])
	const coupons = `INSERT INTO coupons (id, code, state, customer_id, type, value, balance, currency, pool, cost, created_at, claimed_at, expires_at, version) `
	run(coupons+`SELECT gen_random_uuid(), 'L-' || i, CASE WHEN i %% 2000 = 0 THEN 'redeemed' ELSE 'created' END, NULL, 'amount', 50000, 0, 'EUR', 'large', 0,
	%d + i * 250000::bigint, NULL, NULL, 0 FROM generate_series(1, 20000) i`, from)
	run(coupons+`SELECT gen_random_uuid(), 'H-' || i, CASE WHEN i %% 4 = 0 THEN 'redeemed' WHEN i %% 5000 = 1 THEN 'invalidated' ELSE 'claimed' END, %s, 'percentage', 50000, 0, '',
	CASE WHEN i %% 100 = 0 THEN 'small' END, 0, %d + i * 250000::bigint, %d + i * 250000::bigint,
	CASE WHEN i %% 1000 = 2 THEN %d + 1 ELSE 4000000000000 + i END, 1 FROM generate_series(1, 20000) i`, whose, from, from, from)
	run(`INSERT INTO names (kind, value, owner) SELECT %d, code, id FROM coupons`, loyalty.NameCoupon)
	run(`INSERT INTO claims (customer_id, id, reward, state, points, award, claimed_at, updated_at)
SELECT %s, gen_random_uuid(), 'r', 'claimed', 1, 0, %d + i * 250000::bigint, 0 FROM generate_series(1, 8000) i`, whose, from)
	run(`INSERT INTO events (customer_id, id, recorded_at, at, action, data) SELECT %s, gen_random_uuid(), %d + i * 250000::bigint, 0, 'coupon_redeem', '{}'
FROM generate_series(1, 40000) i`, whose, from)
	moved = loyalty.ID{9}
	run(`INSERT INTO coupon_events (coupon_id, version, customer_id, event_id, recorded_at)
SELECT CASE WHEN n %% 1000 = 0 THEN '%s'::uuid ELSE gen_random_uuid() END, n, customer_id, id, recorded_at
FROM (SELECT *, row_number() OVER () AS n FROM events) e`, moved)
	run(`INSERT INTO customers (id, name, status, created_at, updated_at) SELECT gen_random_uuid(), 'idle-' || i,
	CASE WHEN i %% 10000 = 0 THEN 'suspended' ELSE 'active' END, %d + i * 250000::bigint, 0 FROM generate_series(1, 20000) i`, from)
	run(`INSERT INTO balances (customer_id, version, score, spent, reserved, expired, pending, debt) SELECT id, 0, 0, 0, 0, 0, 0, 0 FROM customers ON CONFLICT DO NOTHING`)
	run("VACUUM ANALYZE")
	return customers, moved
}

// TestCouponListsReadFromIndexes: no page of coupons, claims or customers is looked
// for in a whole table, and one far down costs what the first one costs.
func TestCouponListsReadFromIndexes(t *testing.T) {
	storetest.PlainOnly(t)
	url := storetest.Postgres(t)
	customers, moved := fillCoupons(t, url)
	s := storetest.Open(t, url)
	one := func(field string, op loyalty.Operator, values ...any) []loyalty.Condition {
		return []loyalty.Condition{{Field: field, Operator: op, Values: values}}
	}
	and := func(lists ...[]loyalty.Condition) (all []loyalty.Condition) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}

	const limit = 101
	few, middle := 2*limit+50.0, pastStart.AddDate(0, 1, 0)
	read := func(t *testing.T, most float64, plan string, err error) {
		t.Helper()
		require.NoError(t, err)
		rows, scans := readPlan(t, plan)
		require.Empty(t, scans, plan)
		require.LessOrEqual(t, rows, most, plan)
	}

	for name, c := range map[string]struct {
		query loyalty.CouponQuery
		most  float64
	}{
		"all":                   {loyalty.CouponQuery{}, few},
		"a code":                {loyalty.CouponQuery{Conditions: one("code", loyalty.Eq, "L-4711")}, 2},
		"codes":                 {loyalty.CouponQuery{Conditions: one("code", loyalty.In, "L-4711", "H-1", "none")}, 4},
		"a pool":                {loyalty.CouponQuery{Conditions: one("pool", loyalty.Eq, "large")}, few},
		"a small pool":          {loyalty.CouponQuery{Conditions: one("pool", loyalty.Eq, "small")}, few},
		"pools":                 {loyalty.CouponQuery{Conditions: one("pool", loyalty.In, "small", "large", "none")}, 2 * few},
		"a state":               {loyalty.CouponQuery{Conditions: one("status", loyalty.Eq, "claimed")}, few},
		"a rare state":          {loyalty.CouponQuery{Conditions: one("status", loyalty.Eq, "invalidated")}, few},
		"no state":              {loyalty.CouponQuery{Conditions: one("status", loyalty.Eq, "unassigned")}, few},
		"states":                {loyalty.CouponQuery{Conditions: one("status", loyalty.In, "redeemed", "invalidated")}, 2 * few},
		"what is expired":       {loyalty.CouponQuery{Conditions: one("status", loyalty.Eq, "expired")}, few},
		"all but what is free":  {loyalty.CouponQuery{Conditions: one("status", loyalty.Ne, "created")}, 6 * few},
		"rare in a pool":        {loyalty.CouponQuery{Conditions: and(one("pool", loyalty.Eq, "large"), one("status", loyalty.Eq, "redeemed"))}, few},
		"free in a pool":        {loyalty.CouponQuery{Conditions: and(one("pool", loyalty.Eq, "large"), one("status", loyalty.Eq, "created"))}, few},
		"expired in a pool":     {loyalty.CouponQuery{Conditions: and(one("pool", loyalty.Eq, "large"), one("status", loyalty.Eq, "expired"))}, few},
		"a stretch":             {loyalty.CouponQuery{Conditions: and(one("created_at", loyalty.Gte, middle), one("created_at", loyalty.Lt, middle.AddDate(0, 0, 1)))}, 8 * few},
		"a holder":              {loyalty.CouponQuery{Conditions: one("customer", loyalty.Eq, customers[7])}, few},
		"a customer":            {loyalty.CouponQuery{Holder: customers[7]}, few},
		"a survivor":            {loyalty.CouponQuery{Holder: customers[3]}, 2 * few},
		"a customer's state":    {loyalty.CouponQuery{Holder: customers[7], Conditions: one("status", loyalty.In, "redeemed", "expired")}, 2 * few},
		"a customer's, sorted":  {loyalty.CouponQuery{Holder: customers[7], Sort: []loyalty.Sorting{{Field: "status"}, {Field: "expires_at"}}}, few},
		"a survivor's, sorted":  {loyalty.CouponQuery{Holder: customers[3], Sort: []loyalty.Sorting{{Field: "expires_at", Descending: true}}}, 2 * few},
		"a customer's, by code": {loyalty.CouponQuery{Holder: customers[7], Conditions: one("code", loyalty.Eq, "H-7")}, few},
	} {
		t.Run("coupons: "+name, func(t *testing.T) {
			c.query.At, c.query.Page = time.Now(), loyalty.Page{Limit: limit}
			plan, err := s.ExplainCoupons(c.query)
			read(t, c.most, plan, err)
			if len(c.query.Sort) == 0 {
				c.query.Page.After = &loyalty.Cursor{At: middle}
				plan, err = s.ExplainCoupons(c.query)
				read(t, c.most, plan, err)
			}
		})
	}

	for name, q := range map[string]loyalty.CustomerQuery{
		"one status":               {Conditions: one("status", loyalty.Eq, "active")},
		"a rare status":            {Conditions: one("status", loyalty.Eq, "suspended")},
		"several":                  {Conditions: one("status", loyalty.In, "suspended", "merged", "inactive")},
		"all but one":              {Conditions: one("status", loyalty.Ne, "active")},
		"the youngest":             {Sort: []loyalty.Sorting{{Field: "created_at", Descending: true}}},
		"by status":                {Sort: []loyalty.Sorting{{Field: "status"}}},
		"by status, downwards":     {Sort: []loyalty.Sorting{{Field: "status", Descending: true}}},
		"by status, the youngest":  {Sort: []loyalty.Sorting{{Field: "status"}, {Field: "created_at", Descending: true}}},
		"by creation, then status": {Sort: []loyalty.Sorting{{Field: "created_at"}, {Field: "status", Descending: true}}},
	} {
		t.Run("customers: "+name, func(t *testing.T) {
			q.Page.Limit = limit
			plan, err := s.ExplainCustomers(q)
			read(t, 10*few, plan, err) // a page of each status, and their figures
		})
	}

	t.Run("claims and history", func(t *testing.T) {
		claims, history, err := s.ExplainClaims(loyalty.ClaimQuery{Customer: customers[3], Page: loyalty.Page{Limit: limit}}, moved)
		read(t, 2*few, claims, err)
		read(t, few, history, err)
	})

	t.Run("counts", func(t *testing.T) {
		q := loyalty.CouponUsageQuery{Day: "created_at", At: time.Now(), Page: loyalty.Page{Limit: limit}}
		q.Conditions = and(one("created_at", loyalty.Gte, middle), one("created_at", loyalty.Lt, middle.AddDate(0, 0, 2)))
		usage, stock, err := s.ExplainCounts(q, "large", "small")
		read(t, 1500, usage, err)
		read(t, 20_300, stock, err)
		require.Contains(t, stock, "Index Only Scan")
		q.Conditions = one("pool", loyalty.Eq, "small")
		usage, _, err = s.ExplainCounts(q, "small")
		read(t, 250, usage, err)
	})
}

// TestReadCouponsRefuses: what a caller of the store must never ask.
func TestReadCouponsRefuses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, q := range []loyalty.CouponQuery{
			{Conditions: []loyalty.Condition{{Field: "status", Operator: loyalty.Gt, Values: []any{"claimed"}}}},
			{Conditions: []loyalty.Condition{{Field: "customer", Operator: loyalty.Eq, Values: []any{int64(1)}}}},
			{Conditions: []loyalty.Condition{{Field: "balance", Operator: loyalty.Eq, Values: []any{int64(1)}}}},
			{Sort: []loyalty.Sorting{{Field: "code; DROP TABLE coupons"}}},
		} {
			q.Page.Limit = 1
			_, err := s.Coupons(t.Context(), q)
			require.ErrorContains(t, err, "", "%+v", q)
		}

		_, err := s.CouponUsage(t.Context(), loyalty.CouponUsageQuery{Day: "state", Page: loyalty.Page{Limit: 1}})
		require.ErrorContains(t, err, "state")
		_, err = s.Customers(t.Context(), loyalty.CustomerQuery{Sort: []loyalty.Sorting{{Field: "score"}}, Page: loyalty.Page{Limit: 1}})
		require.ErrorContains(t, err, "score")
	})
}
