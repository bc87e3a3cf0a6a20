package coupon

import (
	"context"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/coupon"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// usagePeriod is the number of days that usage covers by default.
const usagePeriod = 31

// GetCouponUsage counts coupons and their value by pool, status, day and currency.
func (a *API) GetCouponUsage(
	ctx context.Context, in coupon.GetCouponUsageRequestObject,
) (coupon.GetCouponUsageResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	q := loyalty.CouponUsageQuery{Day: "created_at", At: a.Clock(), Page: p.Store()}
	if in.Params.Day != nil {
		q.Day = string(*in.Params.Day)
	}

	var readable bool
	var found []loyalty.CouponUsage
	if q.Conditions, readable = p.Conditions(); readable {
		q.Conditions = lately(q.Conditions, q.At)
		found, err = a.Reader.CouponUsage(api.Plain(ctx), q)
	}

	l := list.Linked(p, found, a.Clock(), nil)
	return coupon.GetCouponUsage200JSONResponse(api.AnswerOf(list.Render(l, usageOf))), err
}

// lately adds the usual period unless a filter sets one.
func lately(list []loyalty.Condition, now time.Time) []loyalty.Condition {
	if slices.ContainsFunc(list, func(c loyalty.Condition) bool { return c.Field == "created_at" }) {
		return list
	}
	from := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-usagePeriod)
	return append(list, loyalty.Condition{Field: "created_at", Operator: loyalty.Gte, Values: []any{from}})
}

func usageOf(u *loyalty.CouponUsage) coupon.CouponUsage {
	out := coupon.CouponUsage{
		Pool: api.TextOrNil(u.Pool), Status: common.CouponStatus(u.Status), Day: u.Day.Format(time.DateOnly),
		Currency: api.TextOrNil(u.Currency), Count: u.Count,
	}
	if u.Currency != "" {
		out.Value, out.Redeemed = &u.Value, &u.Redeemed
	}
	return out
}
