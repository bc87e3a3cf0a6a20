package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// partial_refund refunds part of an accepted purchase's money. The points it earned and burned follow in proportion, so
// that parts add up to the whole.
var partialRefund = engine.Action[events.PartialRefundData]{
	Name: "partial_refund", Standing: engine.Earner,
	Needs: func(d events.PartialRefundData, n *loyalty.CustomerNeeds) { needRefund(d.TransactionID, n) },
	Apply: func(r *engine.Run, d events.PartialRefundData) error {
		t, err := r.Transaction(d.TransactionID)
		if err != nil {
			return err
		}
		if err := t.Move("partial_refund"); err != nil {
			return err
		}

		switch left := money.Amount(t.OriginalTotal - t.Refunded); {
		case d.Amount <= 0:
			return loyalty.ErrRefundNotPositive.At("data.amount")
		case d.Amount > left:
			return loyalty.ErrRefundTooLarge.With("left", left.String()).At("data.amount")
		}

		return refundMoney(r, t, d.Amount)
	},
}

// needRefund declares what every refund reads: the purchase, its lots, and the lots that its burned points go back to.
func needRefund(transaction string, n *loyalty.CustomerNeeds) {
	// used up and expired lots too: earned points may have been spent, and the lots of burned points may have expired
	n.Lots = loyalty.UsedLots
	n.Transactions = []string{transaction}
}

// refundMoney books an amount back and takes its share of the points.
func refundMoney(r *engine.Run, t *loyalty.Transaction, amount money.Amount) error {
	t.Refunded += money.Parts(amount)
	t.Total = t.OriginalTotal - t.Refunded
	rounding, refunded, original := r.Programme.Purchase.Rounding, money.Amount(t.Refunded), money.Amount(t.OriginalTotal)
	// the share of all refunds so far, less what earlier ones took: rounded parts would not add up to the whole
	removed := due(rounding.Share(t.OriginalEarned, refunded, original), t.OriginalEarned, t.Earned)
	restored := due(rounding.Share(t.OriginalBurned, refunded, original), t.OriginalBurned, t.Burned)
	if err := giveBack(r, t, removed, restored); err != nil {
		return err
	}
	return settle(r, t, t.Total == 0) // of a total above 0, or there was nothing to refund
}

// due is how much of a share is still to be given back, between 0 and what is left. original − left was given back
// before.
func due(share, original, left int64) int64 {
	return min(max(share-(original-left), 0), left)
}

// giveBack takes earned points from the customer and gives burned ones back, dated no earlier than the purchase. lines
// are the lines whose pieces come back.
func giveBack(r *engine.Run, t *loyalty.Transaction, removed, restored int64, lines ...loyalty.LineReturn) error {
	purchase.NotBefore(r, r.Event, t)
	if err := purchase.Unburn(r, r.Event, t, restored); err != nil {
		return err
	}
	return purchase.TakeBack(r, r.Event, t, removed, lines...)
}
