package histories_test

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// plainEntries are entries of a contest that one account made.
type plainEntries struct {
	count int64
	burn  []plainPart
}

// plainOfferUse are the uses of an offer that stand: the purchase of each, or "".
type plainOfferUse struct {
	claimed bool
	uses    []string
}

// undo takes the last use back, or the last one for a purchase.
func (o *plainOfferUse) undo(transaction string) bool {
	for i := len(o.uses) - 1; i >= 0; i-- {
		if transaction == "" || o.uses[i] == transaction {
			o.uses = slices.Delete(o.uses, i, i+1)
			return true
		}
	}
	return false
}

// again says whether an event would change nothing, so that none is told.
func (w *plainWorld) again(c *plainCustomer, e *said) (bool, error) {
	if e.action != "offer_claim" || c.offers[e.thing] == nil || !c.offers[e.thing].claimed {
		return false, nil
	}
	err := w.offerLeft(c, e.thing)
	return err == nil, err
}

func (w *plainWorld) game(c *plainCustomer, e *said, t *told) error {
	switch e.action {
	case "contest_enter":
		return w.enter(c, e, t)
	case "contest_entry_revoke":
		return w.revokeEntries(c, e)
	case "offer_claim":
		if err := w.offerLeft(c, e.thing); err != nil {
			return err
		}
		c.offer(e.thing).claimed = true
		return nil

	case "offer_redeem":
		return w.redeemOffer(c, e.thing, "")
	case "offer_unredeem":
		switch {
		case w.rules.offers[e.thing] == nil:
			return loyalty.ErrEntityNotFound
		case c.offers[e.thing] == nil || !c.offers[e.thing].undo(""):
			return loyalty.ErrOfferNotRedeemed
		}
		w.counts["offer "+e.thing]--
		return nil

	case "challenge_reset":
		return w.resetChallenge(c, e.thing)
	}

	return w.findTreasure(c, e, t)
}

func (w *plainWorld) enter(c *plainCustomer, e *said, t *told) error {
	x, count := w.rules.contests[e.thing], int64(1)
	if x == nil {
		return loyalty.ErrEntityNotFound
	}
	if e.points != nil {
		count = *e.points
	}

	switch {
	case x.most != nil && c.entered(e.thing)+count > *x.most:
		return loyalty.ErrEntriesLimit
	case x.price > 0 && count*x.price > c.spendable():
		return loyalty.ErrNotEnoughToSpend
	}

	t.points = -count * x.price
	burn := c.draw(count*x.price, func(l *plainLot) { l.spent++ })
	list := c.entries[e.thing]
	if n := len(list); n > 0 {
		list[n-1].count += count
		list[n-1].burn = append(list[n-1].burn, burn...)
	} else {
		c.entries[e.thing] = []plainEntries{{count, burn}}
	}

	return nil
}

func (c *plainCustomer) entered(contest string) (n int64) {
	for _, made := range c.entries[contest] {
		n += made.count
	}
	return n
}

// revokeEntries takes entries back, the last ones first; with flag what they cost
// too.
func (w *plainWorld) revokeEntries(c *plainCustomer, e *said) error {
	x, has := w.rules.contests[e.thing], c.entered(e.thing)
	if x == nil {
		return loyalty.ErrEntityNotFound
	}

	count := has
	if e.points != nil {
		count = *e.points
	}
	if count == 0 || count > has {
		return loyalty.ErrEntriesTooFew
	}

	var refund *told
	list := c.entries[e.thing]
	for count > 0 {
		last := &list[len(list)-1]
		n := min(count, last.count)
		if back := min(n*x.price, c.restorable(last.burn)); e.flag && back > 0 {
			if refund == nil {
				refund = w.tell(c, "refund_contest_entry", 0)
			}
			refund.points += back
			last.burn = c.restore(last.burn, back)
		}
		count -= n
		if last.count -= n; last.count == 0 {
			list = list[:len(list)-1]
		}
	}

	if c.entries[e.thing] = list; len(list) == 0 {
		delete(c.entries, e.thing)
	}

	return nil
}

func (c *plainCustomer) offer(id string) *plainOfferUse {
	if c.offers[id] == nil {
		c.offers[id] = &plainOfferUse{}
	}
	return c.offers[id]
}

func (w *plainWorld) offerLeft(c *plainCustomer, id string) error {
	x := w.rules.offers[id]
	switch {
	case x == nil:
		return loyalty.ErrEntityNotFound
	case x.perCustomer != nil && c.offers[id] != nil && int64(len(c.offers[id].uses)) >= *x.perCustomer:
		return loyalty.ErrOfferLimit
	case x.most != nil && w.counts["offer "+id] >= *x.most:
		return loyalty.ErrOfferUsedUp
	}
	return nil
}

func (w *plainWorld) redeemOffer(c *plainCustomer, id, transaction string) error {
	if err := w.offerLeft(c, id); err != nil {
		return err
	}
	o := c.offer(id)
	o.uses = append(o.uses, transaction)
	w.counts["offer "+id]++
	return nil
}

// findTreasure finds one, once.
func (w *plainWorld) findTreasure(c *plainCustomer, e *said, t *told) error {
	x := w.rules.treasures[e.thing]
	if x == nil {
		return loyalty.ErrEntityNotFound
	}

	action := "treasure_found"
	switch {
	case x.kind == game.TreasureOffline && x.code == "":
		action = "offline_treasure_found"
	case x.kind == game.TreasureOffline:
		action = "offline_treasure_code_found"
	}

	switch {
	case e.action != action:
		return loyalty.ErrTreasureAction
	case x.code != "" && e.code == "":
		return loyalty.ErrPropertyEmpty
	case c.found[e.thing]:
		return loyalty.ErrTreasureFound
	case x.code != "" && e.code != x.code:
		return loyalty.ErrTreasureCode
	}

	w.earn(t, x.points, "")
	t.points, c.found[e.thing] = x.points, true
	return nil
}
