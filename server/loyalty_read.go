package server

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/gen/loyaltyread"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// loyaltyReadAPI answers the Loyalty Read API.
type loyaltyReadAPI struct {
	reader    loyalty.Reader
	customers customerReader
	journal   journalReader
	coupons   couponReader
	clock     func() time.Time
}

var _ loyaltyread.StrictServerInterface = (*loyaltyReadAPI)(nil)

// bracketsOf reads the filters and the order of a request. It fails with 422.
func bracketsOf(ctx context.Context) ([]loyalty.Condition, []loyalty.Sorting, error) {
	r := requestOf(ctx)
	return r.operation.bracketed.Read(r.query)
}

// ReadEvents lists a customer's events.
func (a *loyaltyReadAPI) ReadEvents(ctx context.Context, in loyaltyread.ReadEventsRequestObject) (loyaltyread.ReadEventsResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	var q loyalty.EventQuery
	if q.Conditions, q.Sort, err = bracketsOf(ctx); err != nil {
		return nil, err
	}
	q.Ref = in.CustomerID
	j, err := a.journal.events(ctx, p, q, true)
	return journalPage{j}, err
}

// ReadTransactions lists a customer's purchases.
func (a *loyaltyReadAPI) ReadTransactions(ctx context.Context, in loyaltyread.ReadTransactionsRequestObject) (loyaltyread.ReadTransactionsResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	var q loyalty.TransactionQuery
	if q.Conditions, q.Sort, err = bracketsOf(ctx); err != nil {
		return nil, err
	}
	q.Ref = in.CustomerID
	t, err := a.journal.purchases(ctx, p, q, true)
	return loyaltyread.ReadTransactions200JSONResponse(answerOf(t)), err
}
