package store

import (
	"context"
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// codeOwner is an expression for the id of a coupon, by its code in any case of the letters.
func codeOwner(code string) sqlFragment {
	const owner = "{{SELECT owner FROM names WHERE kind = ? AND value = ?}}"
	return sqlFragment{owner, []any{loyalty.NameCoupon, codeName(code)}}
}

// codeNames are the stored names that some codes claim.
func codeNames(codes ...string) []string {
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = codeName(code)
	}
	return names
}

// Coupon finds a coupon by its code, with its holder, or the target if the holder was merged. It fails with
// loyalty.ErrCouponNotFound.
func (s couponStore) Coupon(ctx context.Context, code string) (loyalty.Coupon, loyalty.Person, error) {
	record, err := s.CouponRecord(ctx, code, 0)
	return record.Coupon, record.Holder, err
}

// CouponRecord is Coupon with the events that changed it, the last one first.
func (s couponStore) CouponRecord(ctx context.Context, code string, limit int) (loyalty.CouponRecord, error) {
	named := codeOwner(code)
	var found *loyalty.Coupon
	var who *loyalty.Customer
	var events []loyalty.Event
	opened := map[loyalty.ID][]byte{}
	keys := s.keysOf(nil, opened)
	list := []question{
		couponTable.only(couponTable.where("id = "+named.text, named.args...), &found),
		customerOf(sqlFragment{"{{SELECT COALESCE(c.merged_into, c.id) FROM customers c WHERE c.id = {{SELECT k.customer_id FROM coupons k WHERE k.id = " + named.text + "}}}}", named.args}, &who),
		keys.where(sealers([]string{cleanText(code)})),
	}

	if limit > 0 {
		list = append(list, couponMoves(named, limit, &events))
	}

	err := errors.Join(s.asks(ctx, list...), keys.failed)
	if err == nil && found == nil {
		err = loyalty.ErrCouponNotFound
	}
	if err != nil {
		return loyalty.CouponRecord{}, err
	}

	record := loyalty.CouponRecord{Coupon: *found}
	if who != nil {
		record.Holder = who.Person()
	}
	if record.Coupon.Name, err = found.Name.Open(opened[found.Name.Customer], found.ID); err == nil {
		record.Moves, err = s.movesOf(ctx, found.ID, events)
	}

	return record, err
}

// codeName is the stored name that a code claims.
func codeName(code string) string { return loyalty.CodeName(cleanText(code)).Value }
