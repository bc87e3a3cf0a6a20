package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// newJournal is seven members with increasing numbers of events; the third is merged into the sixth. No event sets a
// status, so that each member has a difference.
func newJournal(t *testing.T, s *store.Store) []*member {
	t.Helper()
	var all []*member
	for i := range 7 {
		m := newMember(t, fmt.Sprint("member-", i), time.Duration(i)*time.Hour)
		for k := range i * i {
			m.earn(fmt.Sprint("gift ", k), 10, time.Time{})
		}
		if i == 5 {
			m.event("merge", "merge", "")
			m.writes.Events[len(m.writes.Events)-1].Effects = &loyalty.Effects{MergedFrom: &all[2].c.ID}
			all[2].c.Status, all[2].c.MergedInto = loyalty.Merged, m.c.ID
		}
		all = append(all, m)
	}

	for _, m := range all {
		m.save(s)
	}

	return all
}

// Whatever the pages are, the same is found, and every event is folded once. The
// rows of a customer who is not there are found too, also at the end of a page.
func TestRebuildPages(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s, raw := storetest.Open(t, url), storetest.Raw(t, url)
		all := newJournal(t, s)
		var events int64
		for _, m := range all {
			events += int64(len(m.writes.Events))
		}

		for _, gone := range []string{"", "member-0", "member-3", "member-6"} {
			_, err := raw.Exec(`DELETE FROM customers WHERE name = '` + gone + `'`)
			require.NoError(t, err)
			var whole []rebuild.Difference
			for _, size := range [][2]int{{200, 20_000}, {1, 20_000}, {2, 20_000}, {3, 1}, {200, 1}, {200, 17}, {2, 30}} {
				var found []rebuild.Difference
				var done store.RebuildProgress
				pages := 0
				require.NoError(t, s.VerifyRebuildBy(t.Context(), size[0], size[1], func(d rebuild.Difference) { found = append(found, d) }, func(p store.RebuildProgress) {
					if p.Customers > done.Customers {
						require.True(t, p.Customers-done.Customers <= 2 || size[0] > 2, "a page of %d customers", p.Customers-done.Customers)
						require.True(t, p.Events-done.Events <= int64(size[1]) || p.Customers-done.Customers <= 2, "a page of %d events", p.Events-done.Events)
					}
					done, pages = p, pages+1
				}))

				require.Equal(t, store.RebuildProgress{Customers: 7, Events: events, Of: events}, done, "pages of %v", size)
				slices.SortFunc(found, func(a, b rebuild.Difference) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				if whole == nil {
					whole = found
				}

				require.Equal(t, whole, found, "pages of %v", size)
			}

			names := map[string]int{}
			for _, d := range whole {
				if d.Field == "exists" {
					require.Equal(t, rebuild.Difference{Customer: d.Customer, What: "customer", Field: "exists", Journal: "true", Stored: "false"}, d)
				} else {
					require.Equal(t, []string{"customer", "status", "", "active"}, []string{d.What, d.Field, d.Journal, d.Stored}, "%+v", d)
				}
				names[d.Name]++
			}

			require.Equal(t, 6, len(whole), "everybody but the merged one")
			require.NotContains(t, names, "member-2")
		}
	})
}

// Each page is reached by its keys, in the order of the key: no table is read as a
// whole more than once, and no journal is sorted.
func TestRebuildReachesPagesByKeys(t *testing.T) {
	storetest.PlainOnly(t)
	url := storetest.Postgres(t)
	s, raw := storetest.Open(t, url), storetest.Raw(t, url)
	newJournal(t, s)
	raw.SetMaxOpenConns(1)
	_, err := raw.Exec("ANALYZE")
	require.NoError(t, err)
	reads := map[string][]any{}
	require.NoError(t, s.OnRead(func(sql string, parameters []any) { reads[sql] = parameters }))
	require.NoError(t, s.VerifyRebuildBy(t.Context(), 2, 20_000, func(rebuild.Difference) {}, func(store.RebuildProgress) {}))

	_, err = raw.Exec("SET enable_seqscan = off; SET enable_bitmapscan = off") // as the rebuild does
	require.NoError(t, err)
	var once []string
	pages := 0
	for sql, parameters := range reads {
		if !strings.Contains(sql, "$1") || strings.Contains(sql, "action IN") {
			once = append(once, sql)
			continue
		}
		pages++
		var plan []byte
		require.NoError(t, raw.QueryRow("EXPLAIN (FORMAT JSON) "+sql, parameters...).Scan(&plan), sql)
		var tree []struct{ Plan planNode }
		require.NoError(t, json.Unmarshal(plan, &tree))
		require.Empty(t, tree[0].Plan.scans(), sql)
		require.False(t, strings.Contains(sql, `"events"`) && tree[0].Plan.has("Sort"), "%s\n%s", sql, plan)
	}

	require.Len(t, once, 5, "the number of events, what reaches over families, coupons, counts and campaigns: %v", once)
	require.GreaterOrEqual(t, pages, 20, "nine tables by page and by customer, the pages themselves and their events")
}

// has says whether a plan has a node of a type.
func (p *planNode) has(kind string) bool {
	return p.Type == kind || slices.ContainsFunc(p.Plans, func(child planNode) bool { return child.has(kind) })
}
