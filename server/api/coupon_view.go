package api

import (
	"context"
	"reflect"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// CouponReader reads pages of coupons for the APIs that list them.
type CouponReader struct {
	Reader    loyalty.Reader
	Customers CustomerReader
	Clock     func() time.Time
}

// Page reads a page of coupons; a filter that cannot be read finds none.
func (r CouponReader) Page(
	ctx context.Context, p list.Page, q loyalty.CouponQuery, readable bool,
) (list.Links[common.Coupon], error) {
	var found loyalty.CouponPage
	err := r.Customers.page(Plain(ctx), q.Ref, readable, func() (_ loyalty.Customer, err error) {
		found, err = r.Reader.Coupons(Plain(ctx), q)
		return found.Customer, err
	})

	at := func(c loyalty.HeldCoupon) list.Cursor { return list.Cursor{At: c.CreatedAt, ID: c.ID[:]} }
	if q.Ref != "" {
		at = func(c loyalty.HeldCoupon) list.Cursor { return list.Cursor{At: c.ClaimedAt, ID: c.ID[:]} }
	}
	if len(q.Sort) > 0 {
		at = nil
	}

	language, now := RequestOf(ctx).Language, r.Clock()
	l := list.Linked(p, found.Coupons, now, at)
	return list.Render(l, func(c *loyalty.HeldCoupon) common.Coupon {
		return CouponOf(language, &c.Coupon, c.Holder, now)
	}), err
}

// CouponOf renders a coupon in its present state. A holder who left is not shown.
func CouponOf(language *Localizer, c *loyalty.Coupon, holder loyalty.Person, now time.Time) common.Coupon {
	out := common.Coupon{
		Code: c.Code, Name: TextOrNil(language.Text(c.Name.Texts)), Type: common.CouponType(c.Type), Value: worth(c),
		Currency: TextOrNil(c.Currency), Status: common.CouponStatus(c.StateAt(now)),
		CreatedAt: common.Instant(c.CreatedAt), ClaimedAt: InstantOrNil(c.ClaimedAt),
		RedeemedAt: InstantOrNil(c.RedeemedAt), ExpiresAt: InstantOrNil(c.ExpiresAt),
		Pool: TextOrNil(c.Pool), Reward: TextOrNil(c.Reward), Stores: OrEmpty(c.Stores), Products: OrEmpty(c.Products),
		Customer: CouponOwner(holder),
	}
	if c.Type == loyalty.CouponGiftCard {
		out.Balance = (*money.Amount)(&c.Balance)
	}
	return out
}

// Alike converts a value to the type of another document: it copies the fields with the same name and type.
func Alike[To, From any](from *From) (to To) {
	source, target := reflect.ValueOf(from).Elem(), reflect.ValueOf(&to).Elem()
	for i := range target.NumField() {
		f := target.Type().Field(i)
		if same, known := source.Type().FieldByName(f.Name); known && same.Type == f.Type {
			target.Field(i).Set(source.FieldByIndex(same.Index))
		}
	}
	return to
}

// CouponOwner names the holder of a coupon; nil if there is none, or the customer opted out.
func CouponOwner(c loyalty.Person) *common.CouponOwner {
	if c.ID == (loyalty.ID{}) || c.Status == loyalty.OptedOut {
		return nil
	}
	return &common.CouponOwner{ID: c.Name}
}

// ClaimedCoupon renders a coupon that a customer has just received; nil without one.
func ClaimedCoupon(language *Localizer, c *loyalty.Coupon, holder *loyalty.Customer) *common.ClaimedCoupon {
	if c == nil {
		return nil
	}
	return &common.ClaimedCoupon{
		Code: c.Code, Status: common.ClaimedCouponStatus(c.State), CreatedAt: common.Instant(c.CreatedAt),
		Customer: common.CouponHolder{ID: holder.Name}, Name: TextOrNil(language.Text(c.Name.Texts)),
		ClaimedAt: common.Instant(c.ClaimedAt), ExpiresAt: InstantOrNil(c.ExpiresAt),
		Type: common.ClaimedCouponType(c.Type), Value: worth(c), Currency: TextOrNil(c.Currency),
	}
}

// worth is a coupon's value; free shipping has none.
func worth(c *loyalty.Coupon) *money.Amount {
	if c.Type == loyalty.CouponFreeShipping {
		return nil
	}
	return (*money.Amount)(&c.Value)
}

// OrEmpty is a list that is never null on the wire.
func OrEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
