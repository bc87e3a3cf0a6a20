package loyaltyread

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/loyaltyread"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ReadCustomers lists the customers that match every filter.
func (a *API) ReadCustomers(
	ctx context.Context, in loyaltyread.ReadCustomersRequestObject,
) (loyaltyread.ReadCustomersResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	q := loyalty.CustomerQuery{Page: p.Store()}
	if q.Conditions, q.Sort, err = bracketsOf(ctx); err != nil {
		return nil, err
	}

	q.Conditions = api.WithoutOptedOut(q.Conditions)
	found, err := a.Reader.Customers(api.Plain(ctx), q)
	if err != nil {
		return nil, err
	}

	at := func(c loyalty.Customer) list.Cursor { return list.Cursor{At: c.CreatedAt, ID: c.ID[:]} }
	if !q.ByCursor() {
		at = nil
	}

	l := list.Linked(p, found, a.Clock(), at)
	out := list.Render(l, api.FieldSelection(nil).Customer)
	err = api.NameReferrers(api.Plain(ctx), a.Reader, nil, l.Entries, out.Entries)
	return loyaltyread.ReadCustomers200JSONResponse(api.AnswerOf(out)), err
}

// ReadCustomer reads one customer.
func (a *API) ReadCustomer(
	ctx context.Context, in loyaltyread.ReadCustomerRequestObject,
) (loyaltyread.ReadCustomerResponseObject, error) {
	c, err := a.Customers.Current(api.Plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}
	out, err := api.WithReferrer(api.Plain(ctx), a.Reader, nil, &c)
	return loyaltyread.ReadCustomer200JSONResponse{Data: out}, err
}

// expirationDate is this API's name for the date from which a coupon is expired.
const expirationDate = "expiration_date"

// ReadCoupons lists the coupons that a customer holds.
func (a *API) ReadCoupons(
	ctx context.Context, in loyaltyread.ReadCouponsRequestObject,
) (loyaltyread.ReadCouponsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	q := loyalty.CouponQuery{At: a.Clock(), Page: p.Store()}
	if q.Conditions, q.Sort, err = bracketsOf(ctx); err != nil {
		return nil, err
	}

	for i := range q.Conditions {
		q.Conditions[i].Field = storedName(q.Conditions[i].Field)
	}

	for i := range q.Sort {
		q.Sort[i].Field = storedName(q.Sort[i].Field)
	}

	q.Ref = in.CustomerID
	list, err := a.Coupons.Page(ctx, p, q, true)
	out := loyaltyread.ReadCoupons200JSONResponse{
		Data: make([]loyaltyread.HeldCoupon, len(list.Entries)), Next: list.Next, Previous: list.Previous, Time: &list.Time,
	}
	for i, one := range list.Entries {
		out.Data[i] = api.Alike[loyaltyread.HeldCoupon](&one)
		out.Data[i].ExpirationDate = one.ExpiresAt
	}

	return out, err
}

// storedName is the rules' name for a field.
func storedName(field string) string {
	if field == expirationDate {
		return "expires_at"
	}
	return field
}
