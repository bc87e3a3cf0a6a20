package action

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
)

// checkout_update changes a pending purchase: it replaces the values that it sends, and is the only way to remove
// items. Points and holds are computed again.
var checkoutUpdate = engine.Action[events.CheckoutUpdateData]{
	Name: "checkout_update", Standing: engine.Earner,
	Needs: func(d events.CheckoutUpdateData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Key = loyalty.HeldLots, true // item events take over the personal attributes
		if d.PointsBurned != nil {
			n.Lots = loyalty.OpenLots
		}
		n.Transactions = []string{d.TransactionID}
	},
	Apply: applyCheckoutUpdate,
}

// applyCheckoutUpdate repeats the steps of a checkout for what the update replaces.
func applyCheckoutUpdate(r *engine.Run, d events.CheckoutUpdateData) error {
	t, err := r.Transaction(d.TransactionID)
	if err != nil {
		return err
	}
	if err := t.Move("checkout_update"); err != nil {
		return err
	}

	t.Total, t.OriginalTotal = money.Parts(d.Total), money.Parts(d.Total)
	if t.AutoAccept, err = newAutoAccept(r, t); err != nil {
		return err
	}
	if err := reburn(r, t, d.PointsBurned); err != nil {
		return err
	}
	if err := itemize(r, t, d.Items); err != nil {
		return err
	}
	// gift cards pay the rest of the total, which has changed
	if err := coupon.RepayCards(r, r.Event, t); err != nil {
		return err
	}
	if err := reprice(r, t); err != nil {
		return err
	}

	r.Event.Shown(t.Earned - t.Burned)
	r.Changed(r.Event, t)
	return nil
}

// reprice computes the pending points of the purchase again: on the rows of new items, or on the update's own row if
// the items stay.
func reprice(r *engine.Run, t *loyalty.Transaction) error {
	// withdraws all points and promises them anew: the breakdown could not show differences line by line
	r.Book.Withdraw(r.Event.ID, t.Earned)
	if err := price(r, t); err != nil {
		return err
	}
	if _, sent := r.Data["items"]; sent {
		return purchase.EarnPending(r, r.Event, "checkout_update_item", t)
	}
	return purchase.Promise(r, r.Event, t.Earned)
}

// newAutoAccept keeps the date if none was sent, and removes it if it was sent as null or empty: the purchase is then
// accepted or rejected by hand.
func newAutoAccept(r *engine.Run, t *loyalty.Transaction) (time.Time, error) {
	old := t.AutoAccept
	// the decoded data does not distinguish null from absent, and they mean opposite things here
	raw, sent := r.Data["auto_accept"]
	if !sent {
		return old, nil
	}

	var text *string
	if err := json.Unmarshal(raw, &text); err != nil {
		return old, loyalty.ErrPropertyInvalid.With("property", "auto_accept").With("reason", "instant").
			At("data.auto_accept")
	}
	if text == nil || strings.TrimSpace(*text) == "" {
		return time.Time{}, nil
	}

	return autoAccept(r, t, text)
}

// reburn holds another number of points for the purchase; absent keeps the number.
func reburn(r *engine.Run, t *loyalty.Transaction, sent *int64) error {
	if sent == nil || *sent == t.Burned {
		return nil
	}
	// all are released before any is held again: the new number may need the points of the old one
	if err := purchase.ReleaseHold(r, r.Event, t.Name, t.Detail.Burn); err != nil {
		return err
	}
	t.Burned, t.Detail.Burn = 0, nil
	return purchase.Burn(r, r.Event, t, *sent)
}
