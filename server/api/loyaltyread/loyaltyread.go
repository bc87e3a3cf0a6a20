// Package loyaltyread answers the Loyalty Read API, whose paths begin with /v1 and whose filters are in brackets.
package loyaltyread

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/gen/loyaltyread"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// API answers the Loyalty Read API.
type API struct {
	Reader    loyalty.Reader
	Customers api.CustomerReader
	Journal   api.JournalReader
	Coupons   api.CouponReader
	Clock     func() time.Time
}

var _ loyaltyread.StrictServerInterface = (*API)(nil)

// bracketsOf reads the filters and the order of a request. It fails with 422.
func bracketsOf(ctx context.Context) ([]loyalty.Condition, []loyalty.Sorting, error) {
	r := api.RequestOf(ctx)
	return r.Operation.Bracketed.Read(r.Query)
}

// ReadEvents lists a customer's events.
func (a *API) ReadEvents(
	ctx context.Context, in loyaltyread.ReadEventsRequestObject,
) (loyaltyread.ReadEventsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	var q loyalty.EventQuery
	if q.Conditions, q.Sort, err = bracketsOf(ctx); err != nil {
		return nil, err
	}
	q.Ref = in.CustomerID
	j, err := a.Journal.Events(ctx, p, q, true)
	return loyaltyread.ReadEvents200JSONResponse(api.AnswerOf(j)), err
}

// ReadTransactions lists a customer's purchases.
func (a *API) ReadTransactions(
	ctx context.Context, in loyaltyread.ReadTransactionsRequestObject,
) (loyaltyread.ReadTransactionsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	var q loyalty.TransactionQuery
	if q.Conditions, q.Sort, err = bracketsOf(ctx); err != nil {
		return nil, err
	}
	q.Ref = in.CustomerID
	t, err := a.Journal.Purchases(ctx, p, q, true)
	return loyaltyread.ReadTransactions200JSONResponse(api.AnswerOf(t)), err
}
