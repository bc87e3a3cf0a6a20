package server

import (
	"context"
	"reflect"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// couponReader reads pages of coupons for the APIs that list them.
type couponReader struct {
	reader    loyalty.Reader
	customers customerReader
	clock     func() time.Time
}

// page answers a page of coupons; a filter that cannot be read finds none.
func (r couponReader) page(ctx context.Context, p list.Page, q loyalty.CouponQuery, readable bool) (couponPage, error) {
	var found loyalty.CouponPage
	err := r.customers.page(plain(ctx), q.Ref, readable, func() (_ loyalty.Customer, err error) {
		found, err = r.reader.Coupons(plain(ctx), q)
		return found.Customer, err
	})

	at := func(c loyalty.HeldCoupon) list.Cursor { return list.Cursor{At: c.CreatedAt, ID: c.ID[:]} }
	if q.Ref != "" {
		at = func(c loyalty.HeldCoupon) list.Cursor { return list.Cursor{At: c.ClaimedAt, ID: c.ID[:]} }
	}
	if len(q.Sort) > 0 {
		at = nil
	}

	language, now := requestOf(ctx).language, r.clock()
	l := list.Linked(p, found.Coupons, now, at)
	return couponPage{list.Render(l, func(c *loyalty.HeldCoupon) common.Coupon {
		return couponOf(language, &c.Coupon, c.Holder, now)
	})}, err
}

// couponOf renders a coupon in its present state. A holder who left is not shown.
func couponOf(language *tongue, c *loyalty.Coupon, holder loyalty.Person, now time.Time) common.Coupon {
	out := common.Coupon{
		Code: c.Code, Name: textOrNil(language.text(c.Name.Texts)), Type: common.CouponType(c.Type), Value: worth(c),
		Currency: textOrNil(c.Currency), Status: common.CouponStatus(c.StateAt(now)),
		CreatedAt: common.Instant(c.CreatedAt), ClaimedAt: instantOrNil(c.ClaimedAt),
		RedeemedAt: instantOrNil(c.RedeemedAt), ExpiresAt: instantOrNil(c.ExpiresAt),
		Pool: textOrNil(c.Pool), Reward: textOrNil(c.Reward), Stores: orEmpty(c.Stores), Products: orEmpty(c.Products),
		Customer: couponOwner(holder),
	}
	if c.Type == loyalty.CouponGiftCard {
		out.Balance = (*money.Amount)(&c.Balance)
	}
	return out
}

// alike converts a value to the type of another document: it copies the fields with the same name and type.
func alike[To, From any](from *From) (to To) {
	source, target := reflect.ValueOf(from).Elem(), reflect.ValueOf(&to).Elem()
	for i := range target.NumField() {
		f := target.Type().Field(i)
		if same, known := source.Type().FieldByName(f.Name); known && same.Type == f.Type {
			target.Field(i).Set(source.FieldByIndex(same.Index))
		}
	}
	return to
}

// couponOwner names the holder of a coupon; nil if there is none, or the customer opted out.
func couponOwner(c loyalty.Person) *common.CouponOwner {
	if c.ID == (loyalty.ID{}) || c.Status == loyalty.OptedOut {
		return nil
	}
	return &common.CouponOwner{ID: c.Name}
}

// claimedCoupon renders a coupon that a customer has just received; nil without one.
func claimedCoupon(language *tongue, c *loyalty.Coupon, holder *loyalty.Customer) *common.ClaimedCoupon {
	if c == nil {
		return nil
	}
	return &common.ClaimedCoupon{
		Code: c.Code, Status: common.ClaimedCouponStatus(c.State), CreatedAt: common.Instant(c.CreatedAt),
		Customer: common.CouponHolder{ID: holder.Name}, Name: textOrNil(language.text(c.Name.Texts)),
		ClaimedAt: common.Instant(c.ClaimedAt), ExpiresAt: instantOrNil(c.ExpiresAt),
		Type: common.ClaimedCouponType(c.Type), Value: worth(c), Currency: textOrNil(c.Currency),
	}
}

// worth is a coupon's value; free shipping has none.
func worth(c *loyalty.Coupon) *money.Amount {
	if c.Type == loyalty.CouponFreeShipping {
		return nil
	}
	return (*money.Amount)(&c.Value)
}

// orEmpty is a list that is never null on the wire.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
