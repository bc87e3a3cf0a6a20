package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// refund refunds a whole accepted purchase: the rest of the points it earned is removed, the rest of those it burned
// returns, gift cards get back what they paid, and everything else it brought is taken back.
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
		t.Refunded, t.Total = t.OriginalTotal, 0
		if err := giveBack(r, t, t.Earned, t.Burned); err != nil {
			return err
		}
		return settle(r, t, true)
	},
}

// settle ends a refund. Gift cards get their share of the money. If the purchase is undone, everything it brought is
// taken back, otherwise only what lines brought whose last piece has come back.
func settle(r *engine.Run, t *loyalty.Transaction, undone bool, back ...loyalty.LineReturn) error {
	if err := coupon.RefundCards(r, r.Event, t); err != nil {
		return err
	}

	if undone {
		if err := engine.Undone(r, r.Event, t); err != nil {
			return err
		}
	}

	whole := map[loyalty.ID]bool{}
	for _, b := range back {
		whole[b.Line.Event] = b.Line.Returned == b.Line.Quantity
	}

	runs := t.TakeRuns(func(run loyalty.CampaignRun) bool { return whole[run.Line] })
	if err := engine.Ungive(r, r.Event, runs); err != nil {
		return err
	}

	r.Changed(r.Event, t)
	return nil
}
