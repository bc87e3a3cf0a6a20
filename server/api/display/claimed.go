package display

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// claimed is a claim with its reward, archived or not.
type claimed struct {
	loyalty.RewardClaim
	reward *reward.Reward
	status string // of the reward now
}

// ListClaimedRewards lists the rewards that a customer claimed or received, the newest first.
func (a *API) ListClaimedRewards(
	ctx context.Context, in display.ListClaimedRewardsRequestObject,
) (display.ListClaimedRewardsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	o := list.Ordered(in.Params.Sort, in.Params.Order)
	if o.Column == "" {
		o.Descending = false // the list's own direction
	}

	language := api.RequestOf(ctx).Language
	l, coupons, err := a.claimsOf(ctx, in.CustomerID, p, o)
	out := display.ListClaimedRewards200JSONResponse{
		Data: make([]display.ClaimedReward, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time,
	}
	for i := range l.Entries {
		out.Data[i] = a.claimedReward(language, &l.Entries[i])
		if held, ok := coupons[l.Entries[i].Coupon]; ok {
			shown := api.CouponOf(language, &held.Coupon, held.Holder, a.Clock())
			out.Data[i].Coupon = &shown
		}
	}

	return out, err
}

// claimsOf returns one page of a customer's claims, and the coupons of the claims, by code, that the customer still
// holds: the code of a coupon that was passed on is the new holder's secret. Filters and orders refer to the rewards,
// whose fields the claims lack, so they need all of the customer's claims.
func (a *API) claimsOf(
	ctx context.Context, ref string, p list.Page, o list.Order,
) (l list.Links[claimed], _ map[string]loyalty.HeldCoupon, err error) {
	p.OldestFirst = o.OldestFirst()
	now, q := a.Clock(), loyalty.ClaimQuery{Ref: ref, OldestFirst: p.OldestFirst, Page: p.Store()}
	columns := list.CustomColumns(a.Programme(), api.RewardType, a.claimColumns(api.RequestOf(ctx).Language),
		func(c claimed) map[string]json.RawMessage { return c.reward.Custom })
	filtered := slices.ContainsFunc(p.Query, func(q list.Pair) bool {
		name, _ := list.SplitOperator(q.Name)
		_, ok := columns[name]
		return ok
	})

	if filtered || o.Column != "" {
		q.Page = loyalty.Page{}
	}

	var found loyalty.ClaimPage
	err = a.Customers.Settled(api.Plain(ctx), func() (_ loyalty.Customer, err error) {
		found, err = a.Reader.Claims(api.Plain(ctx), q)
		return found.Customer, err
	})
	if err != nil {
		return l, nil, err
	}

	all, err := a.withRewards(api.Plain(ctx), &found, now)
	place := func(c claimed) list.Cursor { return list.Cursor{At: c.ClaimedAt, ID: c.ID[:]} }
	if o.Column != "" {
		place = nil
	}

	if filtered || place == nil {
		whole := list.Page{Query: p.Query, Fields: p.Fields, Limit: len(all)}
		all = list.Cut(p, list.Choose(whole, all, columns, o, now).Entries, place)
	}

	return list.Linked(p, all, now, place), found.Coupons, err
}

// claimColumns are the columns to filter and sort claimed rewards by. Points are the price of the claim.
func (a *API) claimColumns(language *api.Localizer) map[string]list.Column[claimed] {
	return map[string]list.Column[claimed]{
		"type":       {Of: func(c claimed) any { return c.reward.Type }},
		"points":     {Of: func(c claimed) any { return c.Points }},
		"stores":     {Of: func(c claimed) any { return list.Places(c.reward.Stores) }},
		"starts_at":  {Of: func(c claimed) any { return timeOrNil(c.reward.StartsAt.Time) }},
		"ends_at":    {Of: func(c claimed) any { return timeOrNil(c.reward.EndsAt.Time) }},
		"status":     {Of: func(c claimed) any { return c.status }},
		"state":      {Of: func(c claimed) any { return string(c.State) }},
		"claimed_at": {Of: func(c claimed) any { return c.ClaimedAt }},
		"title":      {Of: func(c claimed) any { return language.Text(c.reward.Title) }},
	}
}

func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// withRewards joins claims with their rewards. An archived reward is over.
func (a *API) withRewards(ctx context.Context, page *loyalty.ClaimPage, now time.Time) ([]claimed, error) {
	known, list := map[string]claimed{}, make([]claimed, len(page.Claims))
	for i, c := range page.Claims {
		of, ok := known[c.Reward]
		if !ok {
			var err error
			if of, err = a.rewardOf(ctx, page, c.Reward, now); err != nil {
				return nil, err
			}
			known[c.Reward] = of
		}
		list[i] = claimed{c, of.reward, of.status}
	}
	return list, nil
}

// rewardOf finds a reward of the programme, or an archived one: this node may not know yet that a reward was archived
// or created.
func (a *API) rewardOf(ctx context.Context, page *loyalty.ClaimPage, id string, now time.Time) (claimed, error) {
	if r := reward.Rewards.Of(a.Programme())[id]; r != nil {
		return claimed{reward: r, status: r.Status(now)}, nil
	}
	e, archived := page.Archived[id]
	if !archived {
		var err error
		if e, err = a.Admin.Entity(ctx, api.RewardType, id); err != nil {
			return claimed{}, err
		}
	}
	r, err := reward.RewardOf(e)
	return claimed{reward: r, status: loyalty.StatusCompleted}, err
}

// claimedReward renders a claim and its reward.
func (a *API) claimedReward(language *api.Localizer, c *claimed) display.ClaimedReward {
	r := c.reward
	out := display.ClaimedReward{
		ID: r.ID, Type: display.ClaimedRewardType(r.Type), Status: display.ClaimedRewardStatus(c.status),
		Title: language.Text(r.Title), Description: api.TextOrNil(language.Text(r.Description)), Points: c.Points,
		StartsAt: api.InstantOrNil(r.StartsAt.Time), EndsAt: api.InstantOrNil(r.EndsAt.Time), Stores: api.OrEmpty(r.Stores),
		ClaimID: c.ID, State: display.ClaimedRewardState(c.State), ClaimedAt: common.Instant(c.ClaimedAt),
		AdditionalProperties: api.CustomAttributes(language, a.Programme(), api.RewardType, r.Custom),
	}

	if r.Image != (reward.Image{}) {
		out.Image = &display.ClaimedRewardImage{Small: api.TextOrNil(r.Image.Small),
			Medium: api.TextOrNil(r.Image.Medium), Large: api.TextOrNil(r.Image.Large)}
	}
	if c.Award > 0 {
		out.Award = &c.Award
	}

	return out
}
