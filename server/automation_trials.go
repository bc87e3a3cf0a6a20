package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/automationcampaigns"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
)

// PreviewCampaigns shows what a purchase would earn.
func (a *campaignsAPI) PreviewCampaigns(ctx context.Context, _ automationcampaigns.PreviewCampaignsRequestObject) (automationcampaigns.PreviewCampaignsResponseObject, error) {
	s := a.vocabulary.Submission(requestOf(ctx).tree, len(requestOf(ctx).body))
	s.Checked = false // the engine also checks it against the programme's declarations
	v, err := campaign.PreviewPurchase(plain(ctx), a.engine, s)
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
func (a *campaignsAPI) StartBacktest(ctx context.Context, in automationcampaigns.StartBacktestRequestObject) (automationcampaigns.StartBacktestResponseObject, error) {
	plan, err := a.plan(ctx, in)
	if err != nil {
		return nil, err
	}
	q := loyalty.BulkRequest{Kind: campaign.BulkBacktest, Target: in.CampaignID, Parameters: marshal(plan), Most: campaign.MostBacktests}
	show := func(o loyalty.BulkOperation) any { return backtestAnswer(requestOf(ctx).language, o) }
	answer, err := change(ctx, http.StatusAccepted, show, func(ctx context.Context, call admin.Call) (admin.Done[loyalty.BulkOperation], error) {
		return a.admin.BeginBulk(ctx, call, q)
	})
	if err == nil && !answer.replayed {
		a.jobs.Wake("bulk")
	}
	return answer, err
}

// plan reads the campaign and the events of a backtest. Future events are not allowed.
func (a *campaignsAPI) plan(ctx context.Context, in automationcampaigns.StartBacktestRequestObject) (campaign.BacktestPlan, error) {
	p := campaign.BacktestPlan{From: time.Time(in.Body.From).UTC(), To: time.Time(in.Body.To).UTC()}
	e, err := a.campaignEntity(ctx, in.CampaignID)
	switch {
	case err != nil:
		return p, err
	case !e.ArchivedAt.IsZero():
		return p, loyalty.ErrCampaignNotFound.With("campaign", in.CampaignID)
	}

	p.Campaign = e.Data
	if sent := contract.Properties(requestOf(ctx).tree)["campaign"]; sent != nil {
		p.Campaign = contract.AppendJSON(nil, sent)
	}
	if err := p.Check(a.programme(), in.CampaignID); err != nil {
		return p, err
	}
	if now := a.clock(); p.To.After(now) {
		p.To = now
	}

	return p, nil
}

// GetBacktest shows the progress of a backtest.
func (a *campaignsAPI) GetBacktest(ctx context.Context, in automationcampaigns.GetBacktestRequestObject) (automationcampaigns.GetBacktestResponseObject, error) {
	o, err := a.bulk.named(ctx, in.BatchID, campaign.BulkBacktest)
	switch {
	case err != nil:
		return nil, err
	case o.Target != in.CampaignID:
		return nil, loyalty.ErrBatchNotFound.With("batch", in.BatchID)
	}
	return rawResponse{status: http.StatusOK, body: marshal(backtestAnswer(requestOf(ctx).language, o))}, nil
}

// backtestAnswer renders the progress of a backtest; the reason of a failure is in the given language.
func backtestAnswer(language *tongue, o loyalty.BulkOperation) any {
	var plan campaign.BacktestPlan
	var f campaign.BacktestFigures
	_ = json.Unmarshal(o.Parameters, &plan) // both are the platform's own; none yet of the second
	_ = json.Unmarshal(o.Progress, &f)
	out := automationcampaigns.BacktestAnswer{Data: automationcampaigns.Backtest{
		BatchID: o.ID, CampaignID: o.Target, From: common.Instant(plan.From), To: common.Instant(plan.To),
		Status: automationcampaigns.BacktestStatus(o.State), Done: o.Done, Total: o.Total,
		Events: f.Events, Winners: f.Winners, Points: f.Points, Coupons: f.Coupons,
		CreatedAt: common.Instant(o.CreatedAt), FinishedAt: instantOrNil(o.FinishedAt),
	}}

	if f.Fault != nil {
		_, fault := envelope(language, loyalty.FailureOf(f.Fault))
		out.Data.Fault = &fault
	}

	return out
}
