package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/loyaltyread"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// loyaltyReadAPI answers the Loyalty Read API.
type loyaltyReadAPI struct{ *Server }

var _ loyaltyread.StrictServerInterface = (*loyaltyReadAPI)(nil)

// bracketsOf reads the filters and the order of a request. It fails with 422.
func bracketsOf(ctx context.Context) ([]loyalty.Condition, []loyalty.Sorting, error) {
	r := requestOf(ctx)
	return r.operation.bracketed.read(r.query)
}

// ReadEvents lists a customer's events.
func (a *loyaltyReadAPI) ReadEvents(ctx context.Context, in loyaltyread.ReadEventsRequestObject) (loyaltyread.ReadEventsResponseObject, error) {
	if _, _, err := bracketsOf(ctx); err != nil {
		return nil, err
	}
	return nil, loyalty.ErrUnavailable
}

// ReadTransactions lists a customer's purchases.
func (a *loyaltyReadAPI) ReadTransactions(ctx context.Context, in loyaltyread.ReadTransactionsRequestObject) (loyaltyread.ReadTransactionsResponseObject, error) {
	if _, _, err := bracketsOf(ctx); err != nil {
		return nil, err
	}
	return nil, loyalty.ErrUnavailable
}
