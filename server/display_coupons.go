package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// heldFields are what a customer's coupons can be filtered by.
var heldFields = map[string]field{
	"code":        {kind: textField},
	"status":      {kind: choiceField, choices: couponStates},
	"type":        {kind: choiceField, choices: couponTypes},
	"pool":        {kind: textField},
	"reward":      {kind: textField},
	"created_at":  {kind: instantField},
	"claimed_at":  {kind: instantField},
	"redeemed_at": {kind: instantField},
	"expires_at":  {kind: instantField},
}

// ListCustomerCoupons lists what a customer holds, what they got last first.
func (a *displayAPI) ListCustomerCoupons(ctx context.Context, in display.ListCustomerCouponsRequestObject) (display.ListCustomerCouponsResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	c, err := (&customersAPI{a.Server}).settled(plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}
	q := loyalty.CouponQuery{Holder: c.ID, At: a.clock(), Page: storePage(p)}
	var readable bool
	q.Conditions, readable = conditions(p.query, heldFields)
	list, err := a.couponList(ctx, p, q, readable)
	return display.ListCustomerCoupons200JSONResponse(list), err
}
