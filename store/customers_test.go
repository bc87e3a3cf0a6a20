package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// where is a query with one condition.
func where(field string, op loyalty.Operator, values ...any) loyalty.CustomerQuery {
	return loyalty.CustomerQuery{
		Conditions: []loyalty.Condition{{Field: field, Operator: op, Values: values}}, Page: loyalty.Page{Limit: 100},
	}
}

func listed(t *testing.T, s *store.Store, q loyalty.CustomerQuery) string {
	t.Helper()
	list, err := s.Customers(t.Context(), q)
	require.NoError(t, err)
	n, err := s.CountCustomers(t.Context(), q)
	require.NoError(t, err)
	if q.Page.Limit == 100 {
		require.EqualValues(t, len(list), n, "the count is that of the list")
	}
	return namesOf(list)
}

func namesOf(list []loyalty.Customer) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name
	}
	return strings.Join(names, " ")
}

// three saves three customers to read.
func three(t *testing.T, s *store.Store) (ada, bela, cili *member) {
	t.Helper()
	ada, bela, cili = newMember(t, "ada", 0), newMember(t, "bela", time.Hour), newMember(t, "cili", 2*time.Hour)
	ada.c.Profile = loyalty.Profile{
		Handler: "Countess", Email: " Ada@Shop.Example ", FirstName: "Ada", LastName: "Lovelace", Language: "en", Currency: "GBP",
		ExternalIDs: loyalty.ExternalIDs{"crm": {"7"}}, Labels: []string{"vip"},
	}

	ada.writes.Claims = append(ada.writes.Claims, loyalty.Claim{Name: loyalty.ExternalName("crm", "7"), Owner: ada.c.ID})
	ada.earn("gift", 100, time.Time{})
	ada.spend("spent", 30)
	bela.c.Profile = loyalty.Profile{Handler: "Béla", Email: "bela@shop.example", FirstName: "Béla", LastName: "100%_off", Language: "hu"}
	bela.c.Status = loyalty.Suspended
	bela.earn("gift", 20, time.Time{})
	for _, m := range []*member{ada, bela, cili} {
		m.save(s)
	}

	return ada, bela, cili
}

func TestReadCustomer(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ada, _, cili := three(t, s)
		byName, err := s.Customer(t.Context(), "ada")
		require.NoError(t, err)
		require.Equal(t, ada.c.ID, byName.ID)
		require.Equal(t, ada.c.Profile.Labels, byName.Profile.Labels)
		require.EqualValues(t, 70, byName.Figures.Spendable())
		require.Nil(t, byName.Key, "the key stays in the store")

		byExternal, err := s.Customer(t.Context(), "crm:7")
		require.NoError(t, err)
		require.Equal(t, byName, byExternal)

		impostor := newMember(t, "crm:7", 3*time.Hour)
		impostor.save(s)
		exact, err := s.Customer(t.Context(), "crm:7")
		require.NoError(t, err)
		require.Equal(t, impostor.c.ID, exact.ID, "the exact identifier comes first")

		merged := newMember(t, "old", 4*time.Hour)
		merged.c.Status, merged.c.MergedInto = loyalty.Merged, cili.c.ID
		merged.save(s)
		target, err := s.Customer(t.Context(), "old")
		require.NoError(t, err)
		require.Equal(t, cili.c.ID, target.ID)

		for _, ref := range []string{"nobody", "", "crm:8", "CRM:7", "Ada", "ada\x00", "\xff", "' OR 1=1 --", strings.Repeat("x", 10_000)} {
			_, err := s.Customer(t.Context(), ref)
			require.ErrorIs(t, err, loyalty.ErrCustomerNotFound, "%q", ref)
		}
	})
}

func TestFilterCustomers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, bela, _ := three(t, s)
		joined := bela.c.CreatedAt
		for _, c := range []struct {
			query loyalty.CustomerQuery
			want  string
		}{
			{where("status", loyalty.Eq, "suspended"), "bela"},
			{where("status", loyalty.Ne, "suspended"), "ada cili"},
			{where("status", loyalty.In, "suspended", "inactive"), "bela"},
			{where("status", loyalty.Nin, "suspended", "inactive"), "ada cili"},
			{where("language", loyalty.Eq, "hu"), "bela"},
			{where("language", loyalty.Eq, ""), "cili"},
			{where("currency", loyalty.Ne, "GBP"), "bela cili"},
			{where("handler", loyalty.Eq, "Countess"), "ada"},
			{where("handler", loyalty.Eq, "countess"), "ada"},
			{where("email", loyalty.Eq, "ADA@shop.example"), "ada"},
			{where("email", loyalty.Ne, "ada@shop.example"), "bela cili"},
			{where("email", loyalty.Nin, "ada@shop.example", "bela@shop.example"), "cili"},
			{where("created_at", loyalty.Eq, joined), "bela"},
			{where("created_at", loyalty.Gt, joined), "cili"},
			{where("created_at", loyalty.Gte, joined), "bela cili"},
			{where("created_at", loyalty.Lt, joined), "ada"},
			{where("created_at", loyalty.Lte, joined), "ada bela"},
			{where("score", loyalty.Gte, int64(100)), "ada"},
			{where("spendable", loyalty.Eq, int64(70)), "ada"},
			{where("spendable", loyalty.In, int64(0), int64(20)), "bela cili"},
			{where("status", loyalty.Eq, "x' OR '1'='1"), ""},
			{where("handler", loyalty.Eq, "a\x00b\xff"), ""},
		} {
			require.Equal(t, c.want, listed(t, s, c.query), "%+v", c.query.Conditions)
		}

		both := where("status", loyalty.Eq, "active")
		both.Conditions = append(both.Conditions, where("score", loyalty.Gt, int64(0)).Conditions...)
		both.Search = "count"
		require.Equal(t, "ada", listed(t, s, both))

		for _, bad := range []loyalty.CustomerQuery{
			where("name", loyalty.Eq, "ada"), where("status", "like", "a"), where("status", loyalty.Eq), where("status", loyalty.Eq, "a", "b"),
			where("status; DROP TABLE customers", loyalty.Eq, "a"),
		} {
			_, err := s.Customers(t.Context(), bad)
			require.Error(t, err)
			_, err = s.CountCustomers(t.Context(), bad)
			require.Error(t, err)
		}
	})
}

func TestSearchCustomers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		three(t, s)
		for search, want := range map[string]string{
			"": "ada bela cili", " ": "ada bela cili", "ada": "ada", "ADA@": "ada", "count": "ada", "love": "ada", "lace": "", "bé": "bela", "BÉL": "bela",
			"b": "bela", "100%": "bela", "1%": "", "100_": "", "%": "", "_": "", "'": "", "\x00": "", "a' OR '1'='1": "", "shop": "",
		} {
			require.Equal(t, want, listed(t, s, loyalty.CustomerQuery{Search: search, Page: loyalty.Page{Limit: 100}}), "%q", search)
		}
	})
}

// Pages by cursor give every customer once, forwards and backwards, also where
// many were created in one instant.
func TestPagesOfCustomers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var all []loyalty.Customer
		for i := range 23 {
			m := newMember(t, fmt.Sprint("c", i), time.Duration(i/5)*time.Minute)
			m.save(s)
			all = append(all, m.c)
		}

		slices.SortFunc(all, func(x, y loyalty.Customer) int {
			if c := x.CreatedAt.Compare(y.CreatedAt); c != 0 {
				return c
			}
			return loyalty.CompareID(x.ID, y.ID)
		})

		var seen []loyalty.Customer
		page := loyalty.Page{Limit: 4}
		for {
			list, err := s.Customers(t.Context(), loyalty.CustomerQuery{Page: page})
			require.NoError(t, err)
			if len(list) == 0 {
				break
			}
			seen = append(seen, list...)
			last := list[len(list)-1]
			page = loyalty.Page{Limit: 4, Offset: 999, After: &loyalty.Cursor{At: last.CreatedAt, ID: last.ID}} // the cursor wins
		}

		require.Equal(t, namesOf(all), namesOf(seen))

		back, err := s.Customers(t.Context(), loyalty.CustomerQuery{Page: loyalty.Page{Limit: 4, Before: &loyalty.Cursor{At: all[10].CreatedAt, ID: all[10].ID}}})
		require.NoError(t, err)
		require.Equal(t, namesOf(all[6:10]), namesOf(back), "the page just before, in the list's order")
		offset, err := s.Customers(t.Context(), loyalty.CustomerQuery{Page: loyalty.Page{Limit: 3, Offset: 20}})
		require.NoError(t, err)
		require.Equal(t, namesOf(all[20:]), namesOf(offset))
	})
}

func TestStatement(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		m := newMember(t, "ada", 0)
		m.earn("never", 10, time.Time{})
		m.earn("late", 20, ledgerStart.AddDate(2, 0, 0))
		m.earn("soon", 30, ledgerStart.AddDate(1, 0, 0))
		m.reserve("T-1", 35)
		m.take("taken", 60) // 25 free points and 35 of debt
		m.save(s)
		now, err := s.Statement(t.Context(), m.c.ID, "")
		require.NoError(t, err)
		now.Sort(time.UTC)
		require.Equal(t, m.book.Figures, now.Figures)
		require.Equal(t, []int64{30, 5}, reservedOf(now.Lots), "open lots only, in spending order")

		before, err := s.StatementAt(t.Context(), m.c.ID, at(m, "reserve T-1").Add(-time.Millisecond))
		require.NoError(t, err)
		before.Sort(time.UTC)
		require.Equal(t, points.Figures{Score: 60}, before.Figures)
		require.Equal(t, []int64{30, 20, 10}, remainingOf(before.Lots))

		held, err := s.StatementAt(t.Context(), m.c.ID, at(m, "reserve T-1"))
		require.NoError(t, err)
		held.Sort(time.UTC)
		require.Equal(t, points.Figures{Score: 60, Reserved: 35}, held.Figures)
		require.Equal(t, []int64{30, 5, 0}, reservedOf(held.Lots))
		require.Equal(t, []int64{0, 15, 10}, remainingOf(held.Lots))

		last, err := s.StatementAt(t.Context(), m.c.ID, at(m, "taken"))
		require.NoError(t, err)
		last.Sort(time.UTC)
		require.Equal(t, now, last, "the fold of everything is what stands")
		first, err := s.StatementAt(t.Context(), m.c.ID, ledgerStart)
		require.NoError(t, err)
		require.Equal(t, loyalty.Statement{}, loyalty.Statement{Figures: first.Figures})
		require.Empty(t, first.Lots)

		_, err = s.Statement(t.Context(), loyalty.NewID(ledgerStart, loyalty.ID{}), "")
		require.ErrorIs(t, err, loyalty.ErrCustomerNotFound)
		_, err = s.StatementAt(t.Context(), loyalty.ID{}, ledgerStart)
		require.ErrorIs(t, err, loyalty.ErrCustomerNotFound)
	})
}

func at(m *member, key string) time.Time {
	for _, e := range m.writes.Events {
		if e.ID == m.events[key] {
			return e.RecordedAt
		}
	}
	panic(key)
}

func reservedOf(lots []points.Lot) (n []int64) {
	for _, l := range lots {
		n = append(n, l.Reserved)
	}
	return n
}

func remainingOf(lots []points.Lot) (n []int64) {
	for _, l := range lots {
		n = append(n, l.Remaining)
	}
	return n
}
