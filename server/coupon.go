package server

import (
	"context"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// couponAPI answers the Coupon API.
type couponAPI struct{ *Server }

var _ coupon.StrictServerInterface = (*couponAPI)(nil)

// GetCoupon reads one coupon by its code.
func (a *couponAPI) GetCoupon(ctx context.Context, in coupon.GetCouponRequestObject) (coupon.GetCouponResponseObject, error) {
	c, holder, err := a.reader.Coupon(plain(ctx), in.Code)
	if err != nil {
		return nil, err
	}
	return coupon.GetCoupon200JSONResponse{Data: a.couponOf(requestOf(ctx).language, &c, &holder)}, nil
}

// couponOf words a coupon as it stands now. Of a holder who left nothing is shown.
func (a *couponAPI) couponOf(language string, c *loyalty.Coupon, holder *loyalty.Customer) coupon.Coupon {
	out := coupon.Coupon{
		Code: c.Code, Name: textOrNil(a.text(language, c.Name)), Type: coupon.CouponType(c.Type), Value: worth(c),
		Currency: textOrNil(c.Currency), Status: coupon.CouponStatus(c.StateAt(a.clock())),
		CreatedAt: common.Instant(c.CreatedAt), ClaimedAt: instantOrNil(c.ClaimedAt),
		RedeemedAt: instantOrNil(c.RedeemedAt), ExpiresAt: instantOrNil(c.ExpiresAt),
		Pool: textOrNil(c.Pool), Reward: textOrNil(c.Reward), Stores: orEmpty(c.Stores), Products: orEmpty(c.Products),
	}
	if c.Type == loyalty.CouponGiftCard {
		out.Balance = &c.Balance
	}
	if holder.ID != (loyalty.ID{}) && holder.Status != loyalty.OptedOut {
		out.Customer = &coupon.CouponHolder{ID: holder.Name}
	}
	return out
}

// orEmpty is a list that is never null on the wire.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// AddCodes fills a pool with codes that nobody holds yet.
func (a *couponAPI) AddCodes(ctx context.Context, in coupon.AddCodesRequestObject) (coupon.AddCodesResponseObject, error) {
	generate := 0
	if in.Body.Generate != nil {
		generate = *in.Body.Generate
	}
	return change(a.Server, ctx, http.StatusCreated, addedCodes, func(ctx context.Context, call loyalty.Call) (loyalty.Done[loyalty.AddedCodes], error) {
		return a.admin.AddCodes(ctx, call, in.PoolID, in.Body.Codes, generate)
	})
}

func addedCodes(d loyalty.AddedCodes) any {
	return coupon.CodesAnswer{Data: coupon.AddedCodes{Pool: d.Pool, Added: int64(d.Added), Available: d.Available}}
}
