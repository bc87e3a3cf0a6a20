package display

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// ListRewardActivities lists the rewards that a customer can see.
func (a *API) ListRewardActivities(
	ctx context.Context, in display.ListRewardActivitiesRequestObject,
) (display.ListRewardActivitiesResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	var l list.Links[common.RewardEntry]
	err = a.Customers.View(ctx, in.CustomerID, reward.ClaimNeeds(reward.Rewards.Of(a.Programme())),
		func(r *engine.Run) error {
			language := api.RequestOf(ctx).Language
			all, err := api.RewardViews(r, language)
			if err != nil {
				return err
			}
			found := list.Choose(p, api.Running(p.Query, all), api.RewardColumnsOf(r.Programme),
				list.Ordered(in.Params.Sort, in.Params.Order), a.Clock())
			l = list.Render(found, func(v **api.RewardView) common.RewardEntry { return rewardActivity(r, language, *v) })
			return nil
		})

	return display.ListRewardActivities200JSONResponse(api.AnswerOf(l)), err
}

// rewardActivity renders a reward for the customer who may claim it.
func rewardActivity(r *engine.Run, language *api.Localizer, v *api.RewardView) common.RewardEntry {
	return api.RewardEntry(r.Programme, language, v,
		api.Address("customers", r.Customer.Name, "activities", "rewards", v.ID, "claim"))
}

// rewardsOverview returns the rewards that are active for a customer.
func rewardsOverview(r *engine.Run, language *api.Localizer) ([]any, error) {
	all, err := api.RewardViews(r, language)
	all = api.Running(nil, all)
	out := make([]any, len(all))
	for i, v := range all {
		out[i] = rewardActivity(r, language, v)
	}
	return out, err
}

// GetRewardActivity shows one reward as a customer sees it, if it meets the filters.
func (a *API) GetRewardActivity(
	ctx context.Context, in display.GetRewardActivityRequestObject,
) (display.GetRewardActivityResponseObject, error) {
	p, err := api.PageOf(ctx, nil, nil, nil)
	if err != nil {
		return nil, err
	}

	var out display.GetRewardActivity200JSONResponse
	err = a.Customers.View(ctx, in.CustomerID, oneReward(a.Programme(), in.RewardID), func(r *engine.Run) error {
		reward, language := reward.Rewards.Of(r.Programme)[in.RewardID], api.RequestOf(ctx).Language
		if reward == nil {
			return loyalty.ErrRewardNotFound
		}

		v, err := api.RewardFor(r, language, reward)
		if err != nil {
			return err
		}
		if v == nil {
			return loyalty.ErrRewardNotFound
		}

		out.Data = nil
		if met := list.Choose(p, []*api.RewardView{v}, api.RewardColumnsOf(r.Programme),
			list.Order{}, p.Began); len(met.Entries) > 0 {
			out.Data = new(rewardActivity(r, language, v))
		}

		return nil
	})

	return out, err
}

// oneReward is what the outlook of one reward reads of a customer.
func oneReward(p *programme.Programme, id string) loyalty.CustomerNeeds {
	one := map[string]*reward.Reward{}
	if reward := reward.Rewards.Of(p)[id]; reward != nil {
		one[id] = reward
	}
	return reward.ClaimNeeds(one)
}
