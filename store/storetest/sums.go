package storetest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// AllAddUp is AddUp for every customer with events. The list of all events must give the same changes.
func AllAddUp(t require.TestingT, db *store.Store) map[loyalty.ID]int64 {
	told := map[loyalty.ID]int64{} // changes
	held := map[loyalty.ID][]loyalty.ID{}
	walk(t, db, loyalty.EventQuery{}, func(p *loyalty.EventPage, e *loyalty.Event) {
		told[e.ID] = e.Change
		holder := p.Customers[e.Customer].ID
		held[holder] = append(held[holder], e.ID)
	})

	for holder, events := range held {
		changes := AddUp(t, db, holder)
		for _, e := range events {
			require.Equal(t, changes[e], told[e], "the event %s in the list of all", e)
		}
	}

	return told
}

// AddUp checks the points in lists: the changes of the balance by a customer's events add up to what can be spent,
// however they are listed, and the changes by the events of a purchase add up to what it earned. It returns the
// change of each event.
func AddUp(t require.TestingT, db *store.Store, customer loyalty.ID) map[loyalty.ID]int64 {
	at, err := db.Statement(context.Background(), customer, "")
	require.NoError(t, err)
	changes := map[loyalty.ID]int64{}
	var sum int64
	walk(t, db, loyalty.EventQuery{Customer: customer}, func(_ *loyalty.EventPage, e *loyalty.Event) {
		changes[e.ID] = e.Change
		sum += e.Change
	})

	require.Equal(t, at.Figures.Spendable(), sum, "the events of %s add up", customer)
	walk(t, db, loyalty.EventQuery{Customer: customer, Sort: []loyalty.Sorting{{Field: "date"}}},
		func(_ *loyalty.EventPage, e *loyalty.Event) {
			require.Equal(t, changes[e.ID], e.Change, "%s by date", e.Action)
		})
	purchasesAddUp(t, db, customer, changes)
	return changes
}

func purchasesAddUp(t require.TestingT, db *store.Store, customer loyalty.ID, changes map[loyalty.ID]int64) {
	page, err := db.Transactions(context.Background(),
		loyalty.TransactionQuery{Customer: customer, Page: loyalty.Page{Limit: 1000}})
	require.NoError(t, err)
	for _, p := range page.Transactions {
		var earned int64
		for _, m := range loyalty.Breakdown(&p, page.Moves[p.Name]) {
			require.Equal(t, changes[m.ID], m.Change, "%s in the breakdown of %s", m.Action, p.Name)
			earned += m.Earned
		}
		require.Equal(t, p.Earned, earned, "the breakdown of %s adds up", p.Name)
		walk(t, db, loyalty.EventQuery{Customer: customer, Transaction: p.Name},
			func(_ *loyalty.EventPage, e *loyalty.Event) {
				require.Equal(t, changes[e.ID], e.Change, "%s of %s", e.Action, p.Name)
			})
	}
}

// walk reads a list of events to its end, in pages small enough that there are several.
func walk(t require.TestingT, db *store.Store, q loyalty.EventQuery, see func(*loyalty.EventPage, *loyalty.Event)) {
	q.Page = loyalty.Page{Limit: 50}
	for {
		page, err := db.Events(context.Background(), q)
		require.NoError(t, err)
		for i := range page.Events {
			see(&page, &page.Events[i])
		}
		if len(page.Events) < q.Page.Limit {
			return
		}
		place := q.Place(&page.Events[len(page.Events)-1])
		q.Page.After = &place
	}
}
