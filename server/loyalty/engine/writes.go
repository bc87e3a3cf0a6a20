package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Writes collects the final rows, one for each key even if several events changed it, because guards compare with the
// loaded rows: a second write of a row by the same batch would fail at the guard.
func (b *batch) Writes() *loyalty.Writes {
	if b.reading {
		return &loyalty.Writes{}
	}

	b.writeCustomers()
	for _, id := range b.touched {
		b.accounts[id].write(&b.writes)
	}
	b.writeCoupons()
	b.writeTallies()
	b.writeGifts()
	return &b.writes
}

// writeCustomers adds the customers, loaded ones in the order of their locks. Sorting them afterwards would copy them,
// and they are the largest rows of a batch.
func (b *batch) writeCustomers() {
	w := &b.writes
	known := make([]loyalty.ID, 0, len(b.touched))
	for _, id := range b.touched {
		if a := b.accounts[id]; a.loaded == nil {
			w.NewCustomers = append(w.NewCustomers, a.customer)
		} else {
			known = append(known, id)
		}
	}

	if len(known) == 0 {
		return
	}

	slices.SortFunc(known, loyalty.CompareID)
	w.Customers = make([]loyalty.Changed[loyalty.Customer], len(known))
	for i, id := range known {
		a, c := b.accounts[id], &w.Customers[i]
		c.Before, c.After = a.loaded.Customer, a.customer
	}
}

// write adds the account's other final rows to the batch's writes.
func (a *account) write(w *loyalty.Writes) {
	id := a.customer.ID
	for _, p := range a.postings {
		w.Postings = append(w.Postings, loyalty.CustomerPosting{Customer: id, Posting: p})
	}

	if a.destroyKey {
		w.DestroyKeys = append(w.DestroyKeys, id)
	}

	w.Freed = append(w.Freed, a.freed...)
	a.writeLots(w)
	a.writeTransactions(w)
	a.writeReservations(w)
	a.writeProgress(w)
	a.writeClaims(w)
	w.Moved = append(w.Moved, a.moved...)
}

// writeLots adds the lots that changed: an event reads all lots that may pay and moves points of few. Each is written
// under a guard of its loaded state.
func (a *account) writeLots(w *loyalty.Writes) {
	known := a.was().Lots // copies keep their order: these come first
	for i, before := range known {
		if after := *a.lots[i]; after != before {
			w.Lots = append(w.Lots,
				loyalty.Changed[loyalty.CustomerLot]{Before: loyalty.CustomerLot{Customer: a.customer.ID, Lot: before},
					After: loyalty.CustomerLot{Customer: a.customer.ID, Lot: after}})
		}
	}
	for _, l := range a.lots[len(known):] {
		w.NewLots = append(w.NewLots, loyalty.CustomerLot{Customer: a.customer.ID, Lot: *l})
	}
}

// writeTransactions adds the purchases that changed. A rule that changes a purchase marks it, because comparing
// documents of up to thousands of lines would take long.
func (a *account) writeTransactions(w *loyalty.Writes) {
	for _, name := range slices.Sorted(maps.Keys(a.transactions)) {
		after := a.transactions[name]
		if before, ok := a.was().Transactions[name]; !ok {
			w.NewTransactions = append(w.NewTransactions, *after)
		} else if after.Dirty {
			w.Transactions = append(w.Transactions, loyalty.Changed[loyalty.Transaction]{Before: before, After: *after})
		}
	}
}

// writeReservations adds the holds that changed. A hold that ended is written as an empty one: the store deletes its
// row under the same guard, so that two releases of one hold cannot both succeed.
func (a *account) writeReservations(w *loyalty.Writes) {
	for _, name := range slices.Sorted(maps.Keys(a.reservations)) {
		after := a.reservations[name]
		before, ok := a.was().Reservations[name]
		switch {
		case ok && !slices.Equal(before.Hold, after.Hold):
			w.Reservations = append(w.Reservations, loyalty.Changed[loyalty.Reservation]{Before: before, After: *after})
		case !ok && len(after.Hold) > 0:
			w.NewReservations = append(w.NewReservations, *after)
		}
	}
}

// writeProgress adds the progress that changed. Progress that was created and removed within the
// batch never had a row.
func (a *account) writeProgress(w *loyalty.Writes) {
	for _, key := range slices.SortedFunc(maps.Keys(a.progress), loyalty.CompareProgress) {
		after := a.progress[key]
		if !after.Dirty {
			continue
		}
		if before, ok := a.was().Progress[key]; ok {
			w.Progress = append(w.Progress, loyalty.Changed[loyalty.Progress]{Before: before, After: *after})
		} else if after.Data != nil {
			w.NewProgress = append(w.NewProgress, *after)
		}
	}
}

// writeClaims adds the claims that changed.
func (a *account) writeClaims(w *loyalty.Writes) {
	for _, id := range slices.SortedFunc(maps.Keys(a.claims), loyalty.CompareID) {
		after := a.claims[id]
		if !after.Dirty {
			continue
		}
		if before, ok := a.was().Claims[id]; ok {
			w.RewardClaims = append(w.RewardClaims, loyalty.Changed[loyalty.RewardClaim]{Before: before, After: *after})
		} else {
			w.NewRewardClaims = append(w.NewRewardClaims, *after)
		}
	}
}

// writeCoupons adds the coupons that changed.
func (b *batch) writeCoupons() {
	for _, id := range slices.SortedFunc(maps.Keys(b.changed), loyalty.CompareID) {
		after := *b.coupons[id]
		if before, ok := b.storedCoupon(id); ok {
			b.writes.Coupons = append(b.writes.Coupons, loyalty.Changed[loyalty.Coupon]{Before: before, After: after})
		} else {
			b.writes.NewCoupons = append(b.writes.NewCoupons, after)
		}
	}
}

// storedCoupon returns a coupon as it was loaded, by its code or from a pool.
func (b *batch) storedCoupon(id loyalty.ID) (loyalty.Coupon, bool) {
	if c, ok := b.loaded.Coupons[id]; ok {
		return c, true
	}
	for _, free := range b.loaded.Free {
		if i := slices.IndexFunc(free, func(c loyalty.Coupon) bool { return c.ID == id }); i >= 0 {
			return free[i], true
		}
	}
	return loyalty.Coupon{}, false
}

// writeTallies adds the counts that changed.
func (b *batch) writeTallies() {
	for _, key := range slices.Sorted(maps.Keys(b.tallies)) {
		after := b.tallies[key]
		switch before, known := b.loaded.Tallies[key]; {
		case !known && after != 0:
			b.writes.NewTallies = append(b.writes.NewTallies, loyalty.Tally{Key: key, Count: after})
		case known && before != after:
			b.writes.Tallies = append(b.writes.Tallies,
				loyalty.Changed[loyalty.Tally]{Before: loyalty.Tally{Key: key, Count: before},
					After: loyalty.Tally{Key: key, Count: after}})
		}
	}
}

// noteGifts adds the campaign awards of an event to the batch. They are summed by campaign, so that a purchase of
// thousands of lines makes one row of figures.
func (b *batch) noteGifts(e *loyalty.Event) {
	if e.Effects == nil {
		return
	}
	for _, x := range e.Effects.Campaigns {
		if b.gifts == nil {
			b.gifts = map[giftKey]*loyalty.CampaignFigures{}
		}
		key := giftKey{e.Customer, x.Campaign}
		if b.gifts[key] == nil {
			b.gifts[key] = &loyalty.CampaignFigures{}
		}
		b.gifts[key].Add(loyalty.FiguresOf(e, x))
	}
}

// writeGifts adds the sums of campaign awards.
func (b *batch) writeGifts() {
	for key, figures := range b.gifts {
		b.writes.CampaignGifts = append(b.writes.CampaignGifts,
			loyalty.CampaignGift{Customer: key.customer, Campaign: key.campaign, CampaignFigures: *figures})
	}
	slices.SortFunc(b.writes.CampaignGifts, func(x, y loyalty.CampaignGift) int {
		return cmp.Or(cmp.Compare(x.Campaign, y.Campaign), loyalty.CompareID(x.Customer, y.Customer))
	})
}
