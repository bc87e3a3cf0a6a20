package server

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/rewards"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// rewardsAPI answers the Rewards API.
type rewardsAPI struct {
	reader    loyalty.Reader
	customers customerReader
	submitter submitter
	bulk      bulkOperations
	programme func() *programme.Programme
	clock     func() time.Time
}

var _ rewards.StrictServerInterface = (*rewardsAPI)(nil)

// ListRewards lists the catalogue, or the rewards that one customer may claim now.
func (a *rewardsAPI) ListRewards(ctx context.Context, in rewards.ListRewardsRequestObject) (rewards.ListRewardsResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}
	language := requestOf(ctx).language
	all, err := a.catalogueFor(ctx, language, in.Params.Customer)
	if err != nil {
		return nil, err
	}
	l := list.Choose(p, running(p.Query, all), rewardColumnsOf(a.programme()), list.Ordered(in.Params.Sort, in.Params.Order), a.clock())
	return rewardPage{list.Render(l, func(v **rewardView) common.RewardEntry {
		return rewardEntry(a.programme(), language, *v, address("rewards", (*v).ID, "claim"))
	})}, nil
}

// catalogueFor returns every reward, or those that one customer may claim now.
func (a *rewardsAPI) catalogueFor(ctx context.Context, language *tongue, customer *rewards.Customer) (all []*rewardView, err error) {
	programme := a.programme()
	if customer == nil {
		return a.stocked(ctx, language, reward.RewardList(programme)...)
	}
	err = a.customers.view(ctx, *customer, reward.ClaimNeeds(reward.Rewards.Of(programme)), func(r *engine.Run) error {
		all, err = rewardViews(r, language)
		all = slices.DeleteFunc(all, func(v *rewardView) bool { return v.outlook.Refusal != nil })
		return err
	})
	return all, err
}

// stocked shows rewards to a caller who names no customer.
func (a *rewardsAPI) stocked(ctx context.Context, language *tongue, list ...*reward.Reward) ([]*rewardView, error) {
	var keys []string
	for _, reward := range list {
		if reward.Stock != nil {
			keys = append(keys, loyalty.TallyReward+reward.ID)
		}
	}
	given, err := a.reader.Tallies(plain(ctx), keys)
	all, now := make([]*rewardView, len(list)), a.clock()
	for i, reward := range list {
		all[i] = viewOfReward(language, reward, now)
		all[i].inStock = reward.Left(given[loyalty.TallyReward+reward.ID])
	}
	return all, err
}

// GetReward reads one reward of the catalogue.
func (a *rewardsAPI) GetReward(ctx context.Context, in rewards.GetRewardRequestObject) (rewards.GetRewardResponseObject, error) {
	reward := reward.Rewards.Of(a.programme())[in.RewardID]
	if reward == nil {
		return nil, loyalty.ErrRewardNotFound
	}
	language := requestOf(ctx).language
	one, err := a.stocked(ctx, language, reward)
	if err != nil {
		return nil, err
	}
	return rewards.GetReward200JSONResponse{Data: rewardEntry(a.programme(), language, one[0], "")}, nil
}

// ClaimRewardFor gives a customer a reward for points.
func (a *rewardsAPI) ClaimRewardFor(ctx context.Context, in rewards.ClaimRewardForRequestObject) (rewards.ClaimRewardForResponseObject, error) {
	return claimReward(ctx, a.submitter, in.Body.Customer, in.RewardID)
}

// GetRewardClaim reads a claim by its id.
func (a *rewardsAPI) GetRewardClaim(ctx context.Context, in rewards.GetRewardClaimRequestObject) (rewards.GetRewardClaimResponseObject, error) {
	claim, customer, err := a.claimNamed(ctx, in.ClaimID)
	if err != nil {
		return nil, err
	}

	language := requestOf(ctx).language
	out := a.claimRecord(language, &claim, &customer)
	if claim.Coupon == "" {
		return rewards.GetRewardClaim200JSONResponse{Data: out}, nil
	}

	coupon, holder, err := a.reader.Coupon(plain(ctx), claim.Coupon)
	if err != nil {
		return nil, err
	}
	if coupon.Reward == claim.Reward { // otherwise it was taken from its holder and its code reissued
		out.Coupon = new(couponOf(language, &coupon, holder, a.clock()))
	}

	return rewards.GetRewardClaim200JSONResponse{Data: out}, nil
}

// claimNamed finds a claim and its customer.
func (a *rewardsAPI) claimNamed(ctx context.Context, id string) (loyalty.RewardClaim, loyalty.Customer, error) {
	event, err := uuid.Parse(id)
	if err != nil {
		return loyalty.RewardClaim{}, loyalty.Customer{}, loyalty.ErrClaimUnknown.With("claim", id)
	}
	return a.reader.ClaimByID(plain(ctx), event)
}

// claimRecord renders a claim, without its coupon.
func (a *rewardsAPI) claimRecord(language *tongue, c *loyalty.RewardClaim, customer *loyalty.Customer) rewards.RewardClaim {
	out := rewards.RewardClaim{
		ID: c.ID, Reward: c.Reward, Status: rewards.ClaimStatus(c.State), Customer: couponOwner(customer.Person()), Points: c.Points,
		ClaimedAt: common.Instant(c.ClaimedAt), UpdatedAt: common.Instant(c.UpdatedAt),
	}
	if c.Award > 0 {
		out.Award = &c.Award
	}
	if reward := reward.Rewards.Of(a.programme())[c.Reward]; reward != nil {
		out.Title = textOrNil(language.text(reward.Title))
	}
	return out
}

// RedeemRewardClaim hands a claimed reward out, in the name of the customer of the claim.
func (a *rewardsAPI) RedeemRewardClaim(ctx context.Context, in rewards.RedeemRewardClaimRequestObject) (rewards.RedeemRewardClaimResponseObject, error) {
	claim, customer, err := a.claimNamed(ctx, in.ClaimID)
	if err != nil {
		return nil, err
	}

	return a.submitter.submitFor(ctx, customerAction{
		customer: customer.Name, action: "reward_redeem",
		data:   handOut{Claim: claim.ID.String(), TransactionID: in.Body.TransactionID},
		fields: map[string]string{"data.claim": "claim_id"},
		body: func(language *tongue, o *loyalty.Outcome) any {
			done := o.Value.(*reward.Redeemed)
			out := a.claimRecord(language, &done.Claim, &o.Customer)
			out.Event = &done.ID
			if done.Coupon != nil {
				out.Coupon = new(couponOf(language, done.Coupon, o.Customer.Person(), a.clock()))
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
