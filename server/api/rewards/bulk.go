package rewards

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/rewards"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ClaimRewardForMany starts claiming a reward for many customers.
func (a *API) ClaimRewardForMany(
	ctx context.Context, in rewards.ClaimRewardForManyRequestObject,
) (rewards.ClaimRewardForManyResponseObject, error) {
	q := loyalty.BulkRequest{Kind: loyalty.BulkRewardClaim, Target: in.RewardID}
	if in.Body.Customers != nil {
		q.Customers = *in.Body.Customers
	}
	if in.Body.ListID != nil {
		q.List = *in.Body.ListID
	}
	return a.Bulk.Start(ctx, q)
}

// GetBulkClaimStatus shows the progress of such an operation.
func (a *API) GetBulkClaimStatus(
	ctx context.Context, in rewards.GetBulkClaimStatusRequestObject,
) (rewards.GetBulkClaimStatusResponseObject, error) {
	return a.Bulk.Status(ctx, in.BatchID, loyalty.BulkRewardClaim)
}

// ListBulkClaimErrors lists the customers that such an operation refused.
func (a *API) ListBulkClaimErrors(
	ctx context.Context, in rewards.ListBulkClaimErrorsRequestObject,
) (rewards.ListBulkClaimErrorsResponseObject, error) {
	at := api.BulkPlace{
		Batch: in.BatchID, Limit: in.Params.Limit, Offset: in.Params.Offset, Cursor: in.Params.Cursor,
		Fields: map[string]string{"data.reward": "reward_id"},
	}
	return a.Bulk.Errors(ctx, at, loyalty.BulkRewardClaim)
}
