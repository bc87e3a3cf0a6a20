package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// couponMoves reads the events that changed a coupon.
const couponMoves = `SELECT e.* FROM coupon_events m
JOIN events e ON e.customer_id = m.customer_id AND e.id = m.event_id AND e.recorded_at = m.recorded_at
WHERE m.coupon_id = ? ORDER BY m.version DESC LIMIT ?`

// CouponHistory lists the events that changed a coupon, the last one first.
func (s couponStore) CouponHistory(ctx context.Context, coupon loyalty.ID, limit int) ([]loyalty.CouponMove, error) {
	var rows []eventRow
	var known map[UUID]loyalty.Customer
	err := s.consistent(ctx, func(db *gorm.DB) (err error) {
		if err = db.Raw(couponMoves, UUID(coupon), limit).Scan(&rows).Error; err != nil {
			return err
		}
		owners := make([]UUID, len(rows))
		for i := range rows {
			owners[i] = rows[i].CustomerID
		}
		known, err = holdersOf(db, owners)
		return err
	})
	list := make([]loyalty.CouponMove, len(rows))
	for i := range rows {
		list[i] = moveOf(&rows[i], coupon)
		list[i].Customer = known[rows[i].CustomerID]
	}
	return list, err
}

// moveOf is what an event made of a coupon.
func moveOf(r *eventRow, coupon loyalty.ID) loyalty.CouponMove {
	m := loyalty.CouponMove{ID: loyalty.ID(r.ID), Action: r.Action, At: r.At.Time(), Transaction: string(r.TransactionID)}
	if r.Effects.V == nil {
		return m
	}
	for _, after := range r.Effects.V.Coupons {
		if after.ID == coupon {
			m.After = after
		}
	}
	return m
}
