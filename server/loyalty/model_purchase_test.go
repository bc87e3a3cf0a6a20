package loyalty_test

import (
	"math/big"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

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
