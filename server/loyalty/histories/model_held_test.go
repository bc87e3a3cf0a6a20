package histories_test

import (
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// plainHeld is an event that waits for its validation.
type plainHeld struct {
	serial          int
	id              loyalty.ID // as stored, once it was seen there
	event           said
	points, dropped int64
	expires         time.Time
}

// byAge is the order of the held events' ids, which alone tells it where two
// customers became one.
func byAge(a, b plainHeld) int {
	none := loyalty.ID{}
	if a.id != none && b.id != none {
		return loyalty.CompareID(a.id, b.id)
	}
	return a.serial - b.serial
}

// hold records an event without its effect. What would be refused is refused; a
// purchase is made, as a pending one.
func (w *plainWorld) hold(c *plainCustomer, e *said, t *told) error {
	t.held = true
	h := plainHeld{serial: w.next(), event: *e}
	if e.action == "checkout" {
		if err := w.checkout(c, e, t); err != nil {
			return err
		}
		h.points = c.purchases[e.transaction].earned
	} else {
		trial := w.clone()
		k := trial.all[c.index]
		if err := trial.apply(k, e, trial.tell(k, e.action, 0)); err != nil {
			return err
		}
		h.points = max(0, k.score-c.score)
	}

	h.expires = w.now.AddDate(0, 0, w.rules.heldDays)
	w.tell(c, "pending", h.points)
	t.waiting = h.serial
	c.waiting = append(c.waiting, h)
	return nil
}

// decideHeld decides the events that settle what waits.
func (w *plainWorld) decideHeld(c *plainCustomer, e *said, t *told) error {
	if e.action == "pending_expired" {
		return w.dropPoints(c, *e.points)
	}

	i := slices.IndexFunc(c.waiting, func(h plainHeld) bool { return h.serial == e.ref })
	if i < 0 {
		return loyalty.ErrHeldNotFound
	}

	h := c.waiting[i]
	if p := c.purchases[h.event.transaction]; h.event.action == "checkout" && (p == nil || p.state != loyalty.Pending) {
		return loyalty.ErrHeldNotFound // decided by other means
	}

	c.waiting = slices.Delete(slices.Clone(c.waiting), i, i+1)
	if e.action == "pending_invalidate" {
		w.drop(c, h, t)
		return nil
	}

	t.as, t.about = h.event.action, h.event.transaction
	if h.event.action == "checkout" {
		w.accept(c, h.event.transaction, t)
		return nil
	}

	if err := w.gate(&h.event); err != nil {
		return err
	}
	if err := w.standing(c, &h.event); err != nil {
		return err
	}

	before := c.score
	if err := w.apply(c, &h.event, t); err != nil {
		return err
	}

	if n := min(h.dropped, max(0, c.score-before)); n > 0 {
		first := c.lots[len(c.lots)-1].serial // the event's own
		if h.event.action == "checkout_claim" {
			first = 0 // it has none: each line's points are a lot
		}
		c.takeBack(h.event.transaction, n, first)
		t.points -= n
	}

	return nil
}

// drop lets a held event never happen.
func (w *plainWorld) drop(c *plainCustomer, h plainHeld, t *told) {
	if p := c.purchases[h.event.transaction]; h.event.action == "checkout" && p != nil && p.state == loyalty.Pending {
		w.reject(c, h.event.transaction, t)
		t.about = ""
	}
}

func (w *plainWorld) expireHeld(c *plainCustomer, serial int) {
	i := slices.IndexFunc(c.waiting, func(h plainHeld) bool { return h.serial == serial })
	h := c.waiting[i]
	c.waiting = slices.Delete(slices.Clone(c.waiting), i, i+1)
	w.drop(c, h, w.tell(c, "pending_expired", 0))
}

// dropPoints drops promised points, the oldest first.
func (w *plainWorld) dropPoints(c *plainCustomer, n int64) error {
	var pending int64
	for i, h := range c.waiting {
		if p := c.purchases[h.event.transaction]; h.event.action == "checkout" && (p == nil || p.state != loyalty.Pending) {
			c.waiting[i].points = 0 // settled by other means
		}
		pending += c.waiting[i].points
	}

	if n > pending {
		return loyalty.ErrPendingTooMuch
	}

	for _, h := range slices.Clone(c.waiting) {
		k := min(n, h.points)
		i := slices.IndexFunc(c.waiting, func(o plainHeld) bool { return o.serial == h.serial })
		if k == 0 {
			continue
		}

		switch k {
		case h.points:
			c.waiting = slices.Delete(slices.Clone(c.waiting), i, i+1)
			w.drop(c, h, w.told[len(w.told)-1])
		default:
			c.waiting[i].points -= k
			c.waiting[i].dropped += k
			if p := c.purchases[h.event.transaction]; h.event.action == "checkout" && p != nil && p.state == loyalty.Pending {
				p.reduce(k)
			}
		}

		n -= k
	}

	return nil
}

// reduce takes points off what a purchase promises: those of no line first.
func (p *plainPurchase) reduce(n int64) {
	own := p.earned
	for _, l := range p.lines {
		own -= l.points
	}
	p.earned -= n
	n -= min(n, own)
	for i := range p.lines {
		k := min(n, p.lines[i].points)
		p.lines[i].points -= k
		n -= k
	}
}

// claimPurchase makes a guest's purchase this customer's, with what its lots still
// have.
func (w *plainWorld) claimPurchase(c *plainCustomer, e *said, t *told) error {
	row, taken := w.owners[e.transaction]
	if !taken {
		return loyalty.ErrTransactionNotFound
	}

	g := w.survivor(row)
	w.other(g, c)
	p := g.purchases[e.transaction]
	if g == c || g.status != loyalty.Inactive || p == nil || p.row != g.index {
		return loyalty.ErrTransactionNotFound
	}

	gone := w.tell(g, "point_sub", 0)
	left := slices.Clone(g.lots)
	g.lots = nil
	for _, l := range left {
		n := l.free + l.held + l.spent + l.expired
		if l.transaction != e.transaction || n == 0 {
			g.lots = append(g.lots, l)
			continue
		}

		come := w.tell(c, "point_add", l.free)
		gone.points -= l.free
		t.points += l.free
		was := l.serial
		l.serial, l.id = w.next(), loyalty.ID{}
		come.lot = l.serial
		c.lots = append(c.lots, l)
		g.score -= n
		c.score += n
		for i := range p.lines {
			if p.lines[i].lot == was {
				p.lines[i].lot = l.serial
			}
		}
	}

	for _, id := range p.offers {
		if g.offers[id] != nil && g.offers[id].undo(e.transaction) {
			o := c.offer(id)
			o.uses = append(o.uses, e.transaction)
		}
	}

	delete(g.purchases, e.transaction)
	p.row = c.index
	c.purchases[e.transaction], w.owners[e.transaction] = p, c.index
	for i, h := range g.waiting {
		if p.state == loyalty.Pending && h.event.action == "checkout" && h.event.transaction == e.transaction {
			g.waiting = slices.Delete(slices.Clone(g.waiting), i, i+1)
			c.waiting = append(c.waiting, h)
			slices.SortFunc(c.waiting, byAge)
			break
		}
	}

	return nil
}

// merge makes another customer part of this one: all that they had is this one's.
func (w *plainWorld) merge(c *plainCustomer, e *said, t *told) error {
	i, known := w.names[e.target]
	if c != w.all[w.names[e.customer]] {
		return loyalty.ErrWrongStatus
	}
	if !known {
		return loyalty.ErrCustomerNotFound
	}

	w.other(w.survivor(i), c)
	s := w.all[i]
	switch {
	case s.into >= 0:
		return loyalty.ErrForbiddenState
	case s == c:
		return loyalty.ErrMergeSelf
	}

	t.points = s.spendable()
	s.status, s.into = loyalty.Merged, c.index
	c.lots, s.lots = append(c.lots, s.lots...), nil
	c.score, c.debt, s.score, s.debt = c.score+s.score, c.debt+s.debt, 0, 0
	for id, hold := range s.holds {
		c.holds[id] = append(slices.Clone(c.holds[id]), hold...)
	}

	for id, p := range s.purchases {
		c.purchases[id] = p
	}

	s.holds, s.purchases = nil, nil
	for _, k := range w.coupons {
		if k.owner == s.index {
			k.owner = c.index
		}
	}

	c.join(s)
	return nil
}

// join adds what two accounts of one person stand for.
func (c *plainCustomer) join(s *plainCustomer) {
	for id, n := range s.claimed {
		c.claimed[id] += n
	}

	for id, list := range s.received {
		c.received[id] = append(c.received[id], list...)
	}

	for id := range s.found {
		c.found[id] = true
	}

	for id, list := range s.entries {
		c.entries[id] = append(c.entries[id], list...)
	}

	for id, o := range s.offers {
		mine := c.offer(id)
		mine.claimed, mine.uses = mine.claimed || o.claimed, append(slices.Clone(o.uses), mine.uses...)
	}

	for id, n := range s.gifts {
		c.gifts[id] += n
	}

	for id, p := range s.challenges {
		mine := c.challenges[id]
		if mine == nil {
			c.challenges[id] = p
			continue
		}
		mine.completions += p.completions
		mine.slots, mine.done = append(mine.slots, p.slots...), append(slices.Clone(p.done), mine.done...)
		for i := range mine.counts {
			mine.counts[i] += p.counts[i]
		}
	}

	for id, tier := range s.tiers {
		c.tiers[id] = c.tiers[id].join(tier)
	}

	c.games.join(s.games)
	s.games = newPlainGames()
	c.waiting = append(c.waiting, s.waiting...)
	slices.SortFunc(c.waiting, byAge)
	if c.bonus == nil {
		c.bonus = s.bonus
	}

	s.claimed, s.received, s.found, s.entries, s.offers = nil, nil, nil, nil, nil
	s.gifts, s.challenges, s.tiers, s.waiting, s.bonus = nil, nil, nil, nil, nil
}
