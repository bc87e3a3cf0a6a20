package customers

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/customers"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// MergeCustomer merges the customer of the path into the target. The event belongs to the target.
func (a *API) MergeCustomer(
	ctx context.Context, in customers.MergeCustomerRequestObject,
) (customers.MergeCustomerResponseObject, error) {
	source, err := a.Customers.ExactName(api.Plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}
	merge := api.CustomerAction{
		Customer: in.Body.Target, Action: "merge", Data: map[string]any{"source": source},
		Fields: map[string]string{"customer": "target", "data.source": "customer_id"},
	}
	merge.Body = func(_ *api.Localizer, o *loyalty.Outcome) any {
		return customers.MergeAnswer{Data: customers.MergedCustomer{ID: merge.EventOf(o).ID,
			Customer: *api.Summary(o.Customer, false)}}
	}
	return a.Submitter.SubmitFor(ctx, merge)
}

// VerifyCustomer records that the identity of a customer was checked.
func (a *API) VerifyCustomer(
	ctx context.Context, in customers.VerifyCustomerRequestObject,
) (customers.VerifyCustomerResponseObject, error) {
	verify := api.CustomerAction{Customer: in.CustomerID, Action: "verify_customer", Data: map[string]any{}}
	verify.Body = func(_ *api.Localizer, o *loyalty.Outcome) any {
		e := verify.EventOf(o)
		return customers.VerifyAnswer{Data: customers.Verification{
			ID: e.ID, Customer: o.Customer.Name, VerifiedAt: common.Instant(e.RecordedAt),
		}}
	}
	return a.Submitter.SubmitFor(ctx, verify)
}
