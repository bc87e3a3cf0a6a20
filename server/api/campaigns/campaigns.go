// Package campaigns answers the Automation Campaigns API: campaigns as assembled, their figures, previews and
// backtests.
package campaigns

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/gen/automationcampaigns"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/entities"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// API answers the Automation Campaigns API.
type API struct {
	Engine     api.Engine
	Admin      *admin.Admin
	Reader     loyalty.Reader
	Jobs       api.Jobs
	Vocabulary *contract.Vocabulary
	Bulk       api.BulkOperations
	Programme  func() *programme.Programme
	Clock      func() time.Time
}

var _ automationcampaigns.StrictServerInterface = (*API)(nil)

// campaignType is the entity type of campaigns.
var campaignType = campaign.Campaigns.Type

// campaignColumns are the columns to filter and sort campaigns by.
func campaignColumns(now time.Time) map[string]list.Column[*campaign.Campaign] {
	moment := func(of func(*campaign.Campaign) time.Time) func(*campaign.Campaign) any {
		return func(c *campaign.Campaign) any {
			if at := of(c); !at.IsZero() {
				return at
			}
			return nil
		}
	}

	return map[string]list.Column[*campaign.Campaign]{
		"status":     {Of: func(c *campaign.Campaign) any { return c.StatusAt(now) }},
		"trigger":    {Of: func(c *campaign.Campaign) any { return c.Trigger }},
		"name":       {Of: func(c *campaign.Campaign) any { return c.Name }},
		"priority":   {Of: func(c *campaign.Campaign) any { return int64(c.Priority) }},
		"created_at": {Of: moment(func(c *campaign.Campaign) time.Time { return c.CreatedAt })},
		"starts_at":  {Of: moment(func(c *campaign.Campaign) time.Time { return c.StartsAt.Time })},
		"ends_at":    {Of: moment(func(c *campaign.Campaign) time.Time { return c.EndsAt.Time })},
	}
}

// ListCampaigns lists the campaigns that are not archived, in the order in which they run.
func (a *API) ListCampaigns(
	ctx context.Context, in automationcampaigns.ListCampaignsRequestObject,
) (automationcampaigns.ListCampaignsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	now := a.Clock()
	l := list.Choose(p, campaign.InOrder(a.Programme()),
		campaignColumns(now), list.Ordered(in.Params.Sort, in.Params.Order), now)
	out := automationcampaigns.ListCampaigns200JSONResponse{
		Data: make([]automationcampaigns.AutomationCampaign, len(l.Entries)),
		Next: l.Next, Previous: l.Previous, Time: &l.Time,
	}
	for i, c := range l.Entries {
		if out.Data[i], err = campaignOf(c, now); err != nil {
			return nil, err
		}
	}

	if in.Params.Include != nil {
		err = a.include(ctx, l.Entries, out.Data)
	}

	return out, err
}

// include adds their figures to campaigns, read for all of them at once.
func (a *API) include(
	ctx context.Context, campaigns []*campaign.Campaign, shown []automationcampaigns.AutomationCampaign,
) error {
	ids := make([]string, len(campaigns))
	for i, c := range campaigns {
		ids[i] = c.ID
	}
	did, err := a.Reader.CampaignTotals(api.Plain(ctx), ids)
	for i, id := range ids {
		shown[i].Statistics = new(statisticsOf(id, did[id], shown[i].Limit))
	}
	return err
}

// GetCampaign reads one campaign as it runs.
func (a *API) GetCampaign(
	_ context.Context, in automationcampaigns.GetCampaignRequestObject,
) (automationcampaigns.GetCampaignResponseObject, error) {
	c := campaign.Find(a.Programme(), in.CampaignID)
	if c == nil {
		return nil, loyalty.ErrCampaignNotFound.With("campaign", in.CampaignID)
	}
	shown, err := campaignOf(c, a.Clock())
	return automationcampaigns.GetCampaign200JSONResponse{Data: shown}, err
}

// campaignOf renders a campaign.
func campaignOf(c *campaign.Campaign, now time.Time) (automationcampaigns.AutomationCampaign, error) {
	out := automationcampaigns.AutomationCampaign{
		ID: c.ID, Name: c.Name, Trigger: c.Trigger, Condition: api.TextOrNil(c.Condition), Priority: c.Priority,
		Limit:  entities.UsageLimit{PerCustomer: c.Limit.PerCustomer, Total: c.Limit.Total},
		Status: automationcampaigns.CampaignState(c.StatusAt(now)), Effects: make([]entities.CampaignEffect, len(c.Effects)),
		StartsAt: api.InstantOrNil(c.StartsAt.Time),
		EndsAt:   api.InstantOrNil(c.EndsAt.Time), CreatedAt: common.Instant(c.CreatedAt),
	}
	for i := range c.Effects {
		if err := out.Effects[i].UnmarshalJSON(api.Marshal(effectOf(&c.Effects[i]))); err != nil {
			return out, err
		}
	}
	return out, nil
}

// effectOf renders an effect with the properties of its type.
func effectOf(f *campaign.Effect) map[string]any {
	out := map[string]any{"type": f.Type}
	switch f.Type {
	case campaign.EffectPoints:
		out["points"] = f.Points
	case campaign.EffectMultiply:
		out["factor"] = f.Factor
	case campaign.EffectCoupon:
		if f.Coupon != nil {
			out["coupon"] = templateOf(f.Coupon)
		} else {
			out["pool"] = f.Pool
		}

	case campaign.EffectLabel:
		out["label"] = f.Label
	case campaign.EffectTier:
		out["tier"] = f.Tier
	case campaign.EffectChallenge:
		out["challenge"], out["amount"] = f.Challenge, f.Amount
	}

	return out
}

func templateOf(t *coupon.CouponTemplate) map[string]any {
	out := map[string]any{"type": t.Type}
	if t.Type != loyalty.CouponFreeShipping {
		out["value"] = t.Value
	}
	if t.Currency != "" {
		out["currency"] = t.Currency
	}
	if len(t.Name) > 0 {
		out["name"] = t.Name
	}
	if t.ValidDays > 0 {
		out["valid_days"] = t.ValidDays
	}
	if len(t.Stores) > 0 {
		out["stores"] = t.Stores
	}
	if len(t.Products) > 0 {
		out["products"] = t.Products
	}

	return out
}

// GetCampaignStatistics shows the figures of a campaign, even of an archived one.
func (a *API) GetCampaignStatistics(
	ctx context.Context, in automationcampaigns.GetCampaignStatisticsRequestObject,
) (automationcampaigns.GetCampaignStatisticsResponseObject, error) {
	e, err := a.campaignEntity(ctx, in.CampaignID)
	if err != nil {
		return nil, err
	}
	var limits struct {
		Limit entities.UsageLimit `json:"limit"`
	}
	if err := json.Unmarshal(e.Data, &limits); err != nil {
		return nil, err
	}
	did, err := a.Reader.CampaignTotals(api.Plain(ctx), []string{in.CampaignID})
	return automationcampaigns.GetCampaignStatistics200JSONResponse{Data: statisticsOf(in.CampaignID,
		did[in.CampaignID], limits.Limit)}, err
}

// statisticsOf renders the figures of a campaign.
func statisticsOf(id string, f loyalty.CampaignTotals, l entities.UsageLimit) automationcampaigns.CampaignStatistics {
	return automationcampaigns.CampaignStatistics{
		CampaignID: id, Runs: f.Runs, Customers: f.Customers, Points: f.Points, TakenBack: f.TakenBack,
		Net: f.Points - f.TakenBack, Coupons: f.Coupons, Labels: f.Labels, Tiers: f.Tiers, Challenge: f.Challenge,
		FirstAt: api.InstantOrNil(f.First), LastAt: api.InstantOrNil(f.Last), Limits: limitsLeft(l, f.Limited),
	}
}

// campaignEntity reads a campaign, archived or not.
func (a *API) campaignEntity(ctx context.Context, id string) (loyalty.Entity, error) {
	e, err := a.Admin.Entity(api.Plain(ctx), campaignType, id)
	if errors.Is(err, loyalty.ErrEntityNotFound) {
		err = loyalty.ErrCampaignNotFound.With("campaign", id)
	}
	return e, err
}

// limitsLeft returns the remaining limits of a campaign.
func limitsLeft(l entities.UsageLimit, used int64) (out automationcampaigns.CampaignLimits) {
	if l.PerCustomer != nil {
		out.PerCustomer = &automationcampaigns.CustomerLimit{Limit: *l.PerCustomer}
	}
	if l.Total != nil {
		out.Total = &automationcampaigns.TotalLimit{Limit: *l.Total, Used: used, Left: max(0, *l.Total-used)}
	}
	return out
}
