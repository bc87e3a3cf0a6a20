package campaigns

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/automationcampaigns"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
)

// PreviewCampaigns shows what a purchase would earn.
func (a *API) PreviewCampaigns(
	ctx context.Context, _ automationcampaigns.PreviewCampaignsRequestObject,
) (automationcampaigns.PreviewCampaignsResponseObject, error) {
	s := a.Vocabulary.Submission(api.RequestOf(ctx).Tree, len(api.RequestOf(ctx).Body))
	s.Checked = false // the engine also checks it against the programme's declarations
	v, err := campaign.PreviewPurchase(api.Plain(ctx), a.Engine, s)
	if err != nil {
		return nil, err
	}

	out := automationcampaigns.CampaignPreview{
		Base: v.Base, Bonus: v.Bonus(), Points: v.Base + v.Bonus(), Burned: v.Burned,
		Campaigns: make([]automationcampaigns.CampaignBonus, len(v.Campaigns)),
	}

	for i, c := range v.Campaigns {
		out.Campaigns[i] = automationcampaigns.CampaignBonus{ID: c.ID, Name: c.Name, Points: c.Points}
	}

	return automationcampaigns.PreviewCampaigns200JSONResponse{Data: out}, nil
}

// StartBacktest starts a backtest of a campaign on past events.
func (a *API) StartBacktest(
	ctx context.Context, in automationcampaigns.StartBacktestRequestObject,
) (automationcampaigns.StartBacktestResponseObject, error) {
	plan, err := a.plan(ctx, in)
	if err != nil {
		return nil, err
	}
	q := loyalty.BulkRequest{Kind: campaign.BulkBacktest, Target: in.CampaignID,
		Parameters: api.Marshal(plan), Most: campaign.MostBacktests}
	show := func(o loyalty.BulkOperation) any { return backtestAnswer(api.RequestOf(ctx).Language, o) }
	answer, err := api.Change(ctx, http.StatusAccepted, show,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.BulkOperation], error) {
			return a.Admin.BeginBulk(ctx, call, q)
		})
	if err == nil && !answer.Replayed {
		a.Jobs.Wake("bulk")
	}
	return answer, err
}

// plan reads the campaign and the events of a backtest. Future events are not allowed.
func (a *API) plan(
	ctx context.Context, in automationcampaigns.StartBacktestRequestObject,
) (campaign.BacktestPlan, error) {
	p := campaign.BacktestPlan{From: time.Time(in.Body.From).UTC(), To: time.Time(in.Body.To).UTC()}
	e, err := a.campaignEntity(ctx, in.CampaignID)
	switch {
	case err != nil:
		return p, err
	case !e.ArchivedAt.IsZero():
		return p, loyalty.ErrCampaignNotFound.With("campaign", in.CampaignID)
	}

	p.Campaign = e.Data
	if sent := contract.Properties(api.RequestOf(ctx).Tree)["campaign"]; sent != nil {
		p.Campaign = contract.AppendJSON(nil, sent)
	}
	if err := p.Check(a.Programme(), in.CampaignID); err != nil {
		return p, err
	}
	if now := a.Clock(); p.To.After(now) {
		p.To = now
	}

	return p, nil
}

// GetBacktest shows the progress of a backtest.
func (a *API) GetBacktest(
	ctx context.Context, in automationcampaigns.GetBacktestRequestObject,
) (automationcampaigns.GetBacktestResponseObject, error) {
	o, err := a.Bulk.Named(ctx, in.BatchID, campaign.BulkBacktest)
	switch {
	case err != nil:
		return nil, err
	case o.Target != in.CampaignID:
		return nil, loyalty.ErrBatchNotFound.With("batch", in.BatchID)
	}
	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(backtestAnswer(api.RequestOf(ctx).Language, o))}, nil
}

// backtestAnswer renders the progress of a backtest; the reason of a failure is in the given language.
func backtestAnswer(language *api.Localizer, o loyalty.BulkOperation) any {
	var plan campaign.BacktestPlan
	var f campaign.BacktestFigures
	_ = json.Unmarshal(o.Parameters, &plan) // both are the platform's own; none yet of the second
	_ = json.Unmarshal(o.Progress, &f)
	out := automationcampaigns.BacktestAnswer{Data: automationcampaigns.Backtest{
		BatchID: o.ID, CampaignID: o.Target, From: common.Instant(plan.From), To: common.Instant(plan.To),
		Status: automationcampaigns.BacktestStatus(o.State), Done: o.Done, Total: o.Total,
		Events: f.Events, Winners: f.Winners, Points: f.Points, Coupons: f.Coupons,
		CreatedAt: common.Instant(o.CreatedAt), FinishedAt: api.InstantOrNil(o.FinishedAt),
	}}

	if f.Fault != nil {
		_, fault := api.Envelope(language, loyalty.FailureOf(f.Fault))
		out.Data.Fault = &fault
	}

	return out
}
