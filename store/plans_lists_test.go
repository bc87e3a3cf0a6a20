package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// followed is a plan as it was followed: what it read and threw away.
type followed struct {
	planNode
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Loops   float64 `json:"Actual Loops"`
	Plans   []followed
}

// read sums up the rows that a plan took from tables, and names the tables of which
// it read more than a few without an index.
func (f *followed) read() (rows float64, scans []string) {
	stored := f.Relation != "" || f.Index != ""
	if stored && strings.HasSuffix(f.Type, "Scan") && f.Type != "Bitmap Heap Scan" {
		rows = (f.Rows + f.Removed) * f.Loops
		if f.Type == "Seq Scan" && rows > 100 {
			scans = append(scans, f.Relation)
		}
	}
	for i := range f.Plans {
		n, more := f.Plans[i].read()
		rows, scans = rows+n, append(scans, more...)
	}
	return rows, scans
}

func readPlan(t *testing.T, plan string) (rows float64, scans []string) {
	t.Helper()
	var tree []struct{ Plan followed }
	require.NoError(t, json.Unmarshal([]byte(plan), &tree), plan)
	return tree[0].Plan.read()
}

// ofGrown leaves out the few customers that fill makes: it is cheapest to look at them all.
// TestNoListScans has many.
func ofGrown(scans []string) []string {
	return slices.DeleteFunc(scans, func(table string) bool { return table == "customers" })
}

// fill makes a journal of 40,000 events and 8,000 purchases of 200 customers over
// four months. Customer 0 has more than a thousand of them; customers 1 and 2 are merged into 3.
func fill(t *testing.T, url string) (customers []loyalty.ID) {
	t.Helper()
	s := storetest.Open(t, url)
	customers = enrol(t, s, "member-", 200)
	raw, ids := storetest.Raw(t, url), make([]string, len(customers))
	for i, id := range customers {
		ids[i] = "'" + id.String() + "'::uuid"
	}

	run := func(text string) {
		_, err := raw.Exec(text)
		require.NoError(t, err, text)
	}

	run(fmt.Sprintf("UPDATE customers SET status = 'merged', merged_into = %s WHERE id IN (%s, %s)", ids[3], ids[1], ids[2]))
	const whose = "(ARRAY[%s])[1 + CASE WHEN i %% 40 = 0 THEN 0 ELSE i %% 200 END]"
	run(fmt.Sprintf(`INSERT INTO events (customer_id, id, recorded_at, at, points, action, transaction_id, data)
SELECT `+whose+`, gen_random_uuid(), %d + i * 250000::bigint, %d + i * 250000::bigint - CASE WHEN i %% 10 = 0 THEN 1000 * i::bigint ELSE 0 END,
	i %% 7, CASE WHEN i %% 5000 = 0 THEN 'suspend' WHEN i %% 2 = 0 THEN 'point_add' ELSE 'visit' END, CASE WHEN i %% 5 = 0 THEN 'T-' || (i / 5) END, '{}'
FROM generate_series(1, 40000) i`, strings.Join(ids, ","), pastStart.UnixMilli(), pastStart.UnixMilli()))

	run(fmt.Sprintf(`INSERT INTO transactions (customer_id, transaction_id, state, checkout, created_at, updated_at, checkout_date, auto_reject,
	total, original_total, refunded, original_earned, earned, original_burned, burned)
SELECT `+whose+`, 'T-' || (i / 5), CASE WHEN i %% 3 = 0 THEN 'pending' ELSE 'accepted' END, gen_random_uuid(), %d + i * 250000::bigint, 0, %d, false,
	0, 0, 0, i %% 90, i %% 90, 0, 0 FROM generate_series(5, 40000, 5) i`, strings.Join(ids, ","), pastStart.UnixMilli(), pastStart.UnixMilli()))

	run("ANALYZE")
	return customers
}

// TestPagesLookIntoTheirMonths: a page beyond a place reads nothing of the months that lie on this side
// of it, and has what it had to have.
func TestPagesLookIntoTheirMonths(t *testing.T) {
	storetest.PlainOnly(t)
	url := storetest.Postgres(t)
	fill(t, url)
	s := storetest.Open(t, url)
	months := func(q loyalty.EventQuery) int {
		plan, err := s.ExplainEvents(q, false)
		require.NoError(t, err)
		return strings.Count(plan, `"Relation Name": "events_`)
	}

	place := &loyalty.Cursor{At: pastStart.AddDate(0, 2, 0)} // in the default partition, before all months
	down, up := loyalty.EventQuery{Page: loyalty.Page{Limit: 101}}, loyalty.EventQuery{Page: loyalty.Page{Limit: 101}}
	all := months(down)
	require.Greater(t, all, 10)
	down.Page.After, up.Page.Before = place, place
	require.Equal(t, 1, months(down))
	require.Equal(t, all, months(up))
	byDate := down
	byDate.Sort = []loyalty.Sorting{{Field: "date", Descending: true}}
	require.Less(t, months(byDate), 2*all, "those in the order of their recording; the others have no such order")
	for name, q := range map[string]loyalty.EventQuery{"down": down, "up": up} {
		page, err := s.Events(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, page.Events, 101)
		for i := 1; i < len(page.Events); i++ {
			require.False(t, page.Events[i].RecordedAt.After(page.Events[i-1].RecordedAt), name)
		}
		first, last := page.Events[0].RecordedAt, page.Events[100].RecordedAt
		require.Equal(t, name == "down", first.Before(place.At))
		require.Equal(t, name == "up", last.After(place.At))
	}
}

// TestListsReadFromIndexes: no page of events or purchases is looked for in a whole
// table, and a page far down a list costs what the first one costs.
func TestListsReadFromIndexes(t *testing.T) {
	storetest.PlainOnly(t)
	url := storetest.Postgres(t)
	customers := fill(t, url)
	s := storetest.Open(t, url)
	one := func(field string, op loyalty.Operator, values ...any) []loyalty.Condition {
		return []loyalty.Condition{{Field: field, Operator: op, Values: values}}
	}
	middle := pastStart.AddDate(0, 2, 0)
	day := loyalty.Span{From: middle, Before: middle.AddDate(0, 0, 1)}
	byDate, upwards := []loyalty.Sorting{{Field: "date", Descending: true}}, []loyalty.Sorting{{Field: "date"}}
	const limit = 101
	few := 2*limit + 50.0 // a page of an index, or of two
	for name, c := range map[string]struct {
		query loyalty.EventQuery
		most  float64 // rows that a page may read
	}{
		"all":                    {loyalty.EventQuery{}, few},
		"all by date":            {loyalty.EventQuery{Sort: byDate}, 3 * few},
		"all by date, upwards":   {loyalty.EventQuery{Sort: upwards}, 3 * few},
		"one action":             {loyalty.EventQuery{Conditions: one("action", loyalty.Eq, "point_add")}, few},
		"a rare action":          {loyalty.EventQuery{Conditions: one("action", loyalty.Eq, "suspend")}, few},
		"several actions":        {loyalty.EventQuery{Conditions: one("action", loyalty.In, "suspend", "point_add", "none")}, 3 * few},
		"an action by date":      {loyalty.EventQuery{Conditions: one("action", loyalty.Eq, "suspend"), Sort: byDate}, 4500},
		"from a day on":          {loyalty.EventQuery{Conditions: one("date", loyalty.Gte, middle)}, 3 * few},
		"before a day":           {loyalty.EventQuery{Conditions: one("date", loyalty.Lt, middle)}, 4500},
		"before a day, by date":  {loyalty.EventQuery{Conditions: one("date", loyalty.Lt, middle), Sort: byDate}, 3 * few},
		"on a day":               {loyalty.EventQuery{Conditions: one("date", loyalty.In, day)}, 3 * few},
		"an action before a day": {loyalty.EventQuery{Conditions: append(one("action", loyalty.Eq, "visit"), one("date", loyalty.Lt, middle)...)}, 4500},
		"a customer":             {loyalty.EventQuery{Customer: customers[0]}, few},
		"a survivor":             {loyalty.EventQuery{Customer: customers[3]}, 3 * few},
		"a customer's purchase":  {loyalty.EventQuery{Customer: customers[0], Transaction: "T-4000"}, few},
		"a customer's rare":      {loyalty.EventQuery{Customer: customers[0], Conditions: one("action", loyalty.Eq, "suspend")}, 1500},
		"a customer by date":     {loyalty.EventQuery{Customer: customers[0], Sort: byDate}, 1500},
		"a customer by points":   {loyalty.EventQuery{Customer: customers[5], Sort: []loyalty.Sorting{{Field: "points"}, {Field: "date"}}}, few},
		"a customer on a day":    {loyalty.EventQuery{Customer: customers[5], Conditions: one("date", loyalty.In, day)}, few},
	} {
		t.Run(name, func(t *testing.T) {
			c.query.Page = loyalty.Page{Limit: limit}
			reads := func() {
				for _, alone := range []bool{false, true} {
					plan, err := s.ExplainEvents(c.query, alone)
					require.NoError(t, err)
					rows, scans := readPlan(t, plan)
					require.Empty(t, ofGrown(scans), plan)
					require.LessOrEqual(t, rows, c.most, plan)
				}
			}

			reads()
			if !c.query.ByCursor() {
				return
			}

			found, err := s.Events(context.Background(), c.query)
			require.NoError(t, err)
			if len(found.Events) < limit {
				return
			}

			deep := c.query.Place(&found.Events[limit-1])
			if c.query.Customer == (loyalty.ID{}) && len(c.query.Conditions) == 0 {
				deep.At = middle // hundreds of pages down
			}

			c.query.Page.After = &deep
			reads()
		})
	}

	for name, c := range map[string]struct {
		query loyalty.TransactionQuery
		most  float64
	}{
		"all":         {loyalty.TransactionQuery{Customer: customers[0]}, few},
		"a survivor":  {loyalty.TransactionQuery{Customer: customers[3]}, few},
		"one":         {loyalty.TransactionQuery{Customer: customers[0], Conditions: one("id", loyalty.Eq, "T-4000")}, 2},
		"some":        {loyalty.TransactionQuery{Customer: customers[0], Conditions: one("id", loyalty.In, "T-4000", "T-4", "T-x")}, 2},
		"pending":     {loyalty.TransactionQuery{Customer: customers[0], Conditions: one("status", loyalty.Eq, "pending")}, 5 * few},
		"by earned":   {loyalty.TransactionQuery{Customer: customers[5], Sort: []loyalty.Sorting{{Field: "earned"}}}, few},
		"hundredth":   {loyalty.TransactionQuery{Customer: customers[0], Page: loyalty.Page{After: &loyalty.Cursor{At: middle}}}, few},
		"checked out": {loyalty.TransactionQuery{Customer: customers[5], Conditions: one("checkout_date", loyalty.Gte, middle)}, few},
	} {
		t.Run("purchases: "+name, func(t *testing.T) {
			c.query.Page.Limit = limit
			plans, err := s.ExplainTransactions(c.query)
			require.NoError(t, err)
			rows, scans := readPlan(t, plans[0])
			require.Empty(t, ofGrown(scans), plans[0])
			require.LessOrEqual(t, rows, c.most, plans[0])
			_, scans = readPlan(t, plans[1])
			require.Empty(t, ofGrown(scans), plans[1])
		})
	}
}
