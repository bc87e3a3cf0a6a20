package action

import (
	"math/big"

	"github.com/shopspring/decimal"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// refund_item takes back pieces of a product of an accepted purchase, from the lines that have it. A line's points
// follow in proportion to the pieces, burned points in proportion to the line's subtotal. The last piece that cost
// something takes all that is left of them. Its money counts as refunded.
var refundItem = engine.Action[events.RefundItemData]{
	Name: "refund_item", Standing: engine.Earner,
	Needs: func(d events.RefundItemData, n *loyalty.CustomerNeeds) { needRefund(d.TransactionID, n) },
	Apply: func(r *engine.Run, d events.RefundItemData) error {
		t, err := r.Transaction(d.TransactionID)
		if err != nil {
			return err
		}
		if err := t.Move("refund_item"); err != nil {
			return err
		}

		lines, err := linesOf(t, d.ProductID)
		if err != nil {
			return err
		}

		if d.Quantity == nil { // the first line that has pieces left
			for _, l := range lines {
				if n := l.Quantity - l.Returned; n > 0 {
					return returnPieces(r, t, lines, n)
				}
			}
			return loyalty.ErrQuantityTooLarge.With("left", 0).At("data.quantity")
		}

		return returnPieces(r, t, lines, *d.Quantity)
	},
}

// linesOf returns the lines of a product, of which there may be several, in the order of the purchase.
func linesOf(t *loyalty.Transaction, product string) ([]*loyalty.Line, error) {
	var lines []*loyalty.Line
	for i := range t.Detail.Items {
		if l := &t.Detail.Items[i]; l.ProductID == product {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil, loyalty.ErrLineNotFound.With("product_id", product).At("data.product_id")
	}
	return lines, nil
}

// returnPieces takes n pieces back, from the lines in order.
func returnPieces(r *engine.Run, t *loyalty.Transaction, lines []*loyalty.Line, n int64) error {
	rounding := r.Programme.Purchase.Rounding
	restored := -burnShare(rounding, t)
	var back []loyalty.LineReturn
	var removed int64
	left := n
	for _, l := range lines {
		if pieces := min(left, l.Quantity-l.Returned); pieces > 0 {
			taken := returnOf(rounding, t, l, pieces)
			back, removed, left = append(back, loyalty.LineReturn{Line: l, Points: taken}), removed+taken, left-pieces
		}
	}

	if left > 0 {
		return loyalty.ErrQuantityTooLarge.With("left", n-left).At("data.quantity")
	}

	restored += burnShare(rounding, t)
	all := t.CameBack()
	if all { // shares of lines were rounded, so they need not add up to the whole
		removed, restored = t.Earned, t.Burned
	}
	// other refunds may have taken more than these lines' shares, so the rest of the purchase is the bound
	if err := giveBack(r, t, min(removed, t.Earned), min(max(restored, 0), t.Burned), back...); err != nil {
		return err
	}

	return settle(r, t, all, back...)
}

// returnOf marks pieces of a line as returned and their money as refunded, and returns how many points of the line go
// for them. Shares are of all pieces returned so far, so that single returns add up to the whole line.
func returnOf(rounding money.Rounding, t *loyalty.Transaction, l *loyalty.Line, pieces int64) int64 {
	returned := l.Returned + pieces
	worth := share(l.Subtotal, returned, l.Quantity) - share(l.Subtotal, l.Returned, l.Quantity)
	points := max(portion(rounding, l.Points, returned, l.Quantity)-l.TakenBack, 0)
	l.Return(pieces, points)
	t.Refunded += min(money.Parts(max(worth, 0)), t.OriginalTotal-t.Refunded)
	t.Total = t.OriginalTotal - t.Refunded
	return points
}

// share is the part of an amount that n of all pieces cost, floored to 1/10,000.
func share(a money.Amount, n, all int64) money.Amount {
	return money.Amount(portion(money.Floor, int64(a), n, all))
}

func portion(rounding money.Rounding, whole, n, all int64) int64 {
	return rounding.Share(whole, money.Amount(n), money.Amount(all))
}

// burnShare is how many burned points all returned pieces give back, in proportion to their part of all subtotals. It
// is rounded once for all of them, so that lines returned one by one restore as many as together.
func burnShare(rounding money.Rounding, t *loyalty.Transaction) int64 {
	if t.OriginalBurned == 0 {
		return 0
	}

	var all decimal.Decimal
	returned := new(big.Rat)
	for _, l := range t.Detail.Items {
		subtotal := l.Subtotal.Decimal()
		all = all.Add(subtotal)
		if l.Returned > 0 {
			returned.Add(returned, new(big.Rat).Mul(subtotal.Rat(), big.NewRat(l.Returned, l.Quantity)))
		}
	}

	// a purchase of nothing but free items has no proportion to split by
	if all.IsZero() {
		return 0
	}

	exact := decimal.NewFromBigInt(returned.Num(), 0).Mul(decimal.NewFromInt(t.OriginalBurned))
	return money.Ratio(exact, all.Mul(decimal.NewFromBigInt(returned.Denom(), 0)), rounding)
}
