package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// refund gives a whole accepted purchase back: what is left of the points it
// earned is removed, what is left of those it burned returns, gift cards get back
// what they paid, and challenges do not count it any more.
var refund = engine.Action[events.RefundData]{
	Name: "refund", Standing: engine.Earner,
	Needs: func(d events.RefundData, n *loyalty.CustomerNeeds) { needRefund(d.TransactionID, n) },
	Apply: func(r *engine.Run, d events.RefundData) error {
		t, err := r.Transaction(d.TransactionID)
		if err != nil {
			return err
		}
		if err := t.Move("refund"); err != nil {
			return err
		}
		// the gift cards need to know what was refunded before, because part of it may have been
		// theirs
		before := money.Amount(t.Refunded)
		t.Refunded, t.Total = t.OriginalTotal, 0
		if err := giveBack(r, t, t.Earned, t.Burned); err != nil {
			return err
		}
		if err := coupon.RefundCards(r, r.Event, t, before); err != nil {
			return err
		}
		// only a full refund: parts leave a purchase that was made, and challenges count purchases
		if err := challenge.Undo(r, r.Event, t); err != nil {
			return err
		}
		r.Changed(r.Event, t)
		return nil
	},
}
