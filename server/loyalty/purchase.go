package loyalty

import (
	"encoding/json"
	"errors"
	"maps"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Price gives every line its points. A line's own points_rewarded wins, then
// the checkout's, which replaces the computed points of the other lines
// together and is spread over them by subtotal; else the rate of
// incentivized_purchase applies to each subtotal. own are points that belong to
// no line: those of a checkout without items. A currency without a rate earns nothing.
func (p *Programme) Price(lines []Line, currency string, rewarded *int64) (own int64, err error) {
	var computed []*Line
	for i := range lines {
		if l := &lines[i]; l.Rewarded == nil {
			computed = append(computed, l)
		}
	}
	defer noteRepriced(lines, pointsOf(lines))
	for i := range lines {
		lines[i].Points = deref(lines[i].Rewarded)
	}
	switch {
	case rewarded != nil && len(lines) == 0:
		return *rewarded, nil
	case rewarded != nil:
		return 0, spread(*rewarded, computed)
	case !p.On[ModuleIncentivizedPurchase]:
		return 0, nil
	}
	rate, known := p.RateFor(currency)
	if !known {
		return 0, nil
	}
	for _, l := range computed {
		n, err := rate.Points(l.Subtotal, p.Purchase.Rounding)
		if err != nil || n > points.Max {
			return 0, ErrTooLarge.With("property", "subtotal").At("data.items")
		}
		l.Points = max(0, n)
	}
	return 0, nil
}

// noteRepriced marks the lines whose points are others than before: an update of a
// purchase prices all of its lines again, and few of them change.
func noteRepriced(lines []Line, before []int64) {
	for i := range lines {
		lines[i].changed = lines[i].changed || lines[i].Points != before[i]
	}
}

func pointsOf(lines []Line) []int64 {
	all := make([]int64, len(lines))
	for i := range lines {
		all[i] = lines[i].Points
	}
	return all
}

// spread shares points over lines by subtotal, so that the shares add up to the
// whole: each line gets what the running sum of subtotals is due beyond what
// the lines before it got.
func spread(whole int64, lines []*Line) error {
	var total, running money.Amount
	for _, l := range lines {
		sum, err := money.Add(total, l.Subtotal)
		if err != nil {
			return ErrTooLarge.With("property", "subtotal").At("data.items")
		}
		total = sum
	}
	var given int64
	for i, l := range lines {
		running += l.Subtotal
		due := whole
		if total != 0 || i < len(lines)-1 {
			due = money.Floor.Share(whole, running, total)
		}
		l.Points, given = due-given, due
	}
	return nil
}

// EarnPending promises the points of a purchase that is to be accepted: each
// on the row of its item, own on the row of the checkout or update.
func (r *Run) EarnPending(e *Event, itemAction string, t *Transaction) error {
	own, err := r.eachLine(e, itemAction, t, func(item *Event, n int64) error {
		item.Shown(n)
		return r.Book.Promise(item.ID, n)
	})
	if err != nil {
		return tooManyPoints(err)
	}
	r.Trace("promise", "applied", "reason.promised", own)
	return r.Promise(e, own)
}

// Promise shows points of a pending purchase that hang on none of its items.
func (r *Run) Promise(e *Event, n int64) error { return tooManyPoints(r.Book.Promise(e.ID, n)) }

// tooManyPoints names the items when they earn more than a balance can hold.
func tooManyPoints(err error) error {
	if errors.Is(err, points.ErrOverflow) || errors.Is(err, ErrTooLarge) {
		return ErrTooLarge.With("property", "points").At("data.items")
	}
	return err
}

// EarnAccepted gives the points of an accepted purchase, a lot for each item.
func (r *Run) EarnAccepted(e *Event, itemAction string, t *Transaction) error {
	own, err := r.eachLine(e, itemAction, t, func(item *Event, n int64) error { return r.credit(item, n, t.Name) }) // TracePrice told it
	if err != nil || own == 0 {
		return tooManyPoints(err)
	}
	return tooManyPoints(r.Earn(e, own, t.Name))
}

// eachLine writes the item events of a purchase and says how many of its points
// belong to no line.
func (r *Run) eachLine(e *Event, action string, t *Transaction, earn func(*Event, int64) error) (own int64, err error) {
	own = t.Earned
	if err := r.bequeath(e, t); err != nil {
		return 0, err
	}
	for i := range t.Detail.Items {
		l := &t.Detail.Items[i]
		item, err := r.recordItem(e, action, t, l)
		if err != nil {
			return 0, err
		}
		if err := earn(item, l.Points); err != nil {
			return 0, err
		}
		if err := r.effort(0); err != nil {
			return 0, err
		}
		own -= l.Points
	}
	return own, nil
}

// recordItem writes the event of one line and makes it the line's event. Its row has
// the line's own attributes; those of the checkout are joined when it is read.
func (r *Run) recordItem(parent *Event, action string, t *Transaction, l *Line) (*Event, error) {
	item := r.add(action, parent.At)
	item.Parent, item.Transaction, item.Data = parent.ID, t.Name, marshal(l.Data)
	own, err := r.openBought(t, l.Personal, l.Event, l.Own)
	if err != nil {
		return nil, err
	}
	l.Event, l.changed = item.ID, false
	if l.Personal, err = r.seal(own, l.Event); err != nil {
		return nil, err
	}
	item.Personal = l.Personal
	return item, nil
}

// SetAttributes puts the attributes of a checkout or of its update on the
// purchase; the personal ones are sealed. An update replaces what it sends.
func (r *Run) SetAttributes(t *Transaction, plain, personal map[string]json.RawMessage) error {
	known, err := r.openBought(t, t.Detail.Personal, t.Checkout, nil)
	if err != nil {
		return err
	}
	all := merge(known, personal)
	if err := r.Programme.affordPurchase(all); err != nil {
		return err
	}
	t.Detail.Attributes = merge(t.Detail.Attributes, plain)
	t.Detail.Personal, err = r.seal(all, t.Checkout)
	return err
}

func merge(old, sent map[string]json.RawMessage) map[string]json.RawMessage {
	merged := make(map[string]json.RawMessage, len(old)+len(sent))
	maps.Copy(merged, old)
	maps.Copy(merged, sent)
	return merged
}

// Accept makes a pending purchase final: what it held is burned, what it
// promised is earned in lots dated now. An acceptance that is dated before the purchase
// takes effect with it: nothing may see a purchase that was not made yet.
func (r *Run) Accept(e *Event, t *Transaction) error {
	if err := t.Move("checkout_accept"); err != nil {
		return err
	}
	if r.At.Before(t.CheckoutDate) {
		r.At, e.At = t.CheckoutDate, t.CheckoutDate
	}
	if len(t.Detail.Burn) > 0 {
		burn := r.burned(e, t)
		if err := r.Book.Capture(burn.ID, t.Detail.Burn); err != nil {
			return err
		}
	}
	own, err := r.eachLine(e, "checkout_accept_item", t, func(item *Event, n int64) error {
		r.Book.Withdraw(item.ID, n)
		return r.Earn(item, n, t.Name)
	})
	if err != nil {
		return err
	}
	r.Book.Withdraw(e.ID, own)
	if own > 0 {
		if err := r.Earn(e, own, t.Name); err != nil {
			return err
		}
	}
	r.final(e, t)
	return nil
}

// final freezes what an accepted purchase earned and burned.
func (r *Run) final(e *Event, t *Transaction) {
	t.OriginalEarned, t.OriginalBurned = t.Earned, t.Burned
	e.accepted = t
	e.Shown(t.Earned - t.Burned)
	r.Changed(e, t)
}

// Reject undoes a pending purchase: nothing is earned, what it held is free.
func (r *Run) Reject(e *Event, t *Transaction) error {
	if err := t.Move("checkout_reject"); err != nil {
		return err
	}
	r.Book.Withdraw(e.ID, t.Earned)
	if err := r.ReleaseHold(e, t.Name, t.Detail.Burn); err != nil {
		return err
	}
	if err := r.Rejected(e, t); err != nil {
		return err
	}
	t.Earned, t.Burned, t.Detail.Burn = 0, 0, nil
	r.Changed(e, t)
	return nil
}

// Purchase makes a purchase final in one step, or pending where the module
// checkout_accept is on or the event is held. Its points are priced, its lines set.
func (r *Run) Purchase(e *Event, t *Transaction) error {
	if !r.Pends() {
		t.State = Accepted
		if err := r.EarnAccepted(e, "checkout_item", t); err != nil {
			return err
		}
		r.final(e, t)
		return nil
	}
	t.State = Pending
	if err := r.EarnPending(e, "checkout_item", t); err != nil {
		return err
	}
	e.Shown(t.Earned - t.Burned)
	r.Changed(e, t)
	return nil
}

// Burn takes points of the customer for a purchase: spent at once, or held
// while the purchase is pending. It fails with ErrNotEnoughPoints, and with
// ErrSuspended because a suspended customer cannot spend.
func (r *Run) Burn(e *Event, t *Transaction, n int64) (err error) {
	if n == 0 {
		return nil
	}
	switch r.Customer.Status {
	case Suspended:
		return ErrSuspended.At("data.points_burned")
	case Inactive: // a guest
		return ErrWrongStatus.With("status", string(Inactive)).With("action", "checkout").At("data.points_burned")
	}
	t.Burned = n
	if t.State == Pending {
		hold := r.derive(e, "reserve_points", t.Name, n)
		hold.Shown(-n)
		t.Detail.Burn, err = r.Book.Reserve(hold.ID, n)
	} else {
		t.Detail.Burn, err = r.Book.Spend(r.burned(e, t).ID, n)
	}
	if errors.Is(err, points.ErrInsufficient) {
		r.TraceInput(Verdict{Rule: "burn", Verdict: "refused", Reason: "reason.not_enough", Input: map[string]any{"spendable": r.Book.Figures.Spendable()}, Points: -n})
		return ErrNotEnoughPoints.At("data.points_burned")
	}
	r.Trace("burn", "applied", "reason.burned", -n)
	return err
}

// burned writes the point_burn row of a purchase.
func (r *Run) burned(e *Event, t *Transaction) *Event {
	burn := r.derive(e, "point_burn", t.Name, t.Burned)
	burn.Shown(-t.Burned)
	return burn
}

// ReleaseHold frees points that were held for a purchase, on a derived
// release_points row.
func (r *Run) ReleaseHold(e *Event, transaction string, hold []points.Portion) error {
	n := points.Total(hold)
	if n == 0 {
		return nil
	}
	release := r.derive(e, "release_points", transaction, n)
	release.Shown(n)
	_, err := r.Book.Release(release.ID, hold, n)
	r.Trace("release", "applied", "reason.released", n)
	return err
}

// Unburn gives burned points back to their lots, on a derived point_unburn row.
func (r *Run) Unburn(e *Event, t *Transaction, n int64) (err error) {
	// What point_unspend gave back meanwhile is not given back again.
	if n = min(n, r.Book.Restorable(t.Detail.Burn)); n == 0 {
		return nil
	}
	restored := r.derive(e, "point_unburn", t.Name, n)
	restored.Shown(n)
	t.Detail.Burn, err = r.Book.Restore(restored.ID, t.Detail.Burn, n)
	t.Burned -= n
	r.Trace("unburn", "applied", "reason.unburned", n)
	return err
}

// TakeBack removes points that a purchase earned, on the event's own row: from
// its own lots first, first naming the one to begin with.
func (r *Run) TakeBack(e *Event, t *Transaction, first ID, n int64) error {
	before := r.Book.Figures.Spendable()
	if err := r.Book.TakeBack(e.ID, t.Name, first, n); err != nil {
		return ErrTooLarge.With("property", "points")
	}
	// What had expired costs no balance, so the balance itself is looked at.
	if r.Programme.Economy.NegativeRefuse && r.Book.Figures.Spendable() < min(0, before) {
		return ErrNegativeRefused.At("data.transaction_id")
	}
	t.takeGifts(e, t.lineOf(first), n)
	t.Earned -= n
	e.Shown(-n)
	r.Trace("refund", "applied", "reason.taken_back", -n)
	return nil
}

// purchasePoints are the attributes of the rows a purchase derives.
type purchasePoints struct {
	TransactionID string `json:"transaction_id"`
	Points        int64  `json:"points"`
}

func (r *Run) derive(parent *Event, action, transaction string, n int64) *Event {
	e := r.add(action, parent.At)
	e.Parent, e.Transaction = parent.ID, transaction
	e.Data = marshal(purchasePoints{transaction, n})
	return e
}
