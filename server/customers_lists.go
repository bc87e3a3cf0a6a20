package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// AddToCustomerList starts adding customers to a list.
func (a *customersAPI) AddToCustomerList(ctx context.Context, in customers.AddToCustomerListRequestObject) (customers.AddToCustomerListResponseObject, error) {
	return a.bulk.start(ctx, loyalty.BulkRequest{Kind: loyalty.BulkListAdd, Target: in.ListID, Customers: in.Body.Customers})
}

// RemoveFromCustomerList starts removing customers from a list.
func (a *customersAPI) RemoveFromCustomerList(ctx context.Context, in customers.RemoveFromCustomerListRequestObject) (customers.RemoveFromCustomerListResponseObject, error) {
	return a.bulk.start(ctx, loyalty.BulkRequest{Kind: loyalty.BulkListRemove, Target: in.ListID, Customers: in.Body.Customers})
}

// GetCustomerListStatus shows the progress of such an operation.
func (a *customersAPI) GetCustomerListStatus(ctx context.Context, in customers.GetCustomerListStatusRequestObject) (customers.GetCustomerListStatusResponseObject, error) {
	return a.bulk.status(ctx, in.BatchID, loyalty.BulkListAdd, loyalty.BulkListRemove)
}

// ListCustomerListErrors lists the customers that such an operation refused.
func (a *customersAPI) ListCustomerListErrors(ctx context.Context, in customers.ListCustomerListErrorsRequestObject) (customers.ListCustomerListErrorsResponseObject, error) {
	at := bulkPlace{batch: in.BatchID, limit: in.Params.Limit, offset: in.Params.Offset, cursor: in.Params.Cursor}
	return a.bulk.errors(ctx, at, loyalty.BulkListAdd, loyalty.BulkListRemove)
}
