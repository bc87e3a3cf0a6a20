package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

var wheelType = game.Wheels.Type

// ListPrizeWheels lists the wheels and the customer's spins.
func (a *displayAPI) ListPrizeWheels(ctx context.Context, in display.ListPrizeWheelsRequestObject) (display.ListPrizeWheelsResponseObject, error) {
	l, err := activityPage[display.WheelActivity](ctx, a.customers, activityList{
		customer: in.CustomerID, limit: in.Params.Limit, offset: in.Params.Offset, order: list.Ordered(in.Params.Sort, in.Params.Order),
		kind: wheelType, needs: game.WheelNeeds(a.programme()), all: wheelActivities,
	})
	if err != nil {
		return nil, err
	}
	return display.ListPrizeWheels200JSONResponse(answerOf(l)), nil
}

// GetPrizeWheel reads one wheel.
func (a *displayAPI) GetPrizeWheel(ctx context.Context, in display.GetPrizeWheelRequestObject) (display.GetPrizeWheelResponseObject, error) {
	var out display.GetPrizeWheel200JSONResponse
	needs := loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressWheel)}
	err := a.customers.view(ctx, in.CustomerID, needs, func(r *engine.Run) error {
		w, err := lookup(game.Wheels.Of(r.Programme), wheelType, in.WheelID)
		if err != nil {
			return err
		}
		e, err := wheelEntry(r, requestOf(ctx).language, w)
		out.Data = e.entry.(display.WheelActivity)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func wheelActivities(r *engine.Run, language *tongue) ([]activity, error) {
	return activitiesOf(game.Wheels.Of(r.Programme), func(w *game.Wheel) (activity, error) { return wheelEntry(r, language, w) })
}

func wheelEntry(r *engine.Run, language *tongue, w *game.Wheel) (activity, error) {
	o, err := game.OutlookOnWheel(r, w)
	status, name := w.Status(r.At), language.text(w.Name)
	e := display.WheelActivity{
		ID: w.ID, Name: name, Status: common.DateStatus(status), Points: w.Points, Spins: o.Spins, Left: o.Left,
		Options:  wheelSlices(r.Programme, language, w.Options),
		StartsAt: instantOrNil(w.StartsAt.Time), EndsAt: instantOrNil(w.EndsAt.Time),
		AdditionalProperties: customAttributes(language, r.Programme, wheelType, w.Custom),
	}
	if w.Limit.Count > 0 {
		e.Limit = &display.SpinLimit{Count: w.Limit.Count, Period: display.SpinLimitPeriod(w.Limit.Period)}
	}
	e.UnderscoreActions.Spin = nextStep(r, o.Refusal, "prize-wheels", w.ID)
	return activity{
		entry: e, id: w.ID, title: name, points: w.Points, dates: w.Dates, status: status, custom: w.Custom,
	}, err
}

// wheelSlices renders what can come up, and not how often.
func wheelSlices(p *programme.Programme, language *tongue, options []game.WheelOption) []display.WheelSlice {
	list := make([]display.WheelSlice, len(options))
	for i, o := range options {
		list[i] = display.WheelSlice{Label: language.text(o.Label), Type: display.WheelSliceType(o.Type)}
		switch o.Type {
		case game.OptionPoints:
			list[i].Points = &o.Points
		case game.OptionReward:
			list[i].Reward = wonReward(p, language, o.Reward)
		}
	}
	return list
}
