package histories_test

import (
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// modelCoupon is a coupon as decisions 6 has it.
type modelCoupon struct {
	serial                            int // the order in which codes came into being
	code, kind, pool, reward, product string
	value, balance                    int64
	state                             loyalty.CouponState
	owner                             int // −1: none
	claimed, redeemed, expires        time.Time
	uses                              []modelUse
}

type modelUse struct {
	serial int
	amount int64
	at     time.Time
	before loyalty.CouponState
}

// stands is where a coupon stands at an instant: what could still be used has
// expired by its date.
func (c *modelCoupon) stands(at time.Time) loyalty.CouponState {
	open := []loyalty.CouponState{loyalty.CouponCreated, loyalty.CouponClaimed, loyalty.CouponUnassigned, loyalty.CouponPartiallyRedeemed}
	if !c.expires.IsZero() && !at.Before(c.expires) && slices.Contains(open, c.state) {
		return loyalty.CouponExpired
	}
	return c.state
}

// undo takes a use back.
func (c *modelCoupon) undo(i int) {
	use := c.uses[i]
	c.balance += use.amount
	if i == len(c.uses)-1 {
		c.state = use.before
	} else {
		c.uses[i+1].before = use.before
		if c.balance > 0 {
			c.state = loyalty.CouponPartiallyRedeemed
		}
	}

	c.uses = slices.Delete(c.uses, i, i+1)
	c.redeemed = time.Time{}
	if n := len(c.uses); n > 0 {
		c.redeemed = c.uses[n-1].at
	}
	if c.state == loyalty.CouponCreated || c.state == loyalty.CouponUnassigned {
		c.owner, c.claimed = -1, time.Time{}
	}
}

// coupon decides the events about one coupon.
func (w *plainWorld) coupon(c *plainCustomer, e *said, t *told) error {
	switch e.action {
	case "coupon", "coupon_create":
		return w.createCoupon(c, e)
	case "coupon_redeem":
		return w.redeem(c, e.code, e.points)
	case "coupon_transfer":
		return w.transferCoupon(c, e)
	}

	k, known := w.coupons[e.code]
	if !known || (k.owner != c.index && (k.owner >= 0 || e.action != "coupon_invalidate")) {
		return loyalty.ErrCouponNotFound
	}

	state := k.stands(c.at)
	switch e.action {
	case "coupon_invalidate":
		k.state = loyalty.CouponInvalidated
	case "coupon_unredeem":
		// after its date, too: what was used can be taken back
		if k.state != loyalty.CouponRedeemed && k.state != loyalty.CouponPartiallyRedeemed {
			return loyalty.ErrForbiddenState
		}
		k.undo(len(k.uses) - 1)
	case "unassign_coupon":
		if state != loyalty.CouponClaimed {
			return loyalty.ErrForbiddenState
		}
		k.state, k.owner, k.claimed = loyalty.CouponUnassigned, -1, time.Time{}
	}

	return nil
}

// createCoupon makes a coupon, or gives one anew that was taken from its holder.
func (w *plainWorld) createCoupon(c *plainCustomer, e *said) error {
	if k, known := w.coupons[e.code]; known && k.state != loyalty.CouponUnassigned {
		return loyalty.ErrCouponExists
	}
	k := &modelCoupon{serial: w.next(), code: e.code, kind: e.kind, value: e.total, product: e.product, state: loyalty.CouponClaimed, owner: c.index, claimed: c.at, expires: e.expires}
	if e.points != nil {
		k.kind, k.value = loyalty.CouponGiftCard, *e.points
	}
	if k.kind == loyalty.CouponGiftCard {
		k.balance = k.value
	}
	w.coupons[e.code] = k
	return nil
}

// redeemable finds a coupon that a customer may use: their own, or one without an owner.
func (w *plainWorld) redeemable(c *plainCustomer, code string) (*modelCoupon, error) {
	k, known := w.coupons[code]
	open := []loyalty.CouponState{loyalty.CouponCreated, loyalty.CouponClaimed, loyalty.CouponUnassigned, loyalty.CouponPartiallyRedeemed}
	if !known || (k.owner >= 0 && k.owner != c.index) || !slices.Contains(open, k.stands(c.at)) {
		return nil, loyalty.ErrCouponNotFound
	}
	return k, nil
}

func (w *plainWorld) redeem(c *plainCustomer, code string, amount *int64) error {
	k, err := w.redeemable(c, code)
	if err != nil {
		return err
	}

	use := modelUse{serial: w.next(), at: c.at, before: k.state}
	after := loyalty.CouponRedeemed
	if k.kind == loyalty.CouponGiftCard {
		if use.amount = k.balance; amount != nil {
			use.amount = *amount
		}
		if use.amount > k.balance {
			return loyalty.ErrCouponBalance
		}
		if use.amount < k.balance {
			after = loyalty.CouponPartiallyRedeemed
		}
	}

	k.balance -= use.amount
	k.state, k.redeemed, k.uses = after, c.at, append(k.uses, use)
	if k.owner < 0 {
		k.owner, k.claimed = c.index, c.at
	}

	return nil
}

// redeemFor uses the coupons of a purchase, each once.
func (w *plainWorld) redeemFor(c *plainCustomer, p *plainPurchase, e *said) error {
	left := e.total
	for i, code := range e.coupons {
		if slices.Contains(e.coupons[:i], code) {
			continue
		}
		if c.status == loyalty.Suspended {
			return loyalty.ErrSuspended
		}

		k, err := w.redeemable(c, code)
		if err != nil {
			return err
		}
		if k.product != "" && !slices.ContainsFunc(p.lines, func(l plainLine) bool { return l.product == k.product }) {
			return loyalty.ErrCouponProduct
		}
		if err := w.use(c, p, k, &left); err != nil {
			return err
		}
	}

	return nil
}

// use redeems a coupon for a purchase: of a gift card what is left to pay. A card
// that is not needed waits with a pending purchase.
func (w *plainWorld) use(c *plainCustomer, p *plainPurchase, k *modelCoupon, left *int64) error {
	var amount *int64
	if k.kind == loyalty.CouponGiftCard {
		n := min(k.balance, *left)
		if *left -= n; n == 0 {
			if p.state == loyalty.Pending {
				p.coupons = append(p.coupons, plainRedeemed{code: k.code})
			}
			return nil
		}
		amount = &n
	}

	w.tell(c, "coupon_redeem", 0)
	if err := w.redeem(c, k.code, amount); err != nil {
		return err
	}

	used := plainRedeemed{k.code, k.uses[len(k.uses)-1].serial}
	if i := slices.Index(p.coupons, plainRedeemed{code: k.code}); i >= 0 {
		p.coupons[i] = used
	} else {
		p.coupons = append(p.coupons, used)
	}

	return nil
}

// cards lists the gift cards of a purchase in the order in which they were named.
func (w *plainWorld) cards(p *plainPurchase) (cards []*modelCoupon) {
	for _, u := range p.coupons {
		if k := w.coupons[u.code]; k.kind == loyalty.CouponGiftCard && !slices.Contains(cards, k) {
			cards = append(cards, k)
		}
	}
	return cards
}

// paidBy lists the uses of a coupon by a purchase that stand, the last one first, and
// what they come to.
func (p *plainPurchase) paidBy(k *modelCoupon) (uses []int, sum int64) {
	for i := len(k.uses) - 1; i >= 0; i-- {
		if slices.Contains(p.coupons, plainRedeemed{k.code, k.uses[i].serial}) {
			uses, sum = append(uses, i), sum+k.uses[i].amount
		}
	}
	return uses, sum
}

// repay lets the cards of a pending purchase pay its new total. One whose uses were
// all taken back by hand pays nothing any more.
func (w *plainWorld) repay(c *plainCustomer, p *plainPurchase) error {
	left := p.total
	for _, k := range w.cards(p) {
		uses, sum := p.paidBy(k)
		if len(uses) == 0 && !slices.Contains(p.coupons, plainRedeemed{code: k.code}) {
			continue
		}

		if sum > left {
			w.giveCard(c, p, k, uses, sum-left)
			left = 0
			continue
		}

		left -= sum
		_, err := w.redeemable(c, k.code)
		fits := k.product == "" || slices.ContainsFunc(p.lines, func(l plainLine) bool { return l.product == k.product })
		if err != nil || left == 0 || k.balance == 0 || c.status == loyalty.Suspended || !fits {
			continue
		}
		if err := w.use(c, p, k, &left); err != nil {
			return err
		}
	}

	return nil
}

// giveCard gives so much of some uses back to a card, unless it is invalid.
func (w *plainWorld) giveCard(c *plainCustomer, p *plainPurchase, k *modelCoupon, uses []int, n int64) {
	if k.state == loyalty.CouponInvalidated {
		return
	}

	for _, i := range uses {
		use := &k.uses[i]
		back := min(n, use.amount)
		if back == 0 {
			continue
		}

		n -= back
		w.tell(c, "coupon_unredeem", 0)
		if back < use.amount {
			use.amount -= back
			if k.balance += back; k.state == loyalty.CouponRedeemed {
				k.state = loyalty.CouponPartiallyRedeemed
			}
			continue
		}

		at := slices.Index(p.coupons, plainRedeemed{k.code, use.serial})
		k.undo(i)
		p.coupons[at].use = 0
		if slices.ContainsFunc(slices.Delete(slices.Clone(p.coupons), at, at+1), func(u plainRedeemed) bool { return u.code == k.code }) {
			p.coupons = slices.Delete(p.coupons, at, at+1)
		}
	}
}

// refundCards gives each gift card its share of all that was refunded, in whole cents until the last part.
func (w *plainWorld) refundCards(c *plainCustomer, p *plainPurchase) {
	p.paid, p.back = maps.Clone(p.paid), maps.Clone(p.back) // a history that is told again begins with the old ones
	if p.paid == nil {
		p.paid, p.back = map[string]int64{}, map[string]int64{}
	}

	for _, k := range slices.Backward(w.cards(p)) {
		uses, sum := p.paidBy(k)
		if sum == 0 || p.original == 0 {
			continue
		}
		if _, known := p.paid[k.code]; !known {
			p.paid[k.code] = sum
		}

		due := p.paid[k.code]
		if p.refunded < p.original {
			due = roundedRat("floor", new(big.Rat).Mul(big.NewRat(due, 100), big.NewRat(p.refunded, p.original))) * 100
		}

		back := min(max(0, due-p.back[k.code]), sum)
		p.back[k.code] += back
		w.giveCard(c, p, k, uses, back)
	}

	if p.refunded == p.original {
		p.coupons = slices.DeleteFunc(p.coupons, func(u plainRedeemed) bool { return u.use == 0 })
	}
}

// transferCoupon passes a coupon on: the one named, or the newest of a reward.
func (w *plainWorld) transferCoupon(c *plainCustomer, e *said) error {
	passable := func(k *modelCoupon) bool {
		state := k.stands(c.at)
		return k.owner == c.index && (state == loyalty.CouponClaimed || state == loyalty.CouponPartiallyRedeemed)
	}

	k := w.coupons[e.code]
	if e.code == "" {
		for _, o := range w.coupons {
			if o.reward == e.thing && passable(o) && (k == nil || o.newer(k)) {
				k = o
			}
		}
	}

	switch {
	case k == nil || k.owner != c.index:
		return loyalty.ErrCouponNotFound
	case !passable(k):
		return loyalty.ErrForbiddenState
	}

	before := len(w.all)
	o, err := w.receiver(c, e, true)
	if err != nil {
		return err
	}

	t := w.tell(o, "coupon_receive", 0)
	if len(w.all) > before {
		t.made = o.name
	}

	k.pass(o.index, c.at)
	return nil
}

// pass makes another customer the holder, whatever is taken back afterwards.
func (c *modelCoupon) pass(owner int, at time.Time) {
	c.owner, c.claimed = owner, at
	for i := range c.uses {
		if c.uses[i].before != loyalty.CouponPartiallyRedeemed && c.uses[i].before != loyalty.CouponRedeemed {
			c.uses[i].before = loyalty.CouponClaimed
		}
	}
}

func (c *modelCoupon) newer(o *modelCoupon) bool {
	return c.claimed.After(o.claimed) || (c.claimed.Equal(o.claimed) && c.serial > o.serial)
}

// receiver is the customer that gets something passed on. An unknown address begins an inactive customer.
func (w *plainWorld) receiver(c *plainCustomer, e *said, invite bool) (*plainCustomer, error) {
	var o *plainCustomer
	if i, known := w.names[e.target]; e.target != "" && known {
		o = w.survivor(i)
	} else if e.target == "" {
		o = w.byEmail(e.email)
	}

	switch {
	case o == c:
		return nil, loyalty.ErrToOneself
	case o == nil && e.target == "" && invite:
		o = w.begin()
		o.name, o.email, o.status = "$"+string(rune('a'+o.index)), e.email, loyalty.Inactive
		w.names[o.name] = o.index
	case o == nil:
		return nil, loyalty.ErrCustomerNotFound
	}

	w.other(o, c)
	return o, nil
}

// byEmail is the oldest live customer with an address, enrolled before inactive.
func (w *plainWorld) byEmail(email string) (found *plainCustomer) {
	for _, c := range w.all {
		if c.email != email || (!c.enrolled() && c.status != loyalty.Inactive) {
			continue
		}
		if found == nil || (found.status == loyalty.Inactive && c.enrolled()) {
			found = c
		}
	}
	return found
}
