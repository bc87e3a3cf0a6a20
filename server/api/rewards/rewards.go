// Package rewards answers the Rewards API: what points buy, and redemption in external systems.
package rewards

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/rewards"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// API answers the Rewards API.
type API struct {
	Reader    loyalty.Reader
	Customers api.CustomerReader
	Submitter api.Submitter
	Bulk      api.BulkOperations
	Programme func() *programme.Programme
	Clock     func() time.Time
}

var _ rewards.StrictServerInterface = (*API)(nil)

// ListRewards lists the catalogue, or the rewards that one customer may claim now.
func (a *API) ListRewards(
	ctx context.Context, in rewards.ListRewardsRequestObject,
) (rewards.ListRewardsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}
	language := api.RequestOf(ctx).Language
	all, err := a.catalogueFor(ctx, language, in.Params.Customer)
	if err != nil {
		return nil, err
	}
	found := list.Choose(p, api.Running(p.Query, all), api.RewardColumnsOf(a.Programme()),
		list.Ordered(in.Params.Sort, in.Params.Order), a.Clock())
	l := list.Render(found, func(v **api.RewardView) common.RewardEntry {
		return api.RewardEntry(a.Programme(), language, *v, api.Address("rewards", (*v).ID, "claim"))
	})
	return rewards.ListRewards200JSONResponse(api.AnswerOf(l)), nil
}

// catalogueFor returns every reward, or those that one customer may claim now.
func (a *API) catalogueFor(
	ctx context.Context, language *api.Localizer, customer *rewards.Customer,
) (all []*api.RewardView, err error) {
	programme := a.Programme()
	if customer == nil {
		return a.stocked(ctx, language, reward.RewardList(programme)...)
	}
	err = a.Customers.View(ctx, *customer, reward.ClaimNeeds(reward.Rewards.Of(programme)), func(r *engine.Run) error {
		all, err = api.RewardViews(r, language)
		all = slices.DeleteFunc(all, func(v *api.RewardView) bool { return v.Outlook.Refusal != nil })
		return err
	})
	return all, err
}

// stocked shows rewards to a caller who names no customer.
func (a *API) stocked(ctx context.Context, language *api.Localizer, list ...*reward.Reward) ([]*api.RewardView, error) {
	var keys []string
	for _, reward := range list {
		if reward.Stock != nil {
			keys = append(keys, loyalty.TallyReward+reward.ID)
		}
	}
	given, err := a.Reader.Tallies(api.Plain(ctx), keys)
	all, now := make([]*api.RewardView, len(list)), a.Clock()
	for i, reward := range list {
		all[i] = api.ViewOfReward(language, reward, now)
		all[i].InStock = reward.Left(given[loyalty.TallyReward+reward.ID])
	}
	return all, err
}

// GetReward reads one reward of the catalogue.
func (a *API) GetReward(
	ctx context.Context, in rewards.GetRewardRequestObject,
) (rewards.GetRewardResponseObject, error) {
	reward := reward.Rewards.Of(a.Programme())[in.RewardID]
	if reward == nil {
		return nil, loyalty.ErrRewardNotFound
	}
	language := api.RequestOf(ctx).Language
	one, err := a.stocked(ctx, language, reward)
	if err != nil {
		return nil, err
	}
	return rewards.GetReward200JSONResponse{Data: api.RewardEntry(a.Programme(), language, one[0], "")}, nil
}

// ClaimRewardFor gives a customer a reward for points.
func (a *API) ClaimRewardFor(
	ctx context.Context, in rewards.ClaimRewardForRequestObject,
) (rewards.ClaimRewardForResponseObject, error) {
	return api.ClaimReward(ctx, a.Submitter, in.Body.Customer, in.RewardID)
}

// GetRewardClaim reads a claim by its id.
func (a *API) GetRewardClaim(
	ctx context.Context, in rewards.GetRewardClaimRequestObject,
) (rewards.GetRewardClaimResponseObject, error) {
	claim, customer, err := a.claimNamed(ctx, in.ClaimID)
	if err != nil {
		return nil, err
	}

	language := api.RequestOf(ctx).Language
	out := a.claimRecord(language, &claim, &customer)
	if claim.Coupon == "" {
		return rewards.GetRewardClaim200JSONResponse{Data: out}, nil
	}

	coupon, holder, err := a.Reader.Coupon(api.Plain(ctx), claim.Coupon)
	if err != nil {
		return nil, err
	}
	if coupon.Reward == claim.Reward { // otherwise it was taken from its holder and its code reissued
		out.Coupon = new(api.CouponOf(language, &coupon, holder, a.Clock()))
	}

	return rewards.GetRewardClaim200JSONResponse{Data: out}, nil
}

// claimNamed finds a claim and its customer.
func (a *API) claimNamed(ctx context.Context, id string) (loyalty.RewardClaim, loyalty.Customer, error) {
	event, err := uuid.Parse(id)
	if err != nil {
		return loyalty.RewardClaim{}, loyalty.Customer{}, loyalty.ErrClaimUnknown.With("claim", id)
	}
	return a.Reader.ClaimByID(api.Plain(ctx), event)
}

// claimRecord renders a claim, without its coupon.
func (a *API) claimRecord(
	language *api.Localizer, c *loyalty.RewardClaim, customer *loyalty.Customer,
) rewards.RewardClaim {
	out := rewards.RewardClaim{
		ID: c.ID, Reward: c.Reward, Status: rewards.ClaimStatus(c.State),
		Customer: api.CouponOwner(customer.Person()), Points: c.Points,
		ClaimedAt: common.Instant(c.ClaimedAt), UpdatedAt: common.Instant(c.UpdatedAt),
	}
	if c.Award > 0 {
		out.Award = &c.Award
	}
	if reward := reward.Rewards.Of(a.Programme())[c.Reward]; reward != nil {
		out.Title = api.TextOrNil(language.Text(reward.Title))
	}
	return out
}

// RedeemRewardClaim hands a claimed reward out, in the name of the customer of the claim.
func (a *API) RedeemRewardClaim(
	ctx context.Context, in rewards.RedeemRewardClaimRequestObject,
) (rewards.RedeemRewardClaimResponseObject, error) {
	claim, customer, err := a.claimNamed(ctx, in.ClaimID)
	if err != nil {
		return nil, err
	}

	return a.Submitter.SubmitFor(ctx, api.CustomerAction{
		Customer: customer.Name, Action: "reward_redeem",
		Data:   handOut{Claim: claim.ID.String(), TransactionID: in.Body.TransactionID},
		Fields: map[string]string{"data.claim": "claim_id"},
		Body: func(language *api.Localizer, o *loyalty.Outcome) any {
			done := o.Value.(*reward.Redeemed)
			out := a.claimRecord(language, &done.Claim, &o.Customer)
			out.Event = &done.ID
			if done.Coupon != nil {
				out.Coupon = new(api.CouponOf(language, done.Coupon, o.Customer.Person(), a.Clock()))
			}
			return rewards.ClaimAnswer{Data: out}
		},
	})
}

// handOut are the attributes of reward_redeem.
type handOut struct {
	Claim         string  `json:"claim"`
	TransactionID *string `json:"transaction_id,omitempty"`
}
