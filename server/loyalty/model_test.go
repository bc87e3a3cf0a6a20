package loyalty_test

import (
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
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

func (w *plainWorld) acceptPurchase(c *plainCustomer, id string, p *plainPurchase, at time.Time) {
	for _, part := range p.burn {
		c.lots[part.lot].held -= part.n
		c.lots[part.lot].spent += part.n
	}
	w.final(c, id, p, at)
}

// final earns the points of a purchase, a lot for each line.
func (w *plainWorld) final(c *plainCustomer, id string, p *plainPurchase, at time.Time) {
	own := p.earned
	for i := range p.lines {
		p.lines[i].lot = w.earn(c, p.lines[i].points, at, id)
		own -= p.lines[i].points
	}
	w.earn(c, own, at, id)
	p.state, p.originalEarned, p.originalBurned = loyalty.Accepted, p.earned, p.burned
}

func (c *plainCustomer) rejectPurchase(p *plainPurchase) {
	c.giveBack(p.burn, parts(p.burn), heldOf)
	p.state, p.burn, p.earned, p.burned = loyalty.Rejected, nil, 0, 0
}

// share is whole × part / of, rounded by the programme.
func (w *plainWorld) share(whole, part, of int64) int64 {
	if of == 0 {
		return whole
	}
	return roundedRat(w.rules.rounding, new(big.Rat).Mul(big.NewRat(part, of), big.NewRat(whole, 1)))
}

func roundedRat(rounding string, x *big.Rat) int64 {
	floor := new(big.Int).Div(x.Num(), x.Denom())
	fraction := new(big.Rat).Sub(x, new(big.Rat).SetInt(floor))
	up := rounding == "ceil" && fraction.Sign() > 0 || rounding == "round" && fraction.Cmp(big.NewRat(1, 2)) >= 0
	if up {
		return floor.Int64() + 1
	}
	return floor.Int64()
}

// price gives the lines their points and answers the sum.
func (w *plainWorld) price(lines []plainLine, rewarded *int64) (earned int64) {
	var total, running, given int64
	for i := range lines {
		l := &lines[i]
		l.points = 0
		switch {
		case l.rewarded != nil:
			l.points = *l.rewarded
		case rewarded != nil:
			total += l.subtotal
		case w.rules.rate != nil:
			l.points = roundedRat(w.rules.rounding, new(big.Rat).Mul(w.rules.rate, big.NewRat(l.subtotal, 10_000)))
		}
	}
	if rewarded != nil && len(lines) == 0 {
		return *rewarded
	}
	for i := range lines {
		if l := &lines[i]; rewarded != nil && l.rewarded == nil {
			running += l.subtotal
			due := *rewarded
			if total > 0 {
				due = roundedRat("floor", new(big.Rat).Mul(big.NewRat(running, total), big.NewRat(*rewarded, 1)))
			}
			l.points, given = due-given, due
		}
		earned += lines[i].points
	}
	return earned
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

func (w *plainWorld) checkout(c *plainCustomer, e said, at time.Time) error {
	if _, taken := w.owners[e.transaction]; taken {
		return loyalty.ErrTransactionExists
	}
	p := &plainPurchase{state: loyalty.Accepted, total: e.total, original: e.total, rewarded: e.rewarded, lines: slices.Clone(e.items)}
	if w.rules.pending != "" {
		p.state, p.reject = loyalty.Pending, w.rules.pending == loyalty.AcceptReject
		switch {
		case e.auto != nil:
			p.auto = *e.auto
		case w.rules.pending != loyalty.AcceptManual:
			p.auto = at.AddDate(0, 0, w.rules.pendingDays)
		}
	}
	c.giveBack(c.holds[e.transaction], parts(c.holds[e.transaction]), heldOf)
	delete(c.holds, e.transaction)
	if e.points != nil {
		if err := c.burnFor(p, *e.points); err != nil {
			return err
		}
	}
	p.earned = w.price(p.lines, p.rewarded)
	c.purchases[e.transaction] = p
	if p.state == loyalty.Accepted {
		w.final(c, e.transaction, p, at)
	}
	return nil
}

func (c *plainCustomer) burnFor(p *plainPurchase, n int64) error {
	switch {
	case n == 0:
		return nil
	case c.status == loyalty.Suspended:
		return loyalty.ErrSuspended
	case n > c.spendable():
		return loyalty.ErrNotEnoughPoints
	}
	p.burned = n
	p.burn = c.draw(n, func(l *plainLot) {
		if p.state == loyalty.Pending {
			l.held++
		} else {
			l.spent++
		}
	})
	return nil
}

// purchase plays the events about a purchase that is there.
func (w *plainWorld) purchase(c *plainCustomer, e said, at time.Time) error {
	p, mine := c.purchases[e.transaction]
	if !mine {
		return loyalty.ErrTransactionNotFound
	}
	switch e.action {
	case "checkout_accept", "checkout_reject", "checkout_update":
		if p.state != loyalty.Pending {
			return loyalty.ErrTransactionNotFound
		}
	default:
		if p.state != loyalty.Accepted {
			return loyalty.ErrNotRefundable
		}
	}
	switch e.action {
	case "checkout_accept":
		w.acceptPurchase(c, e.transaction, p, at)
	case "checkout_reject":
		c.rejectPurchase(p)
	case "checkout_update":
		return w.update(c, p, e)
	case "partial_refund":
		switch {
		case e.total <= 0:
			return loyalty.ErrRefundNotPositive
		case e.total > p.original-p.refunded:
			return loyalty.ErrRefundTooLarge
		}
		p.refunded += e.total
		due := func(original, left int64) int64 {
			return min(max(w.share(original, p.refunded, p.original)-(original-left), 0), left)
		}
		return w.refund(c, e, p, -1, due(p.originalEarned, p.earned), due(p.originalBurned, p.burned))
	case "refund":
		p.refunded, p.state = p.original, loyalty.Refunded
		return w.refund(c, e, p, -1, p.earned, p.burned)
	case "refund_item":
		return w.refundItem(c, e, p)
	}
	return nil
}

func (w *plainWorld) update(c *plainCustomer, p *plainPurchase, e said) error {
	p.total, p.original = e.total, e.total
	if e.auto != nil {
		p.auto = *e.auto
	}
	if e.removeAuto {
		p.auto = time.Time{}
	}
	if e.points != nil && *e.points != p.burned {
		c.giveBack(p.burn, p.burned, heldOf)
		p.burn, p.burned = nil, 0
		if err := c.burnFor(p, *e.points); err != nil {
			return err
		}
	}
	if e.hasItems {
		p.lines = slices.Clone(e.items)
	}
	p.earned = w.price(p.lines, p.rewarded)
	return nil
}

// refund takes earned points away and gives burned ones back.
func (w *plainWorld) refund(c *plainCustomer, e said, p *plainPurchase, first, removed, restored int64) error {
	p.total = p.original - p.refunded
	was := parts(p.burn)
	p.burn = c.giveBack(p.burn, restored, spentOf)
	p.burned -= was - parts(p.burn)
	balance := c.spendable()
	c.takeBack(e.transaction, first, removed)
	p.earned -= removed
	if w.rules.refuseNegative && c.spendable() < 0 && c.spendable() < balance {
		return loyalty.ErrNegativeRefused
	}
	return nil
}

func (w *plainWorld) refundItem(c *plainCustomer, e said, p *plainPurchase) error {
	line := -1
	for i, l := range p.lines {
		if l.product == e.product && (line < 0 || p.lines[line].returned == p.lines[line].quantity) &&
			(line < 0 || l.returned < l.quantity) {
			line = i
		}
	}
	if line < 0 {
		return loyalty.ErrLineNotFound
	}
	l := &p.lines[line]
	n := l.quantity - l.returned
	if e.points != nil { // the quantity
		n = *e.points
	}
	if n > l.quantity-l.returned || n == 0 {
		return loyalty.ErrQuantityTooLarge
	}
	var all int64
	for _, x := range p.lines {
		all += x.subtotal
	}
	// Shares of all pieces returned so far, so that one by one adds up.
	l.returned += n
	money := roundedRat("floor", big.NewRat(l.subtotal*l.returned, l.quantity))
	ofPoints := roundedRat(w.rules.rounding, big.NewRat(l.points*l.returned, l.quantity))
	var ofBurn, burnBefore int64
	if all > 0 {
		burn := func(pieces int64) int64 {
			x := big.NewRat(l.subtotal*pieces, all*l.quantity)
			return roundedRat(w.rules.rounding, x.Mul(x, big.NewRat(p.originalBurned, 1)))
		}
		ofBurn, burnBefore = burn(l.returned), burn(l.returned-n)
	}
	moneyBefore := roundedRat("floor", big.NewRat(l.subtotal*(l.returned-n), l.quantity))
	p.refunded += min(money-moneyBefore, p.original-p.refunded)
	removed := min(max(ofPoints-l.taken, 0), p.earned)
	l.taken += max(ofPoints-l.taken, 0)
	return w.refund(c, e, p, l.lot, removed, min(max(ofBurn-burnBefore, 0), p.burned))
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
