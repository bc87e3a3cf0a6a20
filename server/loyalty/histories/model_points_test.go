package histories_test

import (
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

func (c *plainCustomer) sum(of func(plainLot) int64) (n int64) {
	for _, l := range c.lots {
		n += of(l)
	}
	return n
}

func (c *plainCustomer) figures() points.Figures {
	f := points.Figures{
		Score: c.score, Debt: c.debt,
		Spent:    c.sum(func(l plainLot) int64 { return l.spent }),
		Reserved: c.sum(func(l plainLot) int64 { return l.held }),
		Expired:  c.sum(func(l plainLot) int64 { return l.expired }),
	}

	for _, p := range c.purchases {
		if p.state == loyalty.Pending {
			f.Pending += p.earned
		}
	}

	for _, h := range c.waiting {
		if h.event.action != "checkout" { // a purchase promises its own
			f.Pending += h.points
		}
	}

	return f
}

func (c *plainCustomer) spendable() int64 {
	f := c.figures()
	return f.Score - f.Spent - f.Reserved - f.Expired
}

func (c *plainCustomer) expiry(l plainLot) time.Time {
	if l.idle > 0 {
		return onClock(c.active.In(c.zone), 0, l.idle)
	}
	return l.expires
}

// lapse notes which lots the customer was idle for too long for, before doing something.
func (c *plainCustomer) lapse(now time.Time) {
	for i := range c.lots {
		if l := &c.lots[i]; l.idle > 0 && l.free == 0 && !c.expiry(*l).After(now) {
			l.lapsed = c.expiry(*l)
		}
	}
}

// ends is when the free points of a lot expire, looked at now: at once where the lot has expired
// already, whatever its customer did since.
func (c *plainCustomer) ends(l plainLot, now time.Time) time.Time {
	at := c.expiry(l)
	switch {
	case !l.lapsed.IsZero():
		return l.lapsed
	case l.idle > 0 && l.expired > 0 && at.After(now):
		return now
	}
	return at
}

// before is the spending order: expires_at, nulls last; earned_at; event id.
func (c *plainCustomer) before(i, k int) bool {
	x, y := c.expiry(c.lots[i]), c.expiry(c.lots[k])
	switch {
	case x.IsZero() != y.IsZero():
		return y.IsZero()
	case !x.Equal(y):
		return x.Before(y)
	case !c.lots[i].earned.Equal(c.lots[k].earned):
		return c.lots[i].earned.Before(c.lots[k].earned)
	}
	return c.lots[i].older(&c.lots[k])
}

// older is the order of the events that opened two lots. After a merge only the
// ids tell it.
func (l *plainLot) older(o *plainLot) bool {
	none := loyalty.ID{}
	if l.id != none && o.id != none {
		return loyalty.CompareID(l.id, o.id) < 0
	}
	return l.serial < o.serial
}

// lot finds a lot by its number.
func (c *plainCustomer) lot(serial int) *plainLot {
	for i := range c.lots {
		if c.lots[i].serial == serial {
			return &c.lots[i]
		}
	}
	return &plainLot{} // it was closed by a merge or a claim: nothing is left of it
}

// best is the first lot in spending order that has what is asked for; −1: none.
func (c *plainCustomer) best(has func(int, plainLot) bool) int {
	best := -1
	for i, l := range c.lots {
		if has(i, l) && (best < 0 || c.before(i, best)) {
			best = i
		}
	}
	return best
}

func (c *plainCustomer) firstFree() int {
	return c.best(func(_ int, l plainLot) bool { return l.free > 0 })
}

// pay pays debt from what is free.
func (c *plainCustomer) pay() {
	for c.debt > 0 {
		i := c.firstFree()
		if i < 0 {
			return
		}
		c.lots[i].free--
		c.debt--
	}
}

func (c *plainCustomer) draw(n int64, into func(*plainLot)) (parts []plainPart) {
	for range n {
		i := c.firstFree()
		c.lots[i].free--
		into(&c.lots[i])
		if k := len(parts) - 1; k >= 0 && parts[k].lot == c.lots[i].serial {
			parts[k].n++
		} else {
			parts = append(parts, plainPart{c.lots[i].serial, 1})
		}
	}
	return parts
}

// giveBack frees n points of parts, the last first.
func (c *plainCustomer) giveBack(parts []plainPart, n int64, from func(*plainLot) *int64) []plainPart {
	left := slices.Clone(parts)
	for i := len(left) - 1; i >= 0; i-- {
		for l := c.lot(left[i].lot); left[i].n > 0 && n > 0 && *from(l) > 0; n-- {
			*from(l)--
			l.free++
			left[i].n--
		}
	}
	return slices.DeleteFunc(left, func(p plainPart) bool { return p.n == 0 })
}

func heldOf(l *plainLot) *int64 { return &l.held }

func spentOf(l *plainLot) *int64 { return &l.spent }

func parts(all []plainPart) (n int64) {
	for _, p := range all {
		n += p.n
	}
	return n
}

// take lowers score and balance; what nothing covers becomes debt.
func (c *plainCustomer) take(n int64) {
	for range n {
		c.score--
		if i := c.firstFree(); i >= 0 {
			c.lots[i].free--
		} else {
			c.debt++
		}
	}
}

// takeBack is a refund: the purchase's own lots, then what of them had expired,
// then a debt that other points pay.
func (c *plainCustomer) takeBack(transaction string, n int64, first ...int) {
	own := func(has func(plainLot) bool) int {
		for _, lot := range first {
			if i := c.best(func(_ int, l plainLot) bool { return l.serial == lot && has(l) }); i >= 0 {
				return i
			}
		}
		return c.best(func(_ int, l plainLot) bool { return transaction != "" && l.transaction == transaction && has(l) })
	}

	for range n {
		c.score--
		if i := own(func(l plainLot) bool { return l.free > 0 }); i >= 0 {
			c.lots[i].free--
		} else if i := own(func(l plainLot) bool { return l.expired > 0 }); i >= 0 {
			c.lots[i].expired--
		} else {
			c.debt++
			c.pay()
		}
	}
}

// earn opens a lot in the name of an event, dated when what is being decided takes
// effect, and gives its number; 0: there is none.
func (w *plainWorld) earn(t *told, n int64, transaction string) int {
	if n == 0 {
		return 0
	}

	c := w.all[t.customer]
	at := c.at
	l := plainLot{serial: w.next(), transaction: transaction, earned: at, points: n, free: n}
	local := at.In(w.rules.zone)
	switch w.rules.expiry {
	case points.ExpiryRolling:
		l.expires = onClock(local, 0, w.rules.days)
	case points.ExpiryLastActivity:
		l.idle = w.rules.days
	case points.ExpiryCalendar:
		y, m, d := local.Date()
		for {
			day := time.Date(y, m, d, 0, 0, 0, 0, w.rules.zone)
			d++
			if day.Month() == w.rules.month && day.Day() == w.rules.day {
				l.expires = time.Date(y, m, d, 0, 0, 0, 0, w.rules.zone)
				break
			}
		}

	case points.ExpiryAnniversary:
		for years := 1; !l.expires.After(at); years++ {
			l.expires = onClock(c.created.In(w.rules.zone), years, 0)
		}
	}

	t.lot = l.serial
	c.lots = append(c.lots, l)
	c.score += n
	return l.serial
}

// onClock adds years and days on the clocks of t's zone. A time that
// the clocks skip is the moment at which they skip it.
func onClock(t time.Time, years, days int) time.Time {
	shows := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	}
	want, at := shows(t).AddDate(years, 0, days), t.AddDate(years, 0, days)
	for shows(at).Before(want) {
		at = at.Add(time.Minute)
	}

	for !shows(at.Add(-time.Minute)).Before(want) {
		at = at.Add(-time.Minute)
	}

	if !shows(at).Equal(want) {
		at = at.Truncate(time.Minute) // clocks skip at a full one
	}

	return at
}

// plainDue is something that a date makes happen.
type plainDue struct {
	at   time.Time
	what string // expiry, purchase, tier or held: in this order at one instant
	id   string // of the purchase or structure
	held int    // the number of the held event
}

// due is what happens next by itself; its instant is zero where nothing does.
func (w *plainWorld) due(c *plainCustomer) (next plainDue) {
	if c.status == loyalty.Merged {
		return next
	}

	add := func(d plainDue) {
		if !d.at.IsZero() && (next.at.IsZero() || d.at.Before(next.at)) {
			next = d
		}
	}

	for _, l := range c.lots {
		if l.free > 0 {
			add(plainDue{at: c.expiry(l), what: "expiry"})
		}
	}

	for _, id := range slices.Sorted(maps.Keys(c.purchases)) {
		if p := c.purchases[id]; p.state == loyalty.Pending {
			add(plainDue{at: p.auto, what: "purchase", id: id})
		}
	}

	for _, s := range w.rules.structures {
		add(plainDue{at: c.tiers[s.id].due, what: "tier", id: s.id})
	}

	for _, h := range c.waiting {
		add(plainDue{at: h.expires, what: "held", held: h.serial})
	}

	return next
}

// settle applies what came due, instant by instant.
func (w *plainWorld) settle(c *plainCustomer) {
	// What is being decided is not reacted to before it is.
	before := w.waits
	parent := w.parent
	w.waits, w.parent = len(w.told), 0
	defer func() { w.waits, w.parent = before, parent }()
	for {
		c.pay()
		d := w.due(c)
		if d.at.IsZero() || d.at.After(w.now) {
			w.react()
			return
		}

		if d.what == "expiry" {
			w.expire(c, d.at)
			continue
		}

		was := c.at
		c.at = d.at
		switch d.what {
		case "purchase":
			w.acceptOnTime(c, d.id)
		case "tier":
			w.recalculate(c, d.id)
		case "held":
			w.expireHeld(c, d.held)
		}

		w.react()
		w.expire(c, d.at) // what came back to lots that have expired
		c.at = was
	}
}

// expire lets the free points of lots expire whose time has come: one event for
// each instant.
func (w *plainWorld) expire(c *plainCustomer, now time.Time) {
	c.pay()
	for {
		var at time.Time
		for _, l := range c.lots {
			if e := c.ends(l, now); l.free > 0 && !e.IsZero() && !e.After(now) && (at.IsZero() || e.Before(at)) {
				at = e
			}
		}

		if at.IsZero() {
			return
		}

		t := w.tell(c, "point_expire", 0)
		t.parent, t.at = 0, at
		for i := range c.lots {
			if l := &c.lots[i]; l.free > 0 && c.ends(*l, now).Equal(at) {
				t.points -= l.free
				l.expired += l.free
				l.free = 0
			}
		}
	}
}

func (c *plainCustomer) unspend(n int64) error {
	if n > c.figures().Spent {
		return loyalty.ErrUnspendTooMuch
	}
	for range n {
		c.free()
	}
	return nil
}

// free frees a spent point, of the last lot in spending order that has one.
func (c *plainCustomer) free() {
	last := -1
	for i, l := range c.lots {
		if l.spent > 0 && (last < 0 || c.before(last, i)) {
			last = i
		}
	}
	c.lots[last].spent--
	c.lots[last].free++
}

// restorable is what of a burn was not given back by other means.
func (c *plainCustomer) restorable(burn []plainPart) int64 {
	return min(parts(burn), c.figures().Spent)
}

// restore gives back n points of a burn: to its lots, and where unspend freed those in place of
// others, to the others.
func (c *plainCustomer) restore(burn []plainPart, n int64) []plainPart {
	all := parts(burn)
	left := c.giveBack(burn, n, spentOf)
	over := parts(left) - (all - n)
	for range over {
		c.free()
		left[len(left)-1].n--
		left = slices.DeleteFunc(left, func(p plainPart) bool { return p.n == 0 })
	}
	return left
}

func (c *plainCustomer) release(e *said) (int64, error) {
	hold := c.holds[e.transaction]
	n := parts(hold)
	if n == 0 {
		return 0, loyalty.ErrReservationNotFound
	}
	if e.points != nil {
		if *e.points > n {
			return 0, loyalty.ErrReleaseTooMuch
		}
		n = *e.points
	}
	c.holds[e.transaction] = c.giveBack(hold, n, heldOf)
	return n, nil
}
