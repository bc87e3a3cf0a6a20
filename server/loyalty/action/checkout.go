package action

import (
	"time"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// checkout is a purchase: it frees the points that were reserved for it, burns those that the customer offers, and
// earns on every item. With the module checkout_accept it stays pending.
var checkout = engine.Action[events.CheckoutData]{
	Name: "checkout", Standing: engine.Earner,
	Needs: func(d events.CheckoutData, n *loyalty.CustomerNeeds) {
		// a hold of this purchase may have to be released into its lots; all open lots are loaded only if points are
		// burned
		n.Lots = loyalty.HeldLots
		if deref(d.PointsBurned) > 0 {
			n.Lots = loyalty.OpenLots
		}
		n.Transactions, n.Opens = []string{d.TransactionID}, true
		n.Reservations = []string{d.TransactionID}
		n.Coupons = couponCodes(d)
		needOffers(n, d.Offers...)
	},
	Apply: applyCheckout,
}

// applyCheckout makes the purchase in the order of a till: free what was held for it, burn, record the goods, use
// coupons, price, record. Each step sees the effect of the ones before on the balance.
func applyCheckout(r *engine.Run, d events.CheckoutData) error {
	t, err := r.OpenTransaction(d.TransactionID)
	if err != nil {
		return err
	}

	t.Total, t.OriginalTotal = money.Parts(d.Total), money.Parts(d.Total)
	// the state comes first: it decides whether the steps below spend or hold, earn or promise
	if purchase.Pends(r) {
		t.State = loyalty.Pending
	}

	if r.Programme.On[programme.ModuleCheckoutAccept] {
		// the date and its consequence are stored with the purchase, so that a later change of the module does not
		// change purchases that are already waiting
		if t.AutoAccept, err = autoAccept(r, t, d.AutoAccept); err != nil {
			return err
		}
		t.AutoReject = r.Programme.Accept.Type == programme.AcceptReject
	}

	// reserved points are free for a moment, so that burning may take the very same points
	held := r.Reservation(t.Name)
	if err := purchase.ReleaseHold(r, r.Event, t.Name, held.Hold); err != nil {
		return err
	}

	held.Hold = nil
	if err := purchase.Burn(r, r.Event, t, deref(d.PointsBurned)); err != nil {
		return err
	}

	// stored with the purchase: an update that does not send it prices by it again
	t.Detail.PointsRewarded = d.PointsRewarded
	// before the attributes are kept with the purchase
	if err := coupon.WriteAsMade(r, d.CouponCode, d.Coupons); err != nil {
		return err
	}
	if err := itemize(r, t, d.Items); err != nil {
		return err
	}
	if err := coupon.RedeemCoupons(r, r.Event, t, d.CouponCode, d.Coupons); err != nil {
		return err
	}
	if err := price(r, t); err != nil {
		return err
	}
	if err := purchase.Record(r, r.Event, t); err != nil {
		return err
	}

	return offer.RedeemAll(r, r.Event, t, d.Offers)
}

// autoAccept is the date on which a pending purchase is settled: the one that was sent, otherwise the checkout's plus
// the programme's days; zero means by hand. A date in the past, such as the beginning of the day of the event that sets
// it, settles at that event, and never before the purchase.
func autoAccept(r *engine.Run, t *loyalty.Transaction, sent *string) (time.Time, error) {
	if sent != nil && *sent != "" {
		at, err := start(r, "auto_accept", sent)
		if err != nil {
			return at, err
		}
		return later(at, later(r.At, t.CheckoutDate)), nil
	}
	if r.Programme.Accept.Type == programme.AcceptManual {
		return time.Time{}, nil
	}
	// from the purchase's own date instead of the time of recording: a late purchase waits no longer than others
	return r.At.AddDate(0, 0, r.Programme.Accept.PendingDays), nil
}

// later is the later of two instants.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// itemize puts the attributes and items on the purchase as they were sent.
func itemize(r *engine.Run, t *loyalty.Transaction, items []events.LineItem) error {
	own, parts := r.Parts()
	if err := purchase.SetAttributes(r, t, own.Plain, own.Personal); err != nil {
		return err
	}
	if parts == nil {
		return nil
	}

	t.Detail.Items = make([]loyalty.Line, len(items))
	for i, item := range items {
		t.Detail.Items[i] = loyalty.Line{
			ProductID: item.ProductID, Quantity: item.Quantity, Subtotal: item.Subtotal,
			Rewarded: item.PointsRewarded, Data: parts[i].Plain, Own: parts[i].Personal,
		}
	}

	return nil
}

// price computes what the purchase earns.
func price(r *engine.Run, t *loyalty.Transaction) error {
	own, err := purchase.Price(r.Programme, t.Detail.Items, t.Currency(), t.Detail.PointsRewarded)
	if err != nil {
		return err
	}
	purchase.TracePrice(r, t)
	// the total of what the lines and the purchase earn; refunds take their share of it
	t.Earned = own
	for _, l := range t.Detail.Items {
		t.Earned += l.Points
	}
	return nil
}

// couponCodes lists the coupons that a checkout redeems.
func couponCodes(d events.CheckoutData) []string {
	if d.CouponCode == nil {
		return d.Coupons
	}
	return append([]string{*d.CouponCode}, d.Coupons...)
}
