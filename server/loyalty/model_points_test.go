package loyalty_test

import (
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

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
	return f
}

func (c *plainCustomer) spendable() int64 {
	f := c.figures()
	return f.Score - f.Spent - f.Reserved - f.Expired
}

func (c *plainCustomer) expiry(l plainLot) time.Time {
	if l.idle > 0 {
		return c.active.AddDate(0, 0, l.idle)
	}
	return l.expires
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
	return i < k
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
		if k := len(parts) - 1; k >= 0 && parts[k].lot == i {
			parts[k].n++
		} else {
			parts = append(parts, plainPart{i, 1})
		}
	}
	return parts
}

// giveBack frees n points of parts, the last first.
func (c *plainCustomer) giveBack(parts []plainPart, n int64, from func(*plainLot) *int64) []plainPart {
	left := slices.Clone(parts)
	for i := len(left) - 1; i >= 0; i-- {
		for left[i].n > 0 && n > 0 && *from(&c.lots[left[i].lot]) > 0 {
			*from(&c.lots[left[i].lot])--
			c.lots[left[i].lot].free++
			left[i].n--
			n--
		}
	}
	return slices.DeleteFunc(left, func(p plainPart) bool { return p.n == 0 })
}

func heldOf(l *plainLot) *int64  { return &l.held }
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
func (c *plainCustomer) takeBack(transaction string, first int64, n int64) {
	own := func(l plainLot) bool { return l.transaction == transaction }
	choices := []func(int, plainLot) bool{
		func(i int, l plainLot) bool { return int64(i) == first && l.free > 0 },
		func(_ int, l plainLot) bool { return own(l) && l.free > 0 },
		func(i int, l plainLot) bool { return int64(i) == first && l.expired > 0 },
		func(_ int, l plainLot) bool { return own(l) && l.expired > 0 },
	}
next:
	for range n {
		c.score--
		for k, has := range choices {
			i := c.best(has)
			if i < 0 {
				continue
			}
			if k < 2 {
				c.lots[i].free--
			} else {
				c.lots[i].expired--
			}
			continue next
		}
		c.debt++
		c.pay()
	}
}

// earn opens a lot dated at.
func (w *plainWorld) earn(c *plainCustomer, n int64, at time.Time, transaction string) int64 {
	if n == 0 {
		return -1
	}
	l := plainLot{transaction: transaction, earned: at, points: n, free: n}
	local := at.In(w.rules.zone)
	switch w.rules.expiry {
	case points.ExpiryRolling:
		l.expires = w.onClock(local, 0, w.rules.days)
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
			l.expires = w.onClock(c.created.In(w.rules.zone), years, 0)
		}
	}
	c.lots = append(c.lots, l)
	c.score += n
	return int64(len(c.lots) - 1)
}

// onClock adds years and days on the clocks of the programme's zone. A time that
// the clocks skip is the moment at which they skip it.
func (w *plainWorld) onClock(t time.Time, years, days int) time.Time {
	shows := func(t time.Time) time.Time {
		t = t.In(w.rules.zone)
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	}
	want, at := shows(t).AddDate(years, 0, days), t.AddDate(years, 0, days)
	for shows(at).Before(want) {
		at = at.Add(time.Minute)
	}
	for !shows(at.Add(-time.Minute)).Before(want) {
		at = at.Add(-time.Minute)
	}
	return at
}

// due is the next instant at which something of a customer happens by itself,
// and the purchase that it is, if it is one.
func (c *plainCustomer) due() (at time.Time, purchase string) {
	for _, l := range c.lots {
		if e := c.expiry(l); l.free > 0 && !e.IsZero() && (at.IsZero() || e.Before(at)) {
			at = e
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.purchases)) {
		p := c.purchases[id]
		if p.state == loyalty.Pending && !p.auto.IsZero() && (at.IsZero() || p.auto.Before(at)) {
			at, purchase = p.auto, id
		}
	}
	return at, purchase
}

// settle applies what came due, instant by instant.
func (w *plainWorld) settle(c *plainCustomer) {
	for {
		c.pay()
		at, id := c.due()
		if at.IsZero() || at.After(w.now) {
			return
		}
		if id == "" {
			c.expire(at)
			continue
		}
		p := c.purchases[id]
		if p.reject {
			c.rejectPurchase(p)
		} else {
			w.acceptPurchase(c, id, p, at)
		}
	}
}

func (c *plainCustomer) expire(at time.Time) {
	c.pay()
	for i := range c.lots {
		if e := c.expiry(c.lots[i]); !e.IsZero() && !e.After(at) {
			c.lots[i].expired += c.lots[i].free
			c.lots[i].free = 0
		}
	}
}

// compare holds a customer as it is stored against the model.
func (c *plainCustomer) compare(t require.TestingT, got *loyalty.Loading) {
	require.Equal(t, c.status, got.Customer.Status)
	if c.status != loyalty.OptedOut {
		require.Equal(t, c.name, got.Customer.Name)
	}
	require.Equal(t, c.figures(), got.Customer.Figures, "customer %s", c.name)
	require.Equal(t, c.spendable(), got.Customer.Figures.Spendable())
	require.Equal(t, c.active.String(), got.Customer.LastActivityAt.String())
	c.compareLots(t, got.Lots)
	require.Len(t, got.Transactions, len(c.purchases))
	for id, p := range c.purchases {
		x := got.Transactions[id]
		require.Equal(t, p.state, x.State, id)
		require.Equal(t, []int64{p.total, p.original, p.refunded}, []int64{int64(x.Total), int64(x.OriginalTotal), int64(x.Refunded)}, id)
		require.Equal(t, []int64{p.earned, p.burned}, []int64{x.Earned, x.Burned}, id)
		require.Equal(t, []int64{p.originalEarned, p.originalBurned}, []int64{x.OriginalEarned, x.OriginalBurned}, id)
		require.Equal(t, p.auto.UTC().String(), x.AutoAccept.String(), id)
		require.Equal(t, parts(p.burn), points.Total(x.Detail.Burn), id)
	}
	for id, hold := range c.holds {
		require.Equal(t, parts(hold), points.Total(got.Reservations[id].Hold), "reservation %s", id)
	}
	if due, _ := c.due(); !due.IsZero() {
		require.False(t, got.Customer.DueAt.IsZero(), "due at %s", due)
		require.False(t, got.Customer.DueAt.After(due), "due at %s, known as %s", due, got.Customer.DueAt)
	}
}

// compareLots looks at the lots that still hold something; the others are not
// loaded.
func (c *plainCustomer) compareLots(t require.TestingT, got []points.Lot) {
	type view struct {
		earned, expires                    string
		idle                               int
		points, free, held, spent, expired int64
	}
	var want, have []view
	for _, l := range c.lots {
		if l.free+l.held+l.spent > 0 {
			want = append(want, view{l.earned.UTC().String(), l.expires.UTC().String(), l.idle, l.points, l.free, l.held, l.spent, l.expired})
		}
	}
	slices.SortFunc(got, func(x, y points.Lot) int { return loyalty.CompareID(x.ID, y.ID) })
	for _, l := range got {
		if l.Remaining+l.Reserved+l.Spent > 0 {
			have = append(have, view{l.EarnedAt.String(), l.ExpiresAt.String(), l.Idle.Days, l.Points, l.Remaining, l.Reserved, l.Spent, l.Expired})
		}
	}
	require.Equal(t, want, have)
}
