package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The calls of a load for the progress of customers and for the rows that customers share.

// poolKey is a pool, and how many of its free codes are wanted.
type poolKey struct {
	pool string
	n    int
}

// pool adds to the number of codes wanted from a pool.
func (q *loadPlan) pool(name string, n int) {
	if i := slices.IndexFunc(q.pools, func(p poolKey) bool { return p.pool == name }); i >= 0 {
		q.pools[i].n += n
		return
	}
	q.pools = append(q.pools, poolKey{name, n})
}

// sortPools sorts pools in the order in which all batches lock them, so that two batches cannot wait for each other.
func (q *loadPlan) sortPools() {
	slices.SortFunc(q.pools, func(a, b poolKey) int { return cmp.Compare(a.pool, b.pool) })
}

func (l *loader) progress(list []calls, s *statement[rowKey], wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}

	var p loyalty.Progress
	return read(list, s, wanted, progressTable.into(&p), func() error {
		loading := l.out.Customers[p.Customer]
		if loading == nil {
			return nil
		}
		if loading.Progress == nil {
			loading.Progress = map[loyalty.ProgressKey]loyalty.Progress{}
		}
		loading.Progress[p.ProgressKey] = p
		return nil
	})
}

func (l *loader) claims(list []calls, s *statement[rowKey], wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}

	var holder UUID
	var c loyalty.RewardClaim
	return read(list, s, l.owners(wanted), claimTable.into(&c, &holder), func() error {
		loading := l.out.Customers[loyalty.ID(holder)]
		if loading == nil {
			return nil
		}
		if loading.Claims == nil {
			loading.Claims = map[loyalty.ID]loyalty.RewardClaim{}
		}
		loading.Claims[c.ID] = c
		return nil
	})
}

// codes reads which coupons a customer has claimed.
func (l *loader) codes(list []calls, s *statement[rowKey], wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}

	var holder UUID
	var code string
	var expires Millis
	return read(list, s, l.owners(wanted), []any{&holder, &code, &expires}, func() error {
		loading := l.out.Customers[loyalty.ID(holder)]
		if loading == nil {
			return nil
		}
		if loading.Codes == nil {
			loading.Codes = map[string]time.Time{}
		}
		loading.Codes[code] = expires.Time()
		return nil
	})
}

// journal reads what events did to the score and to purchases. Events of merged customers count for their purchases
// only, because the merge itself carried the score over.
func (l *loader) journal(list []calls, s *statement[rowKey], wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}

	var holder, customer, id UUID
	var at Millis
	var transaction, currency Text
	var score int64
	var effects Document[struct {
		Transaction *loyalty.TransactionEffect `json:"transaction"`
		Booked      time.Time                  `json:"booked"`
	}]

	into := []any{&holder, &customer, &id, &at, &transaction, &effects, (*number)(&score), &currency}
	return read(list, s, l.owners(wanted), into, func() error {
		if customer != holder {
			score = 0
		}
		if score == 0 && effects.V.Transaction == nil {
			return nil
		}
		if l.past == nil {
			l.past = map[loyalty.ID][]loyalty.PastEntry{}
		}
		l.past[loyalty.ID(holder)] = append(l.past[loyalty.ID(holder)], loyalty.PastEntry{
			Event: loyalty.ID(id), At: at.Time(), Booked: effects.V.Booked, Score: score, Transaction: string(transaction), Currency: string(currency), Effect: effects.V.Transaction,
		})
		return nil
	})
}

// sharePast passes on the past, oldest entry first, each once.
func (l *loader) sharePast() {
	for id, rows := range l.past {
		loading := l.out.Customers[id]
		if loading == nil {
			continue
		}
		slices.SortFunc(rows, func(a, b loyalty.PastEntry) int {
			return cmp.Or(a.At.Compare(b.At), loyalty.CompareID(a.Event, b.Event))
		})
		loading.Past = slices.CompactFunc(rows, func(a, b loyalty.PastEntry) bool { return a.Event == b.Event })
	}
}

// everything reads what a merge moves, except what has its own statements.
func (l *loader) everything(list []calls, w lookup, wanted []rowKey) []calls {
	if len(wanted) == 0 {
		return list
	}

	l.twice = true // the lots of a purchase may have been requested as well
	list = l.lots(list, selectExpiredLots[w], wanted)
	list = l.reservations(list, selectAllReservations[w], wanted)
	list = l.progress(list, selectAllProgress[w], wanted)
	list = l.transactions(list, selectPending[w], l.owners(wanted))
	var id, source UUID
	return read(list, selectSources[w], l.owners(wanted), []any{&id, &source}, func() error {
		loading := l.out.Customers[loyalty.ID(id)]
		if loading != nil && !slices.Contains(loading.Sources, loyalty.ID(source)) {
			loading.Sources = append(loading.Sources, loyalty.ID(source))
			slices.SortFunc(loading.Sources, loyalty.CompareID)
		}
		return nil
	})
}

// shared reads rows that belong to no customer: coupons, pools, counts.
func (l *loader) shared(list []calls, q *loadPlan) []calls {
	if len(q.coupons) > 0 {
		var name plain
		var c loyalty.Coupon
		list = read(list, selectCoupons, q.coupons, couponTable.into(&c, &name), func() error {
			l.out.Coupons[c.ID], l.out.Names[loyalty.Name{Kind: loyalty.NameCoupon, Value: string(name)}] = c, c.ID
			return nil
		})
	}

	if len(q.pools) > 0 {
		var c loyalty.Coupon
		list = read(list, selectFree, q.pools, couponTable.into(&c), func() error {
			l.out.Free[c.Pool] = append(l.out.Free[c.Pool], c)
			return nil
		})
	}

	if len(q.tallies) > 0 {
		var t loyalty.Tally
		list = read(list, selectTallies, q.tallies, tallyTable.into(&t), func() error {
			l.out.Tallies[t.Key] = t.Count
			return nil
		})
	}

	return list
}
