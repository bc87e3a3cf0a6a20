package store

import (
	"cmp"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The orders in which all batches take the locks of shared rows.
func byCoupon(a, b changedCoupon) int { return loyalty.CompareID(a.Before.ID, b.Before.ID) }
func byTally(a, b changedTally) int   { return cmp.Compare(a.Before.Key, b.Before.Key) }
func byKey(a, b loyalty.Tally) int    { return cmp.Compare(a.Key, b.Key) }

func byClaim(a, b changedClaim) int {
	return cmp.Or(loyalty.CompareID(a.Before.Customer, b.Before.Customer), loyalty.CompareID(a.Before.ID, b.Before.ID))
}

// sharedCalls change rows that customers share. A batch that lost a conflict locks the same rows before it loads, so
// these come right after the customers.
func sharedCalls(list []calls, w *loyalty.Writes) []calls {
	list = write(list, updateCoupons, sorted(w.Coupons, byCoupon))
	list = write(list, updateTallies, sorted(w.Tallies, byTally))
	return write(list, insertTallies, sorted(w.NewTallies, byKey))
}

// progressCalls change the progress of customers.
func progressCalls(list []calls, w *loyalty.Writes) []calls {
	gone := func(p *changedProgress) bool { return p.After.Data == nil }
	list = write(list, updateProgress, changed(w.Progress, func(p *changedProgress) bool { return !gone(p) }))
	list = write(list, deleteProgress, changed(w.Progress, gone))
	return write(list, updateClaims, sorted(w.RewardClaims, byClaim))
}

// opened lists the purchases to insert: new ones, and those that change hands.
func opened(w *loyalty.Writes) []loyalty.Transaction {
	if len(w.Moved) == 0 {
		return w.NewTransactions
	}
	all := w.NewTransactions[:len(w.NewTransactions):len(w.NewTransactions)]
	for i := range w.Moved {
		all = append(all, w.Moved[i].After)
	}
	return all
}
