package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// couponMove is what is read of such an event.
var couponMove = eventTable.some("customer_id", "id", "at", "action", "transaction_id", "effects")

// couponMoves reads the events that changed a coupon.
var couponMoves = `SELECT ` + couponMove.of("e") + ` FROM coupon_events m
JOIN events e ON e.customer_id = m.customer_id AND e.id = m.event_id AND e.recorded_at = m.recorded_at
WHERE m.coupon_id = ? ORDER BY m.version DESC LIMIT ?`

// CouponHistory lists the events that changed a coupon, the last one first.
func (s couponStore) CouponHistory(ctx context.Context, coupon loyalty.ID, limit int) ([]loyalty.CouponMove, error) {
	var events []loyalty.Event
	var known map[UUID]loyalty.Customer
	err := s.consistent(ctx, func(db *gorm.DB) (err error) {
		if events, err = couponMove.find(db.Raw(couponMoves, UUID(coupon), limit)); err != nil {
			return err
		}
		owners := make([]UUID, len(events))
		for i := range events {
			owners[i] = UUID(events[i].Customer)
		}
		known, err = holdersOf(db, owners)
		return err
	})
	list := make([]loyalty.CouponMove, len(events))
	for i := range events {
		list[i] = moveOf(&events[i], coupon)
		list[i].Customer = known[UUID(events[i].Customer)]
	}
	return list, err
}

// moveOf is what an event made of a coupon.
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
