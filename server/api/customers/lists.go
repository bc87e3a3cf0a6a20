package customers

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// AddToCustomerList starts adding customers to a list.
func (a *API) AddToCustomerList(
	ctx context.Context, in customers.AddToCustomerListRequestObject,
) (customers.AddToCustomerListResponseObject, error) {
	return a.Bulk.Start(ctx,
		loyalty.BulkRequest{Kind: loyalty.BulkListAdd, Target: in.ListID, Customers: in.Body.Customers})
}

// RemoveFromCustomerList starts removing customers from a list.
func (a *API) RemoveFromCustomerList(
	ctx context.Context, in customers.RemoveFromCustomerListRequestObject,
) (customers.RemoveFromCustomerListResponseObject, error) {
	return a.Bulk.Start(ctx,
		loyalty.BulkRequest{Kind: loyalty.BulkListRemove, Target: in.ListID, Customers: in.Body.Customers})
}

// GetCustomerListStatus shows the progress of such an operation.
func (a *API) GetCustomerListStatus(
	ctx context.Context, in customers.GetCustomerListStatusRequestObject,
) (customers.GetCustomerListStatusResponseObject, error) {
	return a.Bulk.Status(ctx, in.BatchID, loyalty.BulkListAdd, loyalty.BulkListRemove)
}

// ListCustomerListErrors lists the customers that such an operation refused.
func (a *API) ListCustomerListErrors(
	ctx context.Context, in customers.ListCustomerListErrorsRequestObject,
) (customers.ListCustomerListErrorsResponseObject, error) {
	at := api.BulkPlace{Batch: in.BatchID, Limit: in.Params.Limit, Offset: in.Params.Offset, Cursor: in.Params.Cursor}
	return a.Bulk.Errors(ctx, at, loyalty.BulkListAdd, loyalty.BulkListRemove)
}
