package action

import (
	"math/big"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// refund_item gives pieces of one line of an accepted purchase back: the line's
// points in proportion to the pieces, burned points in proportion to the line's
// subtotal, and with the last piece that cost something all that is left of them. Its money
// counts as refunded.
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
		line, err := findLine(t, d.ProductID)
		if err != nil {
			return err
		}
		left := line.Quantity - line.Returned
		n := left
		if d.Quantity != nil {
			n = *d.Quantity
		}
		if n > left || left == 0 {
			return loyalty.ErrQuantityTooLarge.With("left", left).At("data.quantity")
		}
		return returnPieces(r, t, line, n)
	},
}

// findLine finds the line of a product: the first that has pieces left.
func findLine(t *loyalty.Transaction, product string) (*loyalty.Line, error) {
	same := func(l loyalty.Line) bool { return l.ProductID == product }
	// a product may stand in several lines; a line that was returned as a whole is used only for
	// its error
	i := slices.IndexFunc(t.Detail.Items, func(l loyalty.Line) bool { return same(l) && l.Returned < l.Quantity })
	if i < 0 {
		i = slices.IndexFunc(t.Detail.Items, same)
	}
	if i < 0 {
		return nil, loyalty.ErrLineNotFound.With("product_id", product).At("data.product_id")
	}
	return &t.Detail.Items[i], nil
}

// returnPieces books n pieces of a line back. Shares are taken of all pieces
// returned so far, so that returns one by one add up to the whole line.
func returnPieces(r *engine.Run, t *loyalty.Transaction, line *loyalty.Line, n int64) error {
	rounding := r.Programme.Purchase.Rounding
	before := share(line.Subtotal, line.Returned, line.Quantity)
	returned := line.Returned + n
	worth := share(line.Subtotal, returned, line.Quantity) - before
	points := portion(rounding, line.Points, returned, line.Quantity) - line.TakenBack
	restored := -burnShare(rounding, t)

	// other refunds may have taken more than this line's share, so no more is moved than is left of
	// the purchase
	removed := min(max(points, 0), t.Earned)
	line.Return(n, max(points, 0))
	restored += burnShare(rounding, t)
	if cameBack(t.Detail.Items) { // shares of lines were rounded, and the whole is not
		restored = t.Burned
	}
	t.Refunded += min(money.Parts(max(worth, 0)), t.OriginalTotal-t.Refunded)
	t.Total = t.OriginalTotal - t.Refunded
	if err := giveBack(r, t, line.Event, removed, min(max(restored, 0), t.Burned)); err != nil {
		return err
	}
	r.Changed(r.Event, t)
	return nil
}

// cameBack tells whether everything that was paid for was given back: each piece of each line
// that cost something, or of every line where none did.
func cameBack(lines []loyalty.Line) bool {
	free := !slices.ContainsFunc(lines, func(l loyalty.Line) bool { return l.Subtotal != 0 })
	return !slices.ContainsFunc(lines, func(l loyalty.Line) bool { return (free || l.Subtotal != 0) && l.Returned < l.Quantity })
}

// share is the part of an amount that n of all pieces cost, floored to the
// 1/10,000.
func share(a money.Amount, n, all int64) money.Amount {
	return money.Amount(portion(money.Floor, int64(a), n, all))
}

func portion(rounding money.Rounding, whole, n, all int64) int64 {
	return rounding.Share(whole, money.Amount(n), money.Amount(all))
}

// burnShare is what all returned pieces are due of the burned points: in proportion to their part of
// all subtotals. It is rounded once for all of them, so that lines given back one by one restore what
// they would together.
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
