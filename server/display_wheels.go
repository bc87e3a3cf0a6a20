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

// wheels are the prize wheels and the customer's spins.
var wheels = &catalogue[*game.Wheel]{game.Wheels, wheelEntry, loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressWheel)}}

// ListPrizeWheels lists the wheels and the customer's spins.
func (a *displayAPI) ListPrizeWheels(ctx context.Context, in display.ListPrizeWheelsRequestObject) (display.ListPrizeWheelsResponseObject, error) {
	q := wheels.list(in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order))
	q.needs = game.WheelNeeds(a.programme()) // with the standing for every prize, in one round trip
	l, err := activityPage[display.WheelActivity](ctx, a.customers, q)
	if err != nil {
		return nil, err
	}
	return display.ListPrizeWheels200JSONResponse(answerOf(l)), nil
}

// GetPrizeWheel reads one wheel.
func (a *displayAPI) GetPrizeWheel(ctx context.Context, in display.GetPrizeWheelRequestObject) (display.GetPrizeWheelResponseObject, error) {
	wheel, err := activityOf[display.WheelActivity](ctx, a.customers, wheels, in.CustomerID, in.WheelID)
	if err != nil {
		return nil, err
	}
	return display.GetPrizeWheel200JSONResponse{Data: wheel}, nil
}

func wheelEntry(r *engine.Run, language *tongue, w *game.Wheel) (activity, error) {
	o, err := game.OutlookOnWheel(r, w)
	status, name := w.Status(r.At), language.text(w.Name)
	e := display.WheelActivity{
		ID: w.ID, Name: name, Status: common.DateStatus(status), Points: w.Points, Spins: o.Spins, Left: o.Left,
		Options:  wheelSlices(r.Programme, language, w.Options),
		StartsAt: instantOrNil(w.StartsAt.Time), EndsAt: instantOrNil(w.EndsAt.Time),
		AdditionalProperties: customAttributes(language, r.Programme, game.Wheels.Type, w.Custom),
	}

	if w.Limit.Count > 0 {
		e.Limit = &display.SpinLimit{Count: w.Limit.Count, Period: display.SpinLimitPeriod(w.Limit.Period)}
	}

	e.UnderscoreActions.Spin = nextStep(r, o.Refusal, "prize-wheels", w.ID)
	return activity{
		entry: e, id: w.ID, title: name, points: w.Points, dates: w.Dates, status: status, custom: w.Custom,
	}, err
}

// wheelSlices renders the possible results, without their odds.
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
