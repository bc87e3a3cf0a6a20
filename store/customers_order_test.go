package store_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestSortedCustomers: sorted by a name or by creation, in both directions, and under any filter, the pages of a list
// are the parts of the whole list in that order, forwards and backwards. Customers without the name come last in both
// directions.
func TestSortedCustomers(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := club(t, url)
		for _, text := range []string{
			"UPDATE customers SET last_key = CASE WHEN CAST(substr(name, 8) AS integer) % 4 = 0 THEN 'member' WHEN CAST(substr(name, 8) AS integer) % 5 = 0 THEN 'ábel' END",
			"UPDATE customers SET email_key = NULL WHERE CAST(substr(name, 8) AS integer) % 6 = 0",
			`UPDATE customers SET custom = '{"cf_size":"m"}' WHERE CAST(substr(name, 8) AS integer) % 2 = 0`,
		} {
			_, err := storetest.Raw(t, url).Exec(text)
			require.NoError(t, err, text)
		}

		sized := loyalty.CustomerQuery{Custom: &loyalty.CustomFilter{Needs: []string{"cf_size"}, Fits: func(custom map[string]json.RawMessage) bool { return custom["cf_size"] != nil }}}
		for name, q := range map[string]loyalty.CustomerQuery{
			"all": {}, "a status": where("status", loyalty.Eq, "active"), "all but one": where("status", loyalty.Ne, "suspended"),
			"figures": where("score", loyalty.Lt, int64(40)), "a list": where("list", loyalty.In, "dozen", "tens"), "a search": {Search: "member-1"}, "attributes": sized,
		} {
			whole, err := s.Customers(t.Context(), loyalty.CustomerQuery{Conditions: q.Conditions, Search: q.Search, Custom: q.Custom, Page: loyalty.Page{Limit: 100}})
			require.NoError(t, err)
			require.Greater(t, len(whole), 8, name)
			for _, field := range []string{"created_at", "last_name", "email"} {
				for _, down := range []bool{false, true} {
					q.Sort = []loyalty.Sorting{{Field: field, Descending: down}}
					t.Run(name+" by "+field+map[bool]string{true: " down"}[down], func(t *testing.T) { pagesInOrder(t, s, q, sortedBy(whole, field, down), 5) })
				}
			}
		}
	})
}

// sortedBy is what the pages have to be put together to.
func sortedBy(list []loyalty.Customer, field string, down bool) []loyalty.Customer {
	none := "\U0010FFFF"
	if down {
		none = "" // they stay last when the others are turned round
	}

	key := func(c *loyalty.Customer) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(c.Name, "member-"))
		switch {
		case field == "created_at":
			return c.CreatedAt.Format("2006-01-02T15:04:05.000")
		case field == "email" && n%6 != 0:
			return c.Profile.Email
		case field == "last_name" && n%4 == 0:
			return "member"
		case field == "last_name" && n%5 == 0:
			return "ábel"
		}
		return none
	}

	list = slices.Clone(list)
	slices.SortFunc(list, func(x, y loyalty.Customer) int {
		return cmp.Or(strings.Compare(key(&x), key(&y)), bytes.Compare(x.ID[:], y.ID[:]))
	})
	if down {
		slices.Reverse(list)
	}

	return list
}

// pagesInOrder compares every page of a list, by each way to ask for it, with the whole list.
func pagesInOrder(t *testing.T, s *store.Store, q loyalty.CustomerQuery, whole []loyalty.Customer, limit int) {
	t.Helper()
	place := func(i int) *loyalty.Cursor { return &loyalty.Cursor{At: whole[i].CreatedAt, ID: whole[i].ID} }
	for from := 0; from <= len(whole); from += limit {
		want := namesOf(whole[from:min(from+limit, len(whole))])
		pages := map[string]loyalty.Page{"by number": {Limit: limit, Offset: from}}
		if from > 0 {
			pages["by place"] = loyalty.Page{Limit: limit, Offset: 999, After: place(from - 1)}
		}
		if from+limit < len(whole) {
			pages["backwards"] = loyalty.Page{Limit: limit, Before: place(from + limit)}
		}

		for name, page := range pages {
			q.Page = page
			list, err := s.Customers(t.Context(), q)
			require.NoError(t, err)
			require.Equal(t, want, namesOf(list), "%s from %d", name, from)
		}
	}
}
