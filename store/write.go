package store

import (
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// writeCalls lists the statements of a write, in the order in which every batch takes its locks: balances, coupons
// and counts, customers, names, purchases, each sorted; then the rows that only this batch can know.
func writeCalls(w *loyalty.Writes, key sealer) ([]calls, error) {
	if w == nil {
		return nil, nil
	}

	events, err := chain(w)
	if err != nil {
		return nil, err
	}

	list := make([]calls, 0, 8)
	customers := sorted(w.Customers, byOwner)
	list = write(list, updateBalances, customers)
	list = sharedCalls(list, w)
	list = campaignCalls(list, w)
	list = write(list, updateCustomers, changed(customers, func(c *loyalty.Changed[loyalty.Customer]) bool {
		return !accountTable.same(&c.Before, &c.After) // nearly every event changes figures only
	}))
	list = write(list, deleteNames, sorted(w.Freed, byValue))
	list = write(list, insertNames, sorted(w.Claims, byValue))
	list = write(list, insertCustomers, w.NewCustomers)
	list = write(list, insertBalances, w.NewCustomers)
	list = write(list, insertKeys, newKeys(w, key))
	list = write(list, deleteKeys, w.DestroyKeys)
	if len(w.DestroyKeys) > 0 {
		list = write(list, insertLeavers, leaversOf(w, key))
	}

	list = write(list, updateTransactions, w.Transactions)
	list = write(list, deleteTransactions, w.Moved)
	pieces := piecesOf(w)
	list = write(list, updatePieces, pieces.changed)
	list = write(list, deletePieces, pieces.gone)
	list = write(list, updateLots, w.Lots)
	list = write(list, updateReservations, changed(w.Reservations, held))
	list = write(list, deleteReservations, changed(w.Reservations, func(r *loyalty.Changed[loyalty.Reservation]) bool { return !held(r) }))
	list = progressCalls(list, w)
	list = write(list, insertEvents, events)
	list = write(list, insertPostings, w.Postings)
	list = write(list, insertLots, w.NewLots)
	list = write(list, insertTransactions, opened(w))
	list = write(list, insertPieces, pieces.added)
	list = write(list, insertReservations, w.NewReservations)
	list = write(list, insertProgress, w.NewProgress)
	list = write(list, insertClaims, w.NewRewardClaims)
	list = write(list, insertCoupons, w.NewCoupons)
	list = write(list, insertCouponEvents, couponEvents(w))
	list = write(list, deleteAnswers, key.storedAnswers(w.Replaced))
	list = write(list, insertAnswers, key.storedAnswers(w.Answers))
	return bulkCalls(list, w), nil
}

// byOwner and byValue are the orders in which all batches take locks.
func byOwner(a, b loyalty.Changed[loyalty.Customer]) int {
	return loyalty.CompareID(a.Before.ID, b.Before.ID)
}

func byValue(a, b loyalty.Claim) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	return strings.Compare(a.Value, b.Value)
}

// sorted returns the rows in order, in a copy if they were not: the caller's list stays unchanged.
func sorted[T any](rows []T, order func(a, b T) int) []T {
	if slices.IsSortedFunc(rows, order) {
		return rows
	}
	rows = slices.Clone(rows)
	slices.SortFunc(rows, order)
	return rows
}

// changed returns the rows that pass.
func changed[T any](rows []T, pass func(*T) bool) []T {
	var some []T
	for i := range rows {
		if pass(&rows[i]) {
			some = append(some, rows[i])
		}
	}
	return some
}

func held(r *loyalty.Changed[loyalty.Reservation]) bool { return len(r.After.Hold) > 0 }

// newKeys seals the keys of customers that have no key in the database yet.
func newKeys(w *loyalty.Writes, key sealer) []customerKeyRow {
	var keys []customerKeyRow
	add := func(c *loyalty.Customer) {
		keys = append(keys, customerKeyRow{UUID(c.ID), key.seal(rowID("customer_keys", string(c.ID[:])), c.Key)})
	}
	for i := range w.NewCustomers {
		if c := &w.NewCustomers[i]; c.Key != nil {
			add(c)
		}
	}

	for i := range w.Customers {
		if c := &w.Customers[i]; c.Before.Key == nil && c.After.Key != nil {
			add(&c.After)
		}
	}

	return keys
}
