package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// club enrols sixty customers whose ids say nothing about the order of creation: nine
// were created at each instant. The twelfths are on a list, and the tenths on another; the
// fifteenths have a tier, the sixths another one, and the thirtieths one of a second ladder.
func club(t *testing.T, url string) *store.Store {
	t.Helper()
	s := storetest.Open(t, url)
	enrol(t, s, "member-", 60)
	raw := storetest.Raw(t, url)
	const n = "CAST(substr(name, 8) AS integer)"
	for _, text := range []string{
		"UPDATE customers SET created_at = created_at + " + n + " * 5 % 7 * 1000, handler_key = 'm' || name, last_key = CASE WHEN " + n + " % 4 = 0 THEN 'member' END",
		"UPDATE customers SET language = CASE " + n + " % 3 WHEN 0 THEN 'hu' WHEN 1 THEN 'en' ELSE '' END, currency = CASE WHEN " + n + " % 2 = 0 THEN 'EUR' ELSE 'HUF' END",
		"UPDATE customers SET status = 'suspended' WHERE " + n + " % 8 = 0",
		"UPDATE balances SET score = (SELECT " + n + " FROM customers WHERE id = customer_id)",
		"INSERT INTO list_members (customer_id, list_id) SELECT id, 'dozen' FROM customers WHERE " + n + " % 12 = 0",
		"INSERT INTO list_members (customer_id, list_id) SELECT id, 'tens' FROM customers WHERE " + n + " % 10 = 0",
		`INSERT INTO progress (customer_id, kind, key, data) SELECT id, 1, 'club', CASE WHEN ` + n + ` % 15 = 0 THEN '{"tier":"fine \"gold\" \u0026 more","since":"2026-01-01T00:00:00Z"}'
			WHEN ` + n + ` % 6 = 0 THEN '{"of":"points","tier":"silver"}' ELSE '{"of":"points"}' END FROM customers`,
		`INSERT INTO progress (customer_id, kind, key, data) SELECT id, 1, 'staff', '{"tier":"crew"}' FROM customers WHERE ` + n + ` % 30 = 0`,
		`INSERT INTO progress (customer_id, kind, key, data) SELECT id, 2, 'run', '{"tier":"silver"}' FROM customers`,
	} {
		_, err := raw.Exec(text)
		require.NoError(t, err, text)
	}

	return s
}

// TestFoundCustomers: the customers that an index finds are those that match in the order of the list, on every page,
// forwards and backwards, by place and by number.
func TestFoundCustomers(t *testing.T) {
	all := func(list ...loyalty.CustomerQuery) (q loyalty.CustomerQuery) {
		for _, one := range list {
			q.Conditions = append(q.Conditions, one.Conditions...)
		}
		return q
	}

	searching := func(prefix string, q loyalty.CustomerQuery) loyalty.CustomerQuery { q.Search = prefix; return q }
	dozen, active := where("list", loyalty.Eq, "dozen"), where("status", loyalty.Eq, "active")
	cases := map[string]struct {
		query loyalty.CustomerQuery
		want  int
	}{
		"search in several keys":   {searching("member", all()), 60},
		"search in one":            {searching(" MMember-1", all()), 11},
		"search for nobody":        {searching("nobody", all()), 0},
		"search and filters":       {searching("member-", all(where("language", loyalty.In, "hu", "en"), where("score", loyalty.Lt, int64(12)))), 8},
		"search and e-mail":        {searching("member-1", all(where("email", loyalty.In, "member-1@example.org", "member-2@example.org"))), 1},
		"an e-mail":                {where("email", loyalty.Eq, " Member-7@example.org"), 1},
		"e-mails, one twice":       {where("email", loyalty.In, "member-7@example.org", "member-8@example.org", "member-8@example.org", "nobody"), 2},
		"handlers":                 {where("handler", loyalty.In, "mmember-3", "mmember-4", "mmember-59"), 3},
		"handlers and an e-mail":   {all(where("handler", loyalty.In, "mmember-3", "mmember-4"), where("email", loyalty.Ne, "member-3@example.org")), 1},
		"a list":                   {dozen, 5},
		"lists, some on both":      {where("list", loyalty.In, "dozen", "tens"), 10},
		"both lists":               {all(dozen, where("list", loyalty.Eq, "tens")), 1},
		"one list without another": {all(dozen, where("list", loyalty.Ne, "tens")), 4},
		"a list and a status":      {all(dozen, active), 2},
		"a list and figures":       {all(dozen, where("spendable", loyalty.Gt, int64(20))), 3},
		"a list and time":          {all(dozen, where("created_at", loyalty.Gte, start.Add(3*time.Second))), 2},
		"a tier":                   {where("tier", loyalty.Eq, "silver"), 8},
		"a tier, escaped":          {where("tier", loyalty.Eq, `fine "gold" & more`), 4},
		"tiers, some have both":    {where("tier", loyalty.In, `fine "gold" & more`, "crew", "silver"), 12},
		"both tiers":               {all(where("tier", loyalty.Eq, "crew"), where("tier", loyalty.Eq, `fine "gold" & more`)), 2},
		"one tier without another": {all(where("tier", loyalty.Eq, `fine "gold" & more`), where("tier", loyalty.Ne, "crew")), 2},
		"none of some tiers":       {where("tier", loyalty.Nin, `fine "gold" & more`, "silver"), 48},
		"a tier and a list":        {all(where("tier", loyalty.Eq, "silver"), dozen), 4},
		"an unknown list":          {where("list", loyalty.Eq, "others"), 0},
		"languages":                {where("language", loyalty.In, "hu", "en", "hu", "fr"), 40},
		"a language, a currency":   {all(where("language", loyalty.Eq, "hu"), where("currency", loyalty.In, "EUR", "USD")), 10},
		"languages and a status":   {all(where("language", loyalty.In, "hu", ""), active), 34},
	}

	storetest.EachURL(t, func(t *testing.T, url string) {
		s := club(t, url)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				for _, sort := range [][]loyalty.Sorting{nil, {{Field: "created_at", Descending: true}}} {
					if c.query.Sort = sort; sort != nil && c.query.Search != "" {
						continue // not together
					}
					everyPage(t, s, c.query, c.want)
				}
				if strings.HasPrefix(url, "sqlite:") {
					plan, err := s.PlanFound(t.Context(), c.query)
					require.NoError(t, err)
					require.NotContains(t, strings.Join(plan, "\n")+"\n", "SCAN customers")
					require.NotContains(t, strings.Join(plan, "\n")+"\n", "SCAN list_members")
					require.NotContains(t, strings.Join(plan, "\n")+"\n", "SCAN progress")
				}
			})
		}
	})
}

// everyPage compares the list that Customers finds, page by page, with the one that is
// met in order.
func everyPage(t *testing.T, s *store.Store, q loyalty.CustomerQuery, want int) {
	t.Helper()
	q.Page = loyalty.Page{Limit: 100}
	n, err := s.CountCustomers(t.Context(), q)
	require.NoError(t, err)
	require.EqualValues(t, want, n)
	whole, err := s.CustomersMet(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, whole, want)
	pagesInOrder(t, s, q, whole, 7)
}

// TestCustomerIDs: many references are resolved at once as each is alone, by the exact identifier before an external
// id, a merged customer as the target.
func TestCustomerIDs(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s, raw := storetest.Open(t, url), storetest.Raw(t, url)
		enrol(t, s, "member-", 6)
		for _, text := range []string{
			`INSERT INTO names (kind, value, owner) SELECT 4, 'till:1', id FROM customers WHERE name = 'member-1'`,
			`INSERT INTO names (kind, value, owner) SELECT 4, 'till:2', id FROM customers WHERE name = 'member-2'`,
			`INSERT INTO names (kind, value, owner) SELECT 1, 'till:2', id FROM customers WHERE name = 'member-3'`,
			`INSERT INTO names (kind, value, owner) SELECT 2, 'sale-1', id FROM customers WHERE name = 'member-4'`,
		} {
			_, err := raw.Exec(text)
			require.NoError(t, err, text)
		}

		survivor, err := s.Customer(t.Context(), "member-1")
		require.NoError(t, err)
		_, err = raw.Exec(`UPDATE customers SET merged_into = $1 WHERE name = 'member-5'`, store.UUID(survivor.ID))
		require.NoError(t, err)

		refs := []string{"member-1", "till:1", "till:2", "till:3", "member-5", "sale-1", "nobody", "", "member-1"}
		found, err := s.CustomerIDs(t.Context(), refs)
		require.NoError(t, err)
		want := map[string]loyalty.ID{}
		for _, ref := range refs[:7] {
			if c, err := s.Customer(t.Context(), ref); err == nil {
				want[ref] = c.ID
			} else {
				require.ErrorIs(t, err, loyalty.ErrCustomerNotFound)
			}
		}

		require.Equal(t, want, found)
		require.Len(t, found, 4)
		require.Equal(t, found["member-1"], found["member-5"])
		require.NotEqual(t, found["member-2"], found["till:2"])
	})
}

// TestNamesHaveOneForm: capitals make alike what small letters tell apart, and a search takes names as capitals do.
// E-mail addresses are other mailboxes, and stay apart.
func TestNamesHaveOneForm(t *testing.T) {
	for _, d := range storetest.All {
		t.Run(d.Name, func(t *testing.T) {
			s := storetest.Open(t, d.Migrated(t))
			var w loyalty.Writes
			for i, p := range []loyalty.Profile{
				{LastName: "Größe", Email: "weiß@shop.test"}, {LastName: "GRÖSSE", Email: "weiss@shop.test"}, {FirstName: "Οδυσσεύς"}, {Handler: "ﬁnn"}, {LastName: "STRAẞE"},
			} {
				c := storetest.Member(fmt.Sprint(i), start.Add(time.Duration(i)*time.Second))
				c.Profile = p
				storetest.Enrol(&w, c)
			}

			require.NoError(t, storetest.Put(s, start, w))
			for search, want := range map[string]string{
				"GRÖSSE": "0 1", "größe": "0 1", "grös": "0 1", "ΟΔΥΣΣΕΎΣ": "2", "οδυσσεύς": "2", "FINN": "3", "straße": "4", "STRASSE": "4",
				"weiß": "0", "WEISS": "1",
			} {
				q := loyalty.CustomerQuery{Search: search, Page: loyalty.Page{Limit: 100}}
				require.Equal(t, want, listed(t, s, q), search)
				q.Custom = &loyalty.CustomFilter{Fits: func(map[string]json.RawMessage) bool { return true }}
				require.Equal(t, want, listed(t, s, q), "looked into: "+search)
			}

			require.Equal(t, "3", listed(t, s, where("handler", loyalty.Eq, "FINN")))
		})
	}
}
