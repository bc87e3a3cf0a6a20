// Package purchase is what happens to purchases: they are priced, accepted, rejected, refunded, claimed by a customer
// who bought as a guest, or held until they are validated.
package purchase

import (
	"encoding/json"
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// EarnPending adds the pending points of a purchase that must be accepted: each line's on the row of its item, own on
// the row of the checkout or update.
func EarnPending(r *engine.Run, e *loyalty.Event, itemAction string, t *loyalty.Transaction) error {
	own, err := eachLine(r, e, itemAction, t, func(item *loyalty.Event, n int64) error {
		item.Shown(n)
		return r.Book.Promise(item.ID, n)
	})
	if err != nil {
		return tooManyPoints(r, err)
	}
	r.Trace("promise", "applied", "reason.promised", own)
	return Promise(r, e, own)
}

// earnAccepted gives the points of an accepted purchase, a lot for each item.
func earnAccepted(r *engine.Run, e *loyalty.Event, itemAction string, t *loyalty.Transaction) error {
	// TracePrice explains it
	own, err := eachLine(r, e, itemAction, t,
		func(item *loyalty.Event, n int64) error { return r.Credit(item, n, t.Name) })
	if err != nil || own == 0 {
		return tooManyPoints(r, err)
	}
	return tooManyPoints(r, r.Earn(e, own, t.Name))
}

// eachLine writes the item events of a purchase and returns how many of its points belong to no line.
func eachLine(
	r *engine.Run, e *loyalty.Event, action string, t *loyalty.Transaction, earn func(*loyalty.Event, int64) error,
) (own int64, err error) {
	own = t.Earned
	if err := bequeath(r, e, t); err != nil {
		return 0, err
	}

	for i := range t.Detail.Items {
		l := &t.Detail.Items[i]
		item, err := recordItem(r, e, action, t, l)
		if err != nil {
			return 0, err
		}
		if err := earn(item, l.Points); err != nil {
			return 0, err
		}
		if err := r.Effort(0); err != nil {
			return 0, err
		}
		own -= l.Points
	}

	return own, nil
}

// recordItem writes the event of one line and makes it the line's event. Its row has
// the line's own attributes; those of the checkout are joined when it is read.
func recordItem(
	r *engine.Run, parent *loyalty.Event, action string, t *loyalty.Transaction, l *loyalty.Line,
) (*loyalty.Event, error) {
	item := r.Append(action, parent.At)
	item.Parent, item.Transaction, item.Data = parent.ID, t.Name, loyalty.Object(l.Data)
	own, err := r.OpenBought(t, l.Personal, l.Event, l.Own)
	if err != nil {
		return nil, err
	}
	l.Event, l.Changed = item.ID, false
	if l.Personal, err = r.Seal(own, l.Event); err != nil {
		return nil, err
	}
	item.Personal = l.Personal
	return item, nil
}

// SetAttributes puts the attributes of a checkout or of its update on the
// purchase; the personal ones are sealed. An update replaces what it sends.
func SetAttributes(r *engine.Run, t *loyalty.Transaction, plain, personal map[string]json.RawMessage) error {
	known, err := r.OpenBought(t, t.Detail.Personal, t.Checkout, nil)
	if err != nil {
		return err
	}
	all := loyalty.MergeAttributes(known, personal)
	if err := engine.AffordPurchase(r.Programme, all); err != nil {
		return err
	}
	t.Detail.Attributes = loyalty.MergeAttributes(t.Detail.Attributes, plain)
	t.Detail.Personal, err = r.Seal(all, t.Checkout)
	return err
}

// Accept makes a pending purchase final: held points are burned, and pending points are earned in lots dated now.
func Accept(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	if err := t.Move("checkout_accept"); err != nil {
		return err
	}

	NotBefore(r, e, t)
	if r.At.After(t.CheckoutDate) {
		t.Detail.AcceptedAt = r.At
	}

	if len(t.Detail.Burn) > 0 {
		burn := burned(r, e, t)
		if err := r.Book.Capture(burn.ID, t.Detail.Burn); err != nil {
			return err
		}
	}

	own, err := eachLine(r, e, "checkout_accept_item", t, func(item *loyalty.Event, n int64) error {
		// on the same row as the credit: the breakdown shows that pending points became real
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

	final(r, e, t)
	return nil
}

// NotBefore dates an event no earlier than its purchase, or the acceptance of the purchase. A purchase must not be seen
// before it was made. A refund dated into an earlier window of a tier or a leaderboard would leave the purchase counted
// in its own window.
func NotBefore(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) {
	since := t.CheckoutDate
	if t.Detail.AcceptedAt.After(since) {
		since = t.Detail.AcceptedAt
	}
	if r.At.Before(since) {
		r.At, e.At = since, since
	}
}

// final freezes what an accepted purchase earned and burned. Refunds compare with it for as long as the purchase is
// kept.
func final(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) {
	t.OriginalEarned, t.OriginalBurned = t.Earned, t.Burned
	e.Accepted = t
	e.Shown(t.Earned - t.Burned)
	r.Changed(e, t)
}

// Reject undoes a pending purchase: nothing is earned, and held points are free again.
func Reject(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	if err := t.Move("checkout_reject"); err != nil {
		return err
	}

	r.Book.Withdraw(e.ID, t.Earned)
	if err := ReleaseHold(r, e, t.Name, t.Detail.Burn); err != nil {
		return err
	}
	if err := engine.Rejected(r, e, t); err != nil {
		return err
	}
	if err := engine.Undone(r, e, t); err != nil {
		return err
	}

	t.Earned, t.Burned, t.Detail.Burn = 0, 0, nil
	r.Changed(e, t)
	return nil
}

// Record makes a purchase final in one step, or pending if the module checkout_accept is on or the event is held. Its
// points are priced and its lines set.
func Record(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) error {
	if !Pends(r) {
		t.State = loyalty.Accepted
		if err := earnAccepted(r, e, "checkout_item", t); err != nil {
			return err
		}
		final(r, e, t)
		return nil
	}

	t.State = loyalty.Pending
	if err := EarnPending(r, e, "checkout_item", t); err != nil {
		return err
	}

	e.Shown(t.Earned - t.Burned)
	r.Changed(e, t)
	return nil
}

// Burn takes points of the customer for a purchase: spent at once, or held while the purchase is pending. It fails with
// ErrNotEnoughPoints, and with ErrSuspended because a suspended customer cannot spend. A suspended customer may still
// buy and earn.
func Burn(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, n int64) (err error) {
	if n == 0 {
		return nil
	}

	switch r.Customer.Status {
	case loyalty.Suspended:
		return loyalty.ErrSuspended.At("data.points_burned")
	case loyalty.Inactive: // a guest
		return loyalty.ErrWrongStatus.With("status", string(loyalty.Inactive)).With("action", "checkout").
			At("data.points_burned")
	}

	t.Burned = n
	if t.State == loyalty.Pending {
		hold := derivePoints(r, e, "reserve_points", t.Name, n)
		hold.Shown(-n)
		t.Detail.Burn, err = r.Book.Reserve(hold.ID, n)
	} else {
		t.Detail.Burn, err = r.Book.Spend(burned(r, e, t).ID, n)
	}

	if errors.Is(err, points.ErrInsufficient) {
		r.TraceInput(loyalty.Verdict{Rule: "burn", Verdict: "refused", Reason: "reason.not_enough",
			Input: map[string]any{"spendable": r.Book.Figures.Spendable()}, Points: -n})
		return loyalty.ErrNotEnoughPoints.At("data.points_burned")
	}

	r.Trace("burn", "applied", "reason.burned", -n)
	return err
}

// burned writes the point_burn row of a purchase.
func burned(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction) *loyalty.Event {
	burn := derivePoints(r, e, "point_burn", t.Name, t.Burned)
	burn.Shown(-t.Burned)
	return burn
}

// ReleaseHold frees points that were held for a purchase, on a derived release_points row. Without a hold it writes no
// row: most purchases have no reservation.
func ReleaseHold(r *engine.Run, e *loyalty.Event, transaction string, hold []points.Portion) error {
	n := points.Total(hold)
	if n == 0 {
		return nil
	}
	release := derivePoints(r, e, "release_points", transaction, n)
	release.Shown(n)
	_, err := r.Book.Release(release.ID, hold, n)
	r.Trace("release", "applied", "reason.released", n)
	return err
}

// Unburn gives burned points back to their lots, on a derived point_unburn row.
func Unburn(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, n int64) (err error) {
	// Points that point_unspend has given back meanwhile are not given back again.
	if n = min(n, r.Book.Restorable(t.Detail.Burn)); n == 0 {
		return nil
	}
	restored := derivePoints(r, e, "point_unburn", t.Name, n)
	restored.Shown(n)
	t.Detail.Burn, err = r.Book.Restore(restored.ID, t.Detail.Burn, n)
	// by the points that came back, which may be fewer than asked for
	t.Burned -= n
	r.Trace("unburn", "applied", "reason.unburned", n)
	return err
}

// TakeBack removes points that a purchase earned, on the event's own row: from its own lots first, beginning with those
// of the lines whose pieces came back.
func TakeBack(r *engine.Run, e *loyalty.Event, t *loyalty.Transaction, n int64, lines ...loyalty.LineReturn) error {
	first := make([]points.ID, len(lines))
	for i, l := range lines {
		first[i] = l.Line.Event
	}

	before := r.Book.Figures.Spendable()
	if err := r.Book.TakeBack(e.ID, t.Name, n, first...); err != nil {
		return loyalty.ErrTooLarge.With("property", "points")
	}
	// Expired points cost no balance, so the balance itself is checked.
	if r.Programme.Economy.NegativeRefuse && r.Book.Figures.Spendable() < min(0, before) {
		return loyalty.ErrNegativeRefused.At("data.transaction_id")
	}

	t.TakeGifts(e, n, lines)
	t.Earned -= n
	e.Shown(-n)
	r.Trace("refund", "applied", "reason.taken_back", -n)
	return nil
}
