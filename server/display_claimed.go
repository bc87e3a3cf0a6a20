package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// rewardType is the entity that a reward is.
const rewardType = loyalty.RewardType

// claimed is a claim with its reward, archived or not.
type claimed struct {
	loyalty.RewardClaim
	reward *reward.Reward
	status string // of the reward now
}

// ListClaimedRewards lists what a customer claimed or received, the newest first.
func (a *displayAPI) ListClaimedRewards(ctx context.Context, in display.ListClaimedRewardsRequestObject) (display.ListClaimedRewardsResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	c, err := a.customers.current(plain(ctx), in.CustomerID)
	if err != nil {
		return nil, err
	}
	o := list.Ordered(in.Params.Sort, in.Params.Order)
	if o.Column == "" {
		o.Descending = false // it is the list's own direction
	}
	language := requestOf(ctx).language
	l, err := a.claimsOf(ctx, c.ID, p, o)
	if err != nil {
		return nil, err
	}
	coupons, err := a.couponsOfClaims(plain(ctx), c.ID, l.Entries)
	out := display.ListClaimedRewards200JSONResponse{
		Data: make([]display.ClaimedReward, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time,
	}
	for i := range l.Entries {
		out.Data[i] = a.claimedReward(language, &l.Entries[i])
		if held, ok := coupons[l.Entries[i].Coupon]; ok {
			shown := couponOf(language, &held.Coupon, &held.Holder, a.clock())
			out.Data[i].Coupon = &shown
		}
	}
	return out, err
}

// claimsOf gives one page of a customer's claims. Filters and orders are by what the
// rewards say, which the claims do not have: then all of the customer's are read.
func (a *displayAPI) claimsOf(ctx context.Context, customer loyalty.ID, p list.Page, o list.Order) (l list.Links[claimed], err error) {
	p.OldestFirst = o.OldestFirst()
	now, q := a.clock(), loyalty.ClaimQuery{Customer: customer, OldestFirst: p.OldestFirst, Page: p.Store()}
	columns := list.CustomColumns(a.programme(), rewardType, a.claimColumns(requestOf(ctx).language), func(c claimed) map[string]json.RawMessage { return c.reward.Custom })
	filtered := slices.ContainsFunc(p.Query, func(q list.Pair) bool {
		name, _ := list.SplitOperator(q.Name)
		_, ok := columns[name]
		return ok
	})
	if filtered || o.Column != "" {
		q.Page = loyalty.Page{}
	}
	claims, err := a.reader.Claims(plain(ctx), q)
	if err != nil {
		return l, err
	}
	all, err := a.withRewards(plain(ctx), claims, now)
	place := func(c claimed) list.Cursor { return list.Cursor{At: c.ClaimedAt, ID: c.ID[:]} }
	if o.Column != "" {
		place = nil
	}
	if filtered || place == nil {
		whole := list.Page{Query: p.Query, Fields: p.Fields, Limit: len(all)}
		all = list.Cut(p, list.Choose(whole, all, columns, o, now).Entries, place)
	}
	return list.Linked(p, all, now, place), err
}

// claimColumns are what claimed rewards can be filtered and sorted by. Points are
// those that the claim cost.
func (a *displayAPI) claimColumns(language *tongue) map[string]list.Column[claimed] {
	return map[string]list.Column[claimed]{
		"type":       {Of: func(c claimed) any { return c.reward.Type }},
		"points":     {Of: func(c claimed) any { return c.Points }},
		"stores":     {Of: func(c claimed) any { return list.Places(c.reward.Stores) }},
		"starts_at":  {Of: func(c claimed) any { return timeOrNil(c.reward.StartsAt.Time) }},
		"ends_at":    {Of: func(c claimed) any { return timeOrNil(c.reward.EndsAt.Time) }},
		"status":     {Of: func(c claimed) any { return c.status }},
		"state":      {Of: func(c claimed) any { return string(c.State) }},
		"claimed_at": {Of: func(c claimed) any { return c.ClaimedAt }},
		"title":      {Of: func(c claimed) any { return language.text(c.reward.Title) }},
	}
}

func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// withRewards joins claims with their rewards. One that is archived is over.
func (a *displayAPI) withRewards(ctx context.Context, claims []loyalty.RewardClaim, now time.Time) ([]claimed, error) {
	known, list := map[string]claimed{}, make([]claimed, len(claims))
	for i, c := range claims {
		of, ok := known[c.Reward]
		if !ok {
			var err error
			if of, err = a.rewardOf(ctx, c.Reward, now); err != nil {
				return nil, err
			}
			known[c.Reward] = of
		}
		list[i] = claimed{c, of.reward, of.status}
	}
	return list, nil
}

func (a *displayAPI) rewardOf(ctx context.Context, id string, now time.Time) (claimed, error) {
	if r := reward.Rewards.Of(a.programme())[id]; r != nil {
		return claimed{reward: r, status: r.Status(now)}, nil
	}
	e, err := a.admin.Entity(ctx, rewardType, id)
	if err != nil {
		return claimed{}, err
	}
	r, err := reward.RewardOf(e)
	return claimed{reward: r, status: loyalty.StatusCompleted}, err
}

// couponsOfClaims finds the coupons that claims gave, by code, as far as the customer
// still holds them: the code of one that was passed on is the new holder's secret.
func (a *displayAPI) couponsOfClaims(ctx context.Context, customer loyalty.ID, claims []claimed) (map[string]loyalty.HeldCoupon, error) {
	codes := []any{}
	for i := range claims {
		if claims[i].Coupon != "" {
			codes = append(codes, claims[i].Coupon)
		}
	}
	if len(codes) == 0 {
		return nil, nil
	}
	found, err := a.reader.Coupons(ctx, loyalty.CouponQuery{
		Holder: customer, At: a.clock(), Page: loyalty.Page{Limit: len(codes)},
		Conditions: []loyalty.Condition{{Field: "code", Operator: loyalty.In, Values: codes}},
	})
	byCode := make(map[string]loyalty.HeldCoupon, len(found))
	for _, c := range found {
		byCode[c.Code] = c
	}
	return byCode, err
}

// claimedReward renders a claim and its reward.
func (a *displayAPI) claimedReward(language *tongue, c *claimed) display.ClaimedReward {
	r := c.reward
	out := display.ClaimedReward{
		ID: r.ID, Type: display.ClaimedRewardType(r.Type), Status: display.ClaimedRewardStatus(c.status),
		Title: language.text(r.Title), Description: textOrNil(language.text(r.Description)), Points: c.Points,
		StartsAt: instantOrNil(r.StartsAt.Time), EndsAt: instantOrNil(r.EndsAt.Time), Stores: orEmpty(r.Stores),
		ClaimID: c.ID, State: display.ClaimedRewardState(c.State), ClaimedAt: common.Instant(c.ClaimedAt),
		AdditionalProperties: customAttributes(language, a.programme(), rewardType, r.Custom),
	}
	if r.Image != (reward.Image{}) {
		out.Image = &display.ClaimedRewardImage{Small: textOrNil(r.Image.Small), Medium: textOrNil(r.Image.Medium), Large: textOrNil(r.Image.Large)}
	}
	if c.Award > 0 {
		out.Award = &c.Award
	}
	return out
}
