// Package levels answers the Levels API: the tiers that a customer may reach.
package levels

import (
	"context"
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/gen/levels"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// API answers the Levels API.
type API struct {
	Reader    loyalty.Reader
	Customers api.CustomerReader
	Submitter api.Submitter
	Programme func() *programme.Programme
	Clock     func() time.Time // for the duration of answers
	Now       func() time.Time // the engine's
}

var _ levels.StrictServerInterface = (*API)(nil)

// ListLevels lists the tiers of every structure.
func (a *API) ListLevels(
	ctx context.Context, in levels.ListLevelsRequestObject,
) (levels.ListLevelsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}
	l := list.Linked(p, list.Cut(p, tier.LevelsOf(a.Programme()), nil), a.Clock(), nil)
	out := levels.ListLevels200JSONResponse{
		Data: make([]levels.Level, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: l.Time,
	}
	for i := range l.Entries {
		out.Data[i] = levelOf(api.RequestOf(ctx).Language, &l.Entries[i])
	}
	return out, nil
}

// ListCustomerLevels lists the same tiers with the customer's progress.
func (a *API) ListCustomerLevels(
	ctx context.Context, in levels.ListCustomerLevelsRequestObject,
) (levels.ListCustomerLevelsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	var all []tier.Level
	needs := loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressTier)}
	err = a.Customers.View(ctx, in.CustomerID, needs, func(r *engine.Run) (err error) {
		all, err = tier.CustomerLevels(r)
		return err
	})
	if err != nil {
		return nil, err
	}

	l := list.Linked(p, list.Cut(p, all, nil), a.Clock(), nil)
	out := levels.ListCustomerLevels200JSONResponse{
		Data: make([]levels.CustomerLevel, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: l.Time,
	}
	for i := range l.Entries {
		out.Data[i] = customerLevelOf(api.RequestOf(ctx).Language, &l.Entries[i])
	}

	return out, nil
}

// levelOf renders a tier.
func levelOf(language *api.Localizer, l *tier.Level) levels.Level {
	benefits := l.Tier.Benefits
	if benefits == nil {
		benefits = json.RawMessage("{}")
	}
	return levels.Level{
		Structure: structureOf(l.Structure), ID: l.Tier.ID,
		Name: language.Text(l.Tier.Name), Threshold: l.Tier.Threshold, Benefits: benefits,
	}
}

// customerLevelOf renders a tier with the customer's progress. A structure with manual tiers has no figure.
func customerLevelOf(language *api.Localizer, l *tier.Level) levels.CustomerLevel {
	of := levelOf(language, l)
	out := levels.CustomerLevel{
		Structure: of.Structure, ID: of.ID, Name: of.Name, Threshold: of.Threshold, Benefits: of.Benefits,
		Current: l.Current, Reached: l.Reached, Next: l.Next, Manual: l.Manual,
		Since: api.InstantOrNil(l.Since), ExpiresAt: api.InstantOrNil(l.Expires),
	}
	if l.Structure.Base != tier.BaseManual {
		figure, missing := l.Structure.Number(l.Figure), l.Structure.Number(l.Missing)
		out.Figure, out.Missing = &figure, &missing
	}
	return out
}
