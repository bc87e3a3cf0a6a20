package histories_test

import (
	"math/big"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

type plainLine struct {
	product                    string
	quantity, subtotal, points int64
	rewarded                   *int64
	returned, taken            int64
	lot                        int // its number; 0 where the line earned nothing
}

type plainPurchase struct {
	row                                            int // the customer in whose row it stands
	state                                          loyalty.TransactionState
	total, original, refunded                      int64
	earned, originalEarned, burned, originalBurned int64
	bonus                                          int64 // of originalEarned: what campaigns gave
	rewarded                                       *int64
	lines                                          []plainLine
	burn                                           []plainPart
	made, since, auto                              time.Time // since: it was accepted
	reject                                         bool
	coupons                                        []plainRedeemed
	offers                                         []string
	counted                                        []plainCount // for challenges
	runs                                           []plainRun
	referral                                       []plainBonusPart
	paid, back                                     map[string]int64 // by gift card: before any refund, and what refunds gave back
	returned                                       bool             // it is undone
}

// plainRedeemed is a coupon that a purchase used.
type plainRedeemed struct {
	code string
	use  int // its number; 0: a gift card that has not paid yet
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

// accept makes a pending purchase final, in the name of an event.
func (w *plainWorld) accept(c *plainCustomer, id string, t *told) {
	p := c.purchases[id]
	c.at = latest(c.at, p.made)
	if len(p.burn) > 0 {
		w.tell(c, "point_burn", -p.burned)
	}
	for _, part := range p.burn {
		l := c.lot(part.lot)
		l.held -= part.n
		l.spent += part.n
	}
	w.final(c, id, "checkout_accept_item", t)
}

// acceptOnTime is what a purchase's date brings.
func (w *plainWorld) acceptOnTime(c *plainCustomer, id string) {
	decide, action := w.accept, "checkout_accept"
	if c.purchases[id].reject {
		decide, action = w.reject, "checkout_reject"
	}
	t := w.tell(c, action, 0)
	w.under(t, func() { decide(c, id, t) })
}

// final earns the points of a purchase, a lot for each line.
func (w *plainWorld) final(c *plainCustomer, id, item string, t *told) {
	p := c.purchases[id]
	own := p.earned
	for i := range p.lines {
		l := &p.lines[i]
		told := w.tell(c, item, l.points)
		told.line, l.lot = id, w.earn(told, l.points, id)
		own -= l.points
	}
	w.earn(t, own, id)
	p.state, p.originalEarned, p.originalBurned, p.since = loyalty.Accepted, p.earned, p.burned, latest(c.at, p.made)
	t.points, t.purchase, t.about = p.earned-p.burned, id, id
}

// reject undoes a pending purchase, with its coupons and offers.
func (w *plainWorld) reject(c *plainCustomer, id string, t *told) {
	p := c.purchases[id]
	t.about = id
	if n := parts(p.burn); n > 0 {
		w.tell(c, "release_points", n).line = id
	}

	c.giveBack(p.burn, parts(p.burn), heldOf)
	for _, used := range p.coupons {
		coupon := w.coupons[used.code]
		i := slices.IndexFunc(coupon.uses, func(u modelUse) bool { return u.serial == used.use })
		if i < 0 || coupon.state == loyalty.CouponInvalidated {
			continue
		}
		w.tell(c, "coupon_unredeem", 0)
		coupon.undo(i)
	}

	w.undone(c, p, id)
	p.state, p.burn, p.earned, p.burned, p.coupons = loyalty.Rejected, nil, 0, 0, nil
}

func (w *plainWorld) checkout(c *plainCustomer, e *said, t *told) error {
	if _, taken := w.owners[e.transaction]; taken {
		return loyalty.ErrTransactionExists
	}

	p := &plainPurchase{
		row: c.index, state: loyalty.Accepted, made: c.at, total: e.total, original: e.total, rewarded: e.rewarded, lines: slices.Clone(e.items), offers: e.offers,
	}
	if w.rules.pending != "" || t.held {
		p.state, p.reject = loyalty.Pending, w.rules.pending == programme.AcceptReject
	}

	switch {
	case w.rules.pending != "" && e.auto != nil:
		p.auto = latest(*e.auto, c.at)
	case w.rules.pending != "" && w.rules.pending != programme.AcceptManual:
		p.auto = c.at.AddDate(0, 0, w.rules.pendingDays)
	}

	if n := parts(c.holds[e.transaction]); n > 0 {
		w.tell(c, "release_points", n).line = e.transaction
		c.giveBack(c.holds[e.transaction], n, heldOf)
		delete(c.holds, e.transaction)
	}

	if e.points != nil {
		if err := w.burnFor(c, p, *e.points); err != nil {
			return err
		}
	}

	if err := w.redeemFor(c, p, e); err != nil {
		return err
	}

	p.earned = w.price(p.lines, p.rewarded)
	c.purchases[e.transaction], w.owners[e.transaction] = p, c.index
	if p.state == loyalty.Accepted {
		w.final(c, e.transaction, "checkout_item", t)
	} else {
		for _, l := range p.lines {
			w.tell(c, "checkout_item", l.points).line = e.transaction
		}
		t.points = p.earned - p.burned
	}

	for _, offer := range e.offers {
		w.tell(c, "offer_redeem", 0)
		if err := w.redeemOffer(c, offer, e.transaction); err != nil {
			return err
		}
	}

	return nil
}

func (w *plainWorld) burnFor(c *plainCustomer, p *plainPurchase, n int64) error {
	switch {
	case n == 0:
		return nil
	case c.status == loyalty.Suspended:
		return loyalty.ErrSuspended
	case c.status == loyalty.Inactive:
		return loyalty.ErrWrongStatus
	case n > c.spendable():
		return loyalty.ErrNotEnoughPoints
	}

	p.burned = n
	into := map[bool]string{true: "reserve_points", false: "point_burn"}[p.state == loyalty.Pending]
	w.tell(c, into, -n).line = "burn"
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
func (w *plainWorld) purchase(c *plainCustomer, e *said, t *told) error {
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
		w.accept(c, e.transaction, t)
	case "checkout_reject":
		w.reject(c, e.transaction, t)
	case "checkout_update":
		return w.update(c, p, e, t)
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
		if err := w.refund(c, e, t, due(p.originalEarned, p.earned), due(p.originalBurned, p.burned)); err != nil {
			return err
		}

		w.refundCards(c, p)
		if p.refunded == p.original {
			w.undone(c, p, e.transaction)
		}

	case "refund":
		p.refunded, p.state = p.original, loyalty.Refunded
		if err := w.refund(c, e, t, p.earned, p.burned); err != nil {
			return err
		}
		w.refundCards(c, p)
		w.undone(c, p, e.transaction)

	case "refund_item":
		return w.refundItem(c, e, t)
	}

	return nil
}

func latest(all ...time.Time) time.Time { return slices.MaxFunc(all, time.Time.Compare) }

func (w *plainWorld) update(c *plainCustomer, p *plainPurchase, e *said, t *told) error {
	p.total, p.original = e.total, e.total
	if e.auto != nil {
		p.auto = latest(*e.auto, c.at, p.made)
	}
	if e.removeAuto {
		p.auto = time.Time{}
	}

	if e.points != nil && *e.points != p.burned {
		if p.burned > 0 {
			w.tell(c, "release_points", p.burned).line = e.transaction
		}
		c.giveBack(p.burn, p.burned, heldOf)
		p.burn, p.burned = nil, 0
		if err := w.burnFor(c, p, *e.points); err != nil {
			return err
		}
	}

	if e.hasItems {
		p.lines = slices.Clone(e.items)
	}
	if err := w.repay(c, p); err != nil {
		return err
	}

	p.earned = w.price(p.lines, p.rewarded)
	if e.hasItems {
		for _, l := range p.lines {
			w.tell(c, "checkout_update_item", l.points).line = e.transaction
		}
	}

	t.points = p.earned - p.burned
	return nil
}

// refund takes earned points away and gives burned ones back.
func (w *plainWorld) refund(c *plainCustomer, e *said, t *told, removed, restored int64, first ...int) error {
	p := c.purchases[e.transaction]
	c.at = latest(c.at, p.since)
	p.total = p.original - p.refunded
	if restored = min(restored, c.restorable(p.burn)); restored > 0 {
		w.tell(c, "point_unburn", restored).line = e.transaction
	}

	p.burn = c.restore(p.burn, restored)
	p.burned -= restored
	balance := c.spendable()
	c.takeBack(e.transaction, removed, first...)
	p.earned -= removed
	t.points = -removed
	if w.rules.refuseNegative && c.spendable() < 0 && c.spendable() < balance {
		return loyalty.ErrNegativeRefused
	}

	return nil
}

func (w *plainWorld) refundItem(c *plainCustomer, e *said, t *told) error {
	p, found, open, pieces := c.purchases[e.transaction], false, int64(0), int64(0)
	var all int64
	for _, l := range p.lines {
		all += l.subtotal
		if l.product == e.product {
			found = true
			if open += l.quantity - l.returned; pieces == 0 {
				pieces = l.quantity - l.returned // the whole of the first line that is open
			}
		}
	}

	if e.points != nil { // the quantity
		pieces = *e.points
	}

	switch {
	case !found:
		return loyalty.ErrLineNotFound
	case pieces > open || pieces == 0:
		return loyalty.ErrQuantityTooLarge
	}

	// Of the burned points all pieces returned so far, of whichever line, have their share.
	burned := func() int64 {
		if all == 0 {
			return 0
		}
		sum := new(big.Rat)
		for _, x := range p.lines {
			sum.Add(sum, big.NewRat(x.subtotal*x.returned, all*x.quantity))
		}
		return roundedRat(w.rules.rounding, sum.Mul(sum, big.NewRat(p.originalBurned, 1)))
	}

	burnBefore := burned()
	var removed int64
	var lots []int
	for i := range p.lines {
		l := &p.lines[i]
		n := min(pieces, l.quantity-l.returned)
		if l.product != e.product || n == 0 {
			continue
		}

		pieces -= n
		// Shares of all pieces returned so far, so that one by one adds up.
		worth := func() int64 { return roundedRat("floor", big.NewRat(l.subtotal*l.returned, l.quantity)) }
		moneyBefore := worth()
		l.returned += n
		p.refunded += min(worth()-moneyBefore, p.original-p.refunded)
		taken := max(roundedRat(w.rules.rounding, big.NewRat(l.points*l.returned, l.quantity))-l.taken, 0)
		l.taken += taken
		removed += taken
		lots = append(lots, l.lot)
	}

	restored := min(max(burned()-burnBefore, 0), p.burned)
	whole := !slices.ContainsFunc(p.lines, func(x plainLine) bool { return (all == 0 || x.subtotal > 0) && x.returned < x.quantity })
	if whole {
		removed, restored = p.earned, p.burned // the last piece brings what rounding left
	}
	if err := w.refund(c, e, t, min(removed, p.earned), restored, lots...); err != nil {
		return err
	}

	w.refundCards(c, p)
	if whole {
		w.undone(c, p, e.transaction)
	}

	return nil
}
