package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/rewards"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ClaimRewardForMany starts claiming a reward for many customers.
func (a *rewardsAPI) ClaimRewardForMany(ctx context.Context, in rewards.ClaimRewardForManyRequestObject) (rewards.ClaimRewardForManyResponseObject, error) {
	q := loyalty.BulkRequest{Kind: loyalty.BulkRewardClaim, Target: in.RewardID}
	if in.Body.Customers != nil {
		q.Customers = *in.Body.Customers
	}
	if in.Body.ListID != nil {
		q.List = *in.Body.ListID
	}
	return a.bulk.start(ctx, q)
}

// GetBulkClaimStatus shows the progress of such an operation.
func (a *rewardsAPI) GetBulkClaimStatus(ctx context.Context, in rewards.GetBulkClaimStatusRequestObject) (rewards.GetBulkClaimStatusResponseObject, error) {
	return a.bulk.status(ctx, in.BatchID, loyalty.BulkRewardClaim)
}

// ListBulkClaimErrors lists the customers that such an operation refused.
func (a *rewardsAPI) ListBulkClaimErrors(ctx context.Context, in rewards.ListBulkClaimErrorsRequestObject) (rewards.ListBulkClaimErrorsResponseObject, error) {
	at := bulkPlace{
		batch: in.BatchID, limit: in.Params.Limit, offset: in.Params.Offset, cursor: in.Params.Cursor,
		fields: map[string]string{"data.reward": "reward_id"},
	}
	return a.bulk.errors(ctx, at, loyalty.BulkRewardClaim)
}
