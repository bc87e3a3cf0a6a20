package display

import (
	"context"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ClaimReward gives a customer a reward for points. The answer has the shape of
// the specification.
func (a *API) ClaimReward(
	ctx context.Context, in display.ClaimRewardRequestObject,
) (display.ClaimRewardResponseObject, error) {
	return api.ClaimReward(ctx, a.Submitter, in.CustomerID, in.RewardID)
}

// RevokeReward undoes a claim of the reward that the path names.
func (a *API) RevokeReward(
	ctx context.Context, in display.RevokeRewardRequestObject,
) (display.RevokeRewardResponseObject, error) {
	claim, err := a.claimOf(api.Plain(ctx), in.CustomerID, in.RewardID, in.Body.Event)
	if err != nil {
		return nil, err
	}

	revoke := api.CustomerAction{Customer: in.CustomerID,
		Action: "reward_revoke", Data: map[string]any{"event": in.Body.Event}}
	revoke.Body = func(_ *api.Localizer, o *loyalty.Outcome) any {
		e := revoke.EventOf(o)
		out := display.RevokedClaim{ID: e.ID, Event: claim.ID,
			Reward: claim.Reward, Spendable: o.Customer.Figures.Spendable()}
		if e.Points != nil {
			out.Points = *e.Points
		}
		return display.RevokeAnswer{Data: out}
	}

	return a.Submitter.SubmitFor(ctx, revoke)
}

// claimOf finds a customer's claim of a reward. The reward of a claim never changes; the rule decides whether it can be
// undone.
func (a *API) claimOf(ctx context.Context, customer, reward, event string) (loyalty.RewardClaim, error) {
	c, err := a.Reader.Customer(ctx, customer)
	if err != nil {
		return loyalty.RewardClaim{}, err
	}
	id, err := uuid.Parse(event)
	if err != nil {
		return loyalty.RewardClaim{}, loyalty.ErrClaimNotFound.With("event", event).At("event")
	}
	claim, err := a.Reader.RewardClaim(ctx, c.ID, id)
	if err == nil && claim.Reward != reward {
		err = loyalty.ErrClaimNotFound.With("event", event).At("event")
	}
	return claim, err
}
