package loyalty_test

import (
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The plain model of decisions.md, sections 3 to 5 and 8: maps and loops that
// move one point at a time, written from that page and not from the engine.
// Money is counted in 1/10,000, as on the page.

// plainRules is a configuration as the model reads it.
type plainRules struct {
	expiry         string
	days           int // rolling, last_activity
	month          time.Month
	day            int // calendar
	refuseNegative bool
	rate           *big.Rat // nil: the module is off
	rounding       string
	pending        string // manual, accept, reject; empty: the module is off
	pendingDays    int
	zone           *time.Location
}

type plainLot struct {
	transaction                string
	earned, expires            time.Time
	idle                       int // days of inactivity
	points                     int64
	free, held, spent, expired int64
}

// plainPart is a part of a lot, which stands at an index that never changes.
type plainPart struct {
	lot int
	n   int64
}

type plainLine struct {
	product                    string
	quantity, subtotal, points int64
	rewarded                   *int64
	returned, taken, lot       int64 // lot is −1 where the line earned nothing
}

type plainPurchase struct {
	state                                          loyalty.TransactionState
	total, original, refunded                      int64
	earned, originalEarned, burned, originalBurned int64
	rewarded                                       *int64
	lines                                          []plainLine
	burn                                           []plainPart
	auto                                           time.Time
	reject                                         bool
}

type plainCustomer struct {
	index           int // in the world's list
	name, email     string
	status          loyalty.Status
	created, active time.Time
	lots            []plainLot
	score, debt     int64
	holds           map[string][]plainPart
	purchases       map[string]*plainPurchase
}

// plainWorld is everything the model knows.
type plainWorld struct {
	rules  plainRules
	now    time.Time
	all    []*plainCustomer // in the order of creation
	names  map[string]int   // who is known by a name now
	owners map[string]int   // transaction ids, for ever
}

func newPlainWorld(rules plainRules, now time.Time) *plainWorld {
	return &plainWorld{rules: rules, now: now, names: map[string]int{}, owners: map[string]int{}}
}

func (c *plainCustomer) clone() *plainCustomer {
	k := *c
	k.lots = slices.Clone(c.lots)
	k.holds, k.purchases = maps.Clone(c.holds), make(map[string]*plainPurchase, len(c.purchases))
	for id, h := range k.holds {
		k.holds[id] = slices.Clone(h)
	}
	for id, p := range c.purchases {
		q := *p
		q.lines, q.burn = slices.Clone(p.lines), slices.Clone(p.burn)
		k.purchases[id] = &q
	}
	return &k
}

// said is a submitted event as the generator made it.
type said struct {
	customer, action string
	email            string
	optIn            bool
	points           *int64
	transaction      string
	total            int64
	items            []plainLine
	hasItems         bool
	rewarded         *int64
	auto             *time.Time
	removeAuto       bool
	product          string
	effective        time.Time // zero: now
}

// submit plays one event. Where it is refused nothing has changed.
func (w *plainWorld) submit(e said) (*plainCustomer, error) {
	if w.rules.pending == "" && (e.action == "checkout_accept" || e.action == "checkout_reject" || e.action == "checkout_update") {
		return nil, loyalty.ErrActionOff
	}
	if w.rules.pending == "" && e.action == "checkout" && e.rewarded != nil {
		return nil, loyalty.ErrModuleOff
	}
	c, err := w.find(e)
	if err != nil {
		return nil, err
	}
	w.settle(c)
	at := e.effective
	if at.IsZero() {
		at = w.now
	}
	if err := w.apply(c, e, at); err != nil {
		return nil, err
	}
	c.active = w.now
	c.pay()
	c.expire(w.now)
	w.keep(c, e)
	return c, nil
}

// find gives a copy of the customer that an event is about, a new one where the
// action may begin one.
func (w *plainWorld) find(e said) (*plainCustomer, error) {
	if i, ok := w.names[e.customer]; ok {
		return w.all[i].clone(), nil
	}
	if e.action != "subscribe" && e.action != "opt_in" && (e.action != "profile" || !e.optIn) {
		return nil, loyalty.ErrCustomerNotFound
	}
	if e.action == "opt_in" {
		for _, c := range w.all {
			if c.status == loyalty.Inactive && c.email == e.email {
				return c.clone(), nil
			}
		}
	}
	return &plainCustomer{
		index: len(w.all), created: w.now, holds: map[string][]plainPart{}, purchases: map[string]*plainPurchase{},
	}, nil
}

// keep makes a copy the truth.
func (w *plainWorld) keep(c *plainCustomer, e said) {
	if c.index == len(w.all) {
		w.all = append(w.all, c)
	}
	w.all[c.index] = c
	if c.name != e.customer {
		delete(w.names, c.name)
		c.name = e.customer
	}
	w.names[c.name] = c.index
	if c.status == loyalty.OptedOut {
		delete(w.names, c.name)
	}
	for id := range c.purchases {
		w.owners[id] = c.index
	}
}

func (w *plainWorld) apply(c *plainCustomer, e said, at time.Time) error {
	switch e.action {
	case "subscribe", "opt_in", "profile", "suspend", "unsuspend", "opt_out":
		return c.move(e)
	case "visit", "video":
		if e.points == nil {
			return nil
		}
	}
	if c.status == loyalty.Inactive {
		return loyalty.ErrWrongStatus
	}
	if c.status == loyalty.Suspended && (e.action == "point_spend" || e.action == "reserve_points") {
		return loyalty.ErrSuspended
	}
	switch e.action {
	case "visit", "video", "point_add":
		w.earn(c, *e.points, at, "")
	case "point_sub":
		if w.rules.refuseNegative && *e.points > c.spendable() {
			return loyalty.ErrNegativeRefused
		}
		c.take(*e.points)
	case "point_spend", "reserve_points":
		if *e.points > c.spendable() {
			return loyalty.ErrNotEnoughToSpend
		}
		if e.action == "point_spend" {
			c.draw(*e.points, func(l *plainLot) { l.spent++ })
		} else {
			hold := c.draw(*e.points, func(l *plainLot) { l.held++ })
			c.holds[e.transaction] = append(c.holds[e.transaction], hold...)
		}
	case "point_unspend":
		return c.unspend(*e.points)
	case "release_points":
		return c.release(e)
	case "checkout":
		return w.checkout(c, e, at)
	default:
		return w.purchase(c, e, at)
	}
	return nil
}

// move is the table of a customer's states.
func (c *plainCustomer) move(e said) error {
	next := map[string]map[loyalty.Status]loyalty.Status{
		"subscribe": {loyalty.None: loyalty.Inactive},
		"opt_in":    {loyalty.None: loyalty.Active, loyalty.Inactive: loyalty.Active},
		"suspend":   {loyalty.Active: loyalty.Suspended},
		"unsuspend": {loyalty.Suspended: loyalty.Active},
		"opt_out":   {loyalty.Inactive: loyalty.OptedOut, loyalty.Active: loyalty.OptedOut, loyalty.Suspended: loyalty.OptedOut},
		"profile":   {loyalty.Inactive: loyalty.Inactive, loyalty.Active: loyalty.Active, loyalty.Suspended: loyalty.Suspended},
	}[e.action]
	if e.action == "profile" && e.optIn {
		next[loyalty.None], next[loyalty.Inactive] = loyalty.Active, loyalty.Active
	}
	status, ok := next[c.status]
	enrolled := c.status == loyalty.Active || c.status == loyalty.Suspended
	switch {
	case !ok && enrolled && (e.action == "opt_in" || e.action == "subscribe"):
		return loyalty.ErrCustomerExists
	case !ok:
		return loyalty.ErrForbiddenState
	}
	c.status = status
	if e.email != "" {
		c.email = e.email
	}
	return nil
}

func (c *plainCustomer) unspend(n int64) error {
	if n > c.figures().Spent {
		return loyalty.ErrUnspendTooMuch
	}
	for range n {
		last := -1
		for i, l := range c.lots {
			if l.spent > 0 && (last < 0 || c.before(last, i)) {
				last = i
			}
		}
		c.lots[last].spent--
		c.lots[last].free++
	}
	return nil
}

func (c *plainCustomer) release(e said) error {
	hold := c.holds[e.transaction]
	n := parts(hold)
	if n == 0 {
		return loyalty.ErrReservationNotFound
	}
	if e.points != nil {
		if *e.points > n {
			return loyalty.ErrReleaseTooMuch
		}
		n = *e.points
	}
	c.holds[e.transaction] = c.giveBack(hold, n, heldOf)
	return nil
}
