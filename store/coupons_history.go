package store

import (
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// couponMove are the columns that are read of an event that changed a coupon.
var couponMove = eventTable.some("customer_id", "id", "at", "action", "transaction_id", "effects")

// couponMoves reads the events that changed a coupon, whose id is an expression. On Citus it reads the journal only
// of customers who held the coupon.
func couponMoves(coupon sqlFragment, limit int, events *[]loyalty.Event) question {
	const last = ` ORDER BY m.version DESC LIMIT ?`
	text := `SELECT ` + couponMove.of("e") + ` FROM coupon_events m
JOIN events e ON e.customer_id = m.customer_id AND e.id = m.event_id AND e.recorded_at = m.recorded_at
WHERE m.coupon_id = ` + coupon.text
	args := append(slices.Clone(coupon.args), limit)
	return couponMove.list(sqlFragment{text + last, args}, events).
		onCitus(text+` AND e.customer_id IN [[SELECT m.customer_id FROM coupon_events m WHERE m.coupon_id = `+coupon.text+last+`]]`+last, slices.Concat(coupon.args, args, []any{limit})...)
}

// movesOf returns what events made of a coupon, with their customers.
func (s couponStore) movesOf(ctx context.Context, coupon loyalty.ID, events []loyalty.Event) ([]loyalty.CouponMove, error) {
	if len(events) == 0 {
		return []loyalty.CouponMove{}, nil
	}

	var owners []UUID
	for i := range events {
		owners = also(owners, events[i].Customer)
	}

	people := map[loyalty.ID]loyalty.Person{}
	if err := s.asks(ctx, holdersOf(owners, people)); err != nil {
		return nil, err
	}

	moves := make([]loyalty.CouponMove, len(events))
	for i := range events {
		moves[i] = moveOf(&events[i], coupon)
		moves[i].Customer = people[events[i].Customer]
	}

	return moves, nil
}

// moveOf returns what an event made of a coupon.
func moveOf(e *loyalty.Event, coupon loyalty.ID) loyalty.CouponMove {
	m := loyalty.CouponMove{ID: e.ID, Action: e.Action, At: e.At, Transaction: e.Transaction}
	if e.Effects == nil {
		return m
	}
	for _, after := range e.Effects.Coupons {
		if after.ID == coupon {
			m.After = after
		}
	}
	return m
}
