package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// MergeCustomer merges the customer of the path into the target. The event belongs to the target.
func (a *customersAPI) MergeCustomer(ctx context.Context, in customers.MergeCustomerRequestObject) (customers.MergeCustomerResponseObject, error) {
	source, err := a.customers.exactName(plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}
	merge := customerAction{
		customer: in.Body.Target, action: "merge", data: map[string]any{"source": source},
		fields: map[string]string{"customer": "target", "data.source": "customer_id"},
	}
	merge.body = func(_ *tongue, o *loyalty.Outcome) any {
		return customers.MergeAnswer{Data: customers.MergedCustomer{ID: merge.eventOf(o).ID, Customer: *summary(o.Customer, false)}}
	}
	return a.submitter.submitFor(ctx, merge)
}

// VerifyCustomer records that the identity of a customer was checked.
func (a *customersAPI) VerifyCustomer(ctx context.Context, in customers.VerifyCustomerRequestObject) (customers.VerifyCustomerResponseObject, error) {
	verify := customerAction{customer: in.CustomerID, action: "verify_customer", data: map[string]any{}}
	verify.body = func(_ *tongue, o *loyalty.Outcome) any {
		e := verify.eventOf(o)
		return customers.VerifyAnswer{Data: customers.Verification{
			ID: e.ID, Customer: o.Customer.Name, VerifiedAt: common.Instant(e.RecordedAt),
		}}
	}
	return a.submitter.submitFor(ctx, verify)
}
