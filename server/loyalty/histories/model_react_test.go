package histories_test

import (
	"math/big"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	tierrules "github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// plainOccurrence is something that rules react to: an event, a purchase that
// became final, or one of its lines.
type plainOccurrence struct {
	c      *plainCustomer
	action string
	told   *told
	bought *plainPurchase
	id     string     // of the purchase
	line   *plainLine // nil: it is not about a line
}

// react lets campaigns, challenges, tiers and the referral, in this order, react
// to what was recorded, and then to what that brought: eight times, and if there is
// something to react to even then, the submission is refused (DECISIONS.md).
func (w *plainWorld) react() {
	for round := 0; ; round++ {
		events := slices.DeleteFunc(slices.Clone(w.told[w.waits:]), func(t *told) bool { return t.reacted })
		if len(events) == 0 {
			return
		}
		if round == 8 {
			panic(endless{})
		}

		var happened []plainOccurrence
		for _, t := range events {
			t.reacted = true
			happened = append(happened, w.occurrences(t)...)
		}

		for _, o := range happened {
			w.under(o.told, func() { o.inTime(w.campaigns) })
		}

		for _, o := range happened {
			if o.line == nil {
				w.under(o.told, func() { o.inTime(w.challenge) })
			}
		}

		for _, i := range slices.Clone(w.opened) {
			if w.all[i].into < 0 && slices.ContainsFunc(events, func(t *told) bool { return t.customer == i }) {
				w.tiers(w.all[i])
			}
		}

		for _, o := range happened {
			if o.line == nil {
				w.under(o.told, func() { o.inTime(w.referral) })
			}
		}
	}
}

// inTime reacts not before what is reacted to.
func (o plainOccurrence) inTime(react func(plainOccurrence)) {
	was := o.c.at
	o.c.at = latest(was, o.told.at)
	react(o)
	o.c.at = was
}

func (w *plainWorld) occurrences(t *told) (list []plainOccurrence) {
	action := t.action
	if t.as != "" {
		action = t.as
	}
	if t.held || t.line != "" || (t.purchase == "" && (action == "checkout" || action == "checkout_accept")) {
		return nil
	}

	o := plainOccurrence{c: w.all[t.customer], action: action, told: t}
	if t.purchase == "" {
		return append(list, o)
	}

	o.id, o.bought = t.purchase, o.c.purchases[t.purchase]
	list = append(list, o)
	if action != "checkout" {
		o.action = "checkout"
		list = append(list, o)
	}

	for i := range o.bought.lines {
		o.action, o.line = "checkout_item", &o.bought.lines[i]
		list = append(list, o)
	}

	return list
}

func (w *plainWorld) campaigns(o plainOccurrence) {
	if !w.rules.on(programme.ModuleAutomation) || !o.c.enrolled() {
		return
	}

	for _, k := range w.rules.campaigns {
		if k.trigger != o.action || (k.pieces && o.line.quantity <= 1) ||
			(k.perCustomer > 0 && o.c.gifts[k.id] >= k.perCustomer) || (k.total > 0 && w.counts["campaign "+k.id] >= k.total) {
			continue
		}

		if !w.give(o, k) {
			continue
		}
		if k.perCustomer > 0 {
			o.c.gifts[k.id]++
		}
		if k.total > 0 {
			w.counts["campaign "+k.id]++
		}

		w.noteRun(o, k)
	}
}

// plainRun is what a campaign gave for a purchase besides the purchase's own points.
type plainRun struct {
	campaign *plainCampaign
	lot      plainGift // of no points: there is none
}

// noteRun keeps what is taken back once the purchase is undone.
func (w *plainWorld) noteRun(o plainOccurrence, k *plainCampaign) {
	p, run := o.bought, plainRun{campaign: k}
	if p == nil {
		if p = w.counter(o.c, o.told).purchase; p == nil || k.trigger == "point_expire" {
			return
		}
		run.lot = o.c.given
	}
	if run.lot.points > 0 || k.perCustomer > 0 || k.total > 0 {
		p.runs = append(slices.Clone(p.runs), run)
	}
}

// undone takes back what a purchase brought, once.
func (w *plainWorld) undone(c *plainCustomer, p *plainPurchase, id string) {
	if p.returned {
		return
	}

	p.returned = true
	for _, offer := range p.offers {
		if use := c.offers[offer]; use != nil && use.undo(id) {
			w.tell(c, "offer_unredeem", 0)
			w.counts["offer "+offer]--
		}
	}

	for _, run := range p.runs {
		n := run.lot.points
		if w.rules.refuseNegative && n > 0 {
			n = min(n, max(0, c.spendable())+c.lot(run.lot.lot).expired)
		}

		if n > 0 {
			w.tell(c, "point_sub", -n)
			c.takeBack("", n, run.lot.lot)
		}

		if n < run.lot.points {
			continue
		}
		if run.campaign.perCustomer > 0 {
			c.gifts[run.campaign.id]--
		}
		if run.campaign.total > 0 {
			w.counts["campaign "+run.campaign.id]--
		}
	}

	p.runs = nil
	w.undoChallenges(c, p)
	w.takeBonusBack(c, p, id)
}

// give says whether a campaign gave anything.
func (w *plainWorld) give(o plainOccurrence, k *plainCampaign) bool {
	n := k.points
	switch {
	case k.coupon:
		if !w.rules.on(programme.ModuleCoupons) || w.free() == nil {
			return false
		}
		t := w.tell(o.c, "coupon_create", 0)
		_, err := w.issue(o.c, true, t)
		return err == nil
	case k.factor != nil:
		extra := new(big.Rat).Sub(k.factor, big.NewRat(1, 1))
		n = roundedRat(w.rules.rounding, extra.Mul(extra, big.NewRat(o.bought.originalEarned-o.bought.bonus, 1)))
	}

	if n <= 0 {
		return false
	}

	lot := w.earn(w.tell(o.c, "point_add", n), n, o.id)
	o.c.given = plainGift{lot, n}
	if d := o.c.completion(w.counter(o.c, o.told).done); d != nil && o.bought == nil {
		d.gifts = append(d.gifts, plainGift{lot, n})
	}

	if p := o.bought; p != nil {
		p.earned, p.originalEarned, p.bonus = p.earned+n, p.originalEarned+n, p.bonus+n
		if o.line != nil {
			o.line.points += n
		} else {
			p.spread(n)
		}
	}

	return true
}

// spread shares points over the lines by subtotal, rounded down along the sum.
func (p *plainPurchase) spread(n int64) {
	var total, running, given int64
	for _, l := range p.lines {
		total += l.subtotal
	}
	for i := range p.lines {
		running += p.lines[i].subtotal
		due := n
		if total > 0 {
			due = roundedRat("floor", new(big.Rat).Mul(big.NewRat(running, total), big.NewRat(n, 1)))
		}
		p.lines[i].points += due - given
		given = due
	}
}

func (w *plainWorld) challenge(o plainOccurrence) {
	if !w.rules.on(programme.ModuleChallenges) || !o.c.enrolled() {
		return
	}

	for _, x := range w.rules.challenges {
		moves := make([]int64, len(x.criteria))
		moved := false
		for i, k := range x.criteria {
			switch {
			case k.action != o.action:
			case k.sum == "":
				moves[i] = 1
			case k.sum == "points":
				moves[i] = max(0, o.told.points)
			default:
				moves[i] = o.bought.total
			}
			moved = moved || moves[i] > 0
		}

		if moved {
			w.advance(o.c, x, moves, o.told)
		}
	}
}

func (w *plainWorld) resetChallenge(c *plainCustomer, id string) error {
	i := slices.IndexFunc(w.rules.challenges, func(x *plainChallenge) bool { return x.id == id })
	switch {
	case i < 0:
		return loyalty.ErrChallengeNotFound
	case !w.rules.challenges[i].resetable:
		return loyalty.ErrNotResetable
	case c.challenges[id] != nil:
		clear(c.challenges[id].counts)
		c.challenges[id].slots = nil
	}
	return nil
}

// plainTier is a tier that a customer has: rank 0 is none.
type plainTier struct {
	rank       int       // what they have
	earned     int       // what the figure gives
	grace, due time.Time // when that falls; when it is looked at again
	manual     int       // given by hand; 0: none
	until      time.Time // when that ends; zero: never
	over       int       // what the figure gave then, or at most gives since
}

// figure is what a structure counts: all points ever earned, or what purchases
// cost less refunds.
func (w *plainWorld) figure(c *plainCustomer, s *plainStructure) (n int64) {
	if s.base == tierrules.BasePoints {
		return c.score
	}
	for _, p := range c.purchases {
		if p.state == loyalty.Accepted || p.state == loyalty.Refunded {
			n += p.total
		}
	}
	return n / 10_000
}

func (w *plainWorld) tiers(c *plainCustomer) {
	for _, s := range w.rules.structures {
		tier := c.tiers[s.id]
		if s.base == tierrules.BaseSpend && slices.ContainsFunc(w.told, func(t *told) bool { return t.customer == c.index && t.action == "merge" }) {
			tier.due = w.now.Add(time.Millisecond) // the journals are one by then
			c.tiers[s.id] = tier
			continue
		}
		w.judge(c, s)
	}
}

// judge brings a tier up to date, and says whether it is another one.
func (w *plainWorld) judge(c *plainCustomer, s *plainStructure) bool {
	tier := c.tiers[s.id]
	before := tier.rank
	defer func() { c.tiers[s.id] = tier }()
	tier.due = time.Time{}
	if !c.enrolled() || !w.rules.on(programme.ModuleTiers) {
		return false
	}

	at := c.at
	if c.late {
		at = w.now
	}

	w.weigh(c, s, &tier, at)
	if tier.rank > before {
		w.tell(c, "tier_up", 0).at = at
	} else if tier.rank < before {
		w.tell(c, "tier_down", 0).at = at
	}

	return tier.rank != before
}

// weigh leads what the figure gives up at once, and down after the grace days. A tier that was given by
// hand holds until it ends; above one without an end the figure can rise, once it gives more than it
// gave then.
func (w *plainWorld) weigh(c *plainCustomer, s *plainStructure, tier *plainTier, at time.Time) {
	figure, entitled := w.figure(c, s), 0
	for i, threshold := range s.thresholds {
		if figure >= threshold {
			entitled = i + 1
		}
	}

	switch {
	case entitled >= tier.earned || (s.grace == 0) || (!tier.grace.IsZero() && !at.Before(tier.grace)):
		tier.earned, tier.grace = entitled, time.Time{}
	case tier.grace.IsZero():
		tier.grace = w.midnight(at, s.grace)
	}

	tier.over = min(tier.over, tier.earned)
	if !tier.until.IsZero() && !at.Before(tier.until) {
		tier.manual, tier.until, tier.over = 0, time.Time{}, 0
	}

	tier.rank = tier.manual
	if tier.manual == 0 || (tier.until.IsZero() && tier.earned > tier.manual && tier.earned > tier.over) {
		tier.rank = tier.earned
	}

	tier.due = earlier(tier.grace, tier.until)
}

// earlier is the first of two dates; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// giveTier puts a customer into a tier by hand. What the figure gives is looked at first, and not told.
func (w *plainWorld) giveTier(c *plainCustomer, e *said) error {
	for _, s := range w.rules.structures {
		for i := range s.thresholds {
			if s.tier(i+1) != e.thing {
				continue
			}
			tier := c.tiers[s.id]
			w.weigh(c, s, &tier, c.at)
			tier.rank, tier.manual, tier.until, tier.over = i+1, i+1, e.expires, tier.earned
			tier.due = earlier(tier.grace, tier.until)
			c.tiers[s.id] = tier
			return nil
		}
	}

	return loyalty.ErrTierNotFound
}

// join is the higher tier of two, and the higher one that was given, or of one the longer.
func (x plainTier) join(o plainTier) plainTier {
	x.rank = max(x.rank, o.rank)
	if o.earned > x.earned {
		x.earned, x.grace = o.earned, o.grace
	}
	longer := o.manual > 0 && o.manual == x.manual && !x.until.IsZero() && (o.until.IsZero() || o.until.After(x.until))
	if o.manual > x.manual || longer {
		x.manual, x.until, x.over = o.manual, o.until, o.over
	}
	x.due = earlier(x.due, o.due)
	return x
}

// midnight is the one after so many whole days.
func (w *plainWorld) midnight(at time.Time, days int) time.Time {
	y, m, d := at.In(w.rules.zone).Date()
	first := time.Date(y, m, d, 0, 0, 0, 0, w.rules.zone)
	if first.Before(at) {
		days++
	}
	return time.Date(y, m, d+days, 0, 0, 0, 0, w.rules.zone)
}

// recalculate looks at a tier that came due. One that holds on is told too.
func (w *plainWorld) recalculate(c *plainCustomer, id string) {
	i := slices.IndexFunc(w.rules.structures, func(s *plainStructure) bool { return s.id == id })
	if !w.judge(c, w.rules.structures[i]) {
		w.tell(c, "tier_recalculation", 0)
	}
}

// plainBonus is what a friend's arrival brought.
type plainBonus struct {
	transaction string // with which it is gone
}

type plainBonusPart struct {
	customer, lot int
	points        int64
}

// refer notes who brought a customer.
func (w *plainWorld) refer(c *plainCustomer, e *said) error {
	if e.referrer == "" {
		return nil
	}

	i, known := w.names[e.referrer]
	switch {
	case !known && e.referrer != c.was:
		return loyalty.ErrReferrerUnknown
	case !known || i == c.index:
		return loyalty.ErrReferrerSelf
	}

	r := w.survivor(i)
	if r != c && r.status != loyalty.OptedOut {
		w.other(r, c) // what is due for them is applied, because they are looked at
	}
	if loyalty.EmailKey(r.email) == loyalty.EmailKey(e.email) && e.email != "" {
		return nil // themselves once more
	}

	c.referrer = i
	return nil
}

func (w *plainWorld) referral(o plainOccurrence) {
	if !w.rules.on(programme.ModuleFriendReferral) {
		return
	}
	pays := map[string]string{"checkout": programme.PayOnCheckout, "opt_in": programme.PayOnOptIn}[o.action]
	if o.c.referrer >= 0 && o.c.bonus == nil && pays == w.rules.payOn {
		w.payBonus(o)
	}
}

func (w *plainWorld) payBonus(o plainOccurrence) {
	o.c.bonus = &plainBonus{transaction: o.id}
	pay := func(c *plainCustomer, n int64) {
		if n == 0 || !c.enrolled() {
			return
		}
		lot := w.earn(w.tell(c, "referral_bonus", n), n, o.id)
		if o.bought != nil {
			o.bought.referral = append(slices.Clone(o.bought.referral), plainBonusPart{c.index, lot, n})
		}
	}

	if r := w.survivor(o.c.referrer); r != o.c && w.rules.referrerPoints > 0 {
		w.other(r, o.c)
		r.at = o.c.at
		pay(r, w.rules.referrerPoints)
	}

	pay(o.c, w.rules.friendPoints)
}

// takeBonusBack takes what an undone purchase brought for a referral; where all of it is gone, the next one pays.
func (w *plainWorld) takeBonusBack(friend *plainCustomer, p *plainPurchase, id string) {
	stays := false
	for _, part := range p.referral {
		c := w.survivor(part.customer)
		w.other(c, friend)
		if c.status == loyalty.OptedOut {
			continue
		}

		n := part.points
		if w.rules.refuseNegative {
			n = min(n, max(0, c.spendable())+c.lot(part.lot).expired)
		}

		stays = stays || n < part.points
		if n == 0 {
			continue
		}

		w.tell(c, "point_sub", -n)
		c.takeBack(id, n, part.lot)
	}

	none := len(p.referral) == 0 && friend.referrer < 0
	p.referral = nil
	if b := friend.bonus; !stays && !none && b != nil && b.transaction == id {
		friend.bonus = nil
	}
}
