package store

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// couponsAtOnce bounds the parameters of one statement.
const couponsAtOnce = 500

// AddCoupons adds coupons, in the order of the names of their codes, and claims the codes; see loyalty.AdminTx. It
// waits for other transactions that are claiming the same codes.
func (t *adminTx) AddCoupons(coupons []loyalty.Coupon) ([]string, error) {
	var taken []string
	for len(coupons) > 0 {
		n := min(len(coupons), couponsAtOnce)
		lost, err := t.addCoupons(coupons[:n])
		if err != nil {
			return nil, t.s.fault(err)
		}
		taken, coupons = append(taken, lost...), coupons[n:]
	}
	return taken, nil
}

func (t *adminTx) addCoupons(coupons []loyalty.Coupon) (taken []string, err error) {
	names, keys := make([]loyalty.Claim, len(coupons)), make([]string, len(coupons))
	for i, c := range coupons {
		names[i] = loyalty.Claim{Name: loyalty.CodeName(c.Code), Owner: c.ID}
		keys[i] = names[i].Value
	}

	written, err := nameTable.create(t.db, names, " ON CONFLICT DO NOTHING")
	if err != nil {
		return nil, err
	}

	mine := coupons
	if written < int64(len(coupons)) {
		if mine, taken, err = t.claimed(coupons, keys); err != nil || len(mine) == 0 {
			return taken, err
		}
	}

	_, err = couponTable.create(t.db, mine, "")
	return taken, err
}

// claimed splits coupons into those that own their names, one for each coupon, and the codes of the others.
func (t *adminTx) claimed(coupons []loyalty.Coupon, names []string) (mine []loyalty.Coupon, taken []string, err error) {
	owned, err := nameTable.find(t.db.Where("kind = ? AND value IN ?", loyalty.NameCoupon, names))
	owner := make(map[string]loyalty.ID, len(owned))
	for _, n := range owned {
		owner[n.Value] = n.Owner
	}
	for i, c := range coupons {
		if owner[names[i]] == c.ID {
			mine = append(mine, c)
		} else {
			taken = append(taken, c.Code)
		}
	}
	return mine, taken, err
}

// CountCodes counts the codes of a pool that no customer holds.
func (t *adminTx) CountCodes(pool string) (n int64, err error) {
	err = t.db.Table("coupons").Where("pool = ? AND state = ?", cleanText(pool), loyalty.CouponCreated).Count(&n).Error
	return n, t.s.fault(err)
}
