package display

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ListCustomerCoupons lists the coupons that a customer holds, the latest first.
func (a *API) ListCustomerCoupons(
	ctx context.Context, in display.ListCustomerCouponsRequestObject,
) (display.ListCustomerCouponsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	q := loyalty.CouponQuery{Ref: in.CustomerID, At: a.Clock(), Page: p.Store()}
	var readable bool
	q.Conditions, readable = p.Conditions()
	l, err := a.Coupons.Page(ctx, p, q, readable)
	return display.ListCustomerCoupons200JSONResponse(api.AnswerOf(l)), err
}
