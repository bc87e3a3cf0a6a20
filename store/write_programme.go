package store

import (
	"cmp"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

type (
	changedProgress = loyalty.Changed[loyalty.Progress]
	changedClaim    = loyalty.Changed[loyalty.RewardClaim]
	changedCoupon   = loyalty.Changed[loyalty.Coupon]
	changedTally    = loyalty.Changed[loyalty.Tally]
)

// The orders in which all batches take the locks of what customers share.
func byCoupon(a, b changedCoupon) int { return loyalty.CompareID(a.Before.ID, b.Before.ID) }
func byTally(a, b changedTally) int   { return cmp.Compare(a.Before.Key, b.Before.Key) }
func byKey(a, b loyalty.Tally) int    { return cmp.Compare(a.Key, b.Key) }

func byClaim(a, b changedClaim) int {
	return cmp.Or(loyalty.CompareID(a.Before.Customer, b.Before.Customer), loyalty.CompareID(a.Before.ID, b.Before.ID))
}

// sharedCalls change what customers share. A batch that lost before locks the
// same rows ahead of its load, hence these come right after the customers.
func sharedCalls(list []calls, w *loyalty.Writes) []calls {
	list = write(list, updateCoupons, sorted(w.Coupons, byCoupon))
	list = write(list, updateTallies, sorted(w.Tallies, byTally))
	return write(list, insertTallies, sorted(w.NewTallies, byKey))
}

// progressCalls change what the programme keeps of customers.
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

var (
	insertProgress = inserts(`INSERT INTO progress (customer_id, kind, key, data, due_at) SELECT * FROM v`,
		progressFields(func(p *loyalty.Progress) *loyalty.Progress { return p })...)
	updateProgress = guards(`UPDATE progress AS p SET data = v.data, due_at = v.due_at FROM v
 WHERE p.customer_id = v.customer_id AND p.kind = v.kind AND p.key = v.key AND p.data = v.was`, append(
		progressFields(func(p *changedProgress) *loyalty.Progress { return &p.After }), progressBefore)...)
	deleteProgress = guards(`DELETE FROM progress WHERE (customer_id, kind, key, data) IN (SELECT customer_id, kind, key, was FROM v)`,
		append(progressFields(func(p *changedProgress) *loyalty.Progress { return &p.Before })[:3:3], progressBefore)...)

	progressBefore = field[changedProgress]{"was", "text", func(p *changedProgress) any { return Raw(p.Before.Data) }}
)

func progressFields[T any](of func(*T) *loyalty.Progress) []field[T] {
	return []field[T]{
		{"customer_id", "uuid", func(t *T) any { return (*UUID)(&of(t).Customer) }},
		{"kind", "smallint", func(t *T) any { return number(of(t).Kind) }},
		{"key", "text", func(t *T) any { return (*plain)(&of(t).Key) }},
		{"data", "text", func(t *T) any { return (*Raw)(&of(t).Data) }},
		{"due_at", "bigint", func(t *T) any { return (*Millis)(&of(t).DueAt) }},
	}
}

var (
	insertClaims = inserts(`INSERT INTO claims (customer_id, id, reward, state, points, award, coupon, claimed_at, updated_at, burn) SELECT * FROM v`,
		claimedFields(func(c *loyalty.RewardClaim) *loyalty.RewardClaim { return c })...)
	updateClaims = guards(`UPDATE claims AS k SET reward = v.reward, state = v.state, points = v.points, award = v.award, coupon = v.coupon,
 claimed_at = v.claimed_at, updated_at = v.updated_at, burn = v.burn
 FROM v WHERE k.customer_id = v.customer_id AND k.id = v.id AND k.state = v.was_state AND k.updated_at = v.was_updated`, append(
		claimedFields(func(c *changedClaim) *loyalty.RewardClaim { return &c.After }),
		field[changedClaim]{"was_state", "text", func(c *changedClaim) any { return (*plain)(&c.Before.State) }},
		field[changedClaim]{"was_updated", "bigint", func(c *changedClaim) any { return (*Millis)(&c.Before.UpdatedAt) }})...)
)

func claimedFields[T any](of func(*T) *loyalty.RewardClaim) []field[T] {
	return []field[T]{
		{"customer_id", "uuid", func(t *T) any { return (*UUID)(&of(t).Customer) }},
		{"id", "uuid", func(t *T) any { return (*UUID)(&of(t).ID) }},
		{"reward", "text", func(t *T) any { return (*plain)(&of(t).Reward) }},
		{"state", "text", func(t *T) any { return (*plain)(&of(t).State) }},
		{"points", "bigint", func(t *T) any { return (*number)(&of(t).Points) }},
		{"award", "bigint", func(t *T) any { return (*number)(&of(t).Award) }},
		{"coupon", "text", func(t *T) any { return (*Text)(&of(t).Coupon) }},
		{"claimed_at", "bigint", func(t *T) any { return (*Millis)(&of(t).ClaimedAt) }},
		{"updated_at", "bigint", func(t *T) any { return (*Millis)(&of(t).UpdatedAt) }},
		{"burn", "text", func(t *T) any { return documentOf(of(t).Burn) }},
	}
}

var (
	insertTallies = inserts(`INSERT INTO tallies (key, count) SELECT * FROM v`,
		field[loyalty.Tally]{"key", "text", func(t *loyalty.Tally) any { return (*plain)(&t.Key) }},
		field[loyalty.Tally]{"count", "bigint", func(t *loyalty.Tally) any { return (*number)(&t.Count) }})
	updateTallies = guards(`UPDATE tallies AS t SET count = v.count FROM v WHERE t.key = v.key AND t.count = v.was`,
		field[changedTally]{"key", "text", func(t *changedTally) any { return (*plain)(&t.Before.Key) }},
		field[changedTally]{"count", "bigint", func(t *changedTally) any { return (*number)(&t.After.Count) }},
		field[changedTally]{"was", "bigint", func(t *changedTally) any { return (*number)(&t.Before.Count) }})
)
