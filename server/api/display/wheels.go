package display

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// wheels are the prize wheels and the customer's spins.
var wheels = &catalogue[*game.Wheel, display.WheelActivity]{
	entities: game.Wheels, render: wheelEntry,
	needs:     loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressWheel)},
	listNeeds: game.WheelNeeds, // with the standing for every prize
}

// ListPrizeWheels lists the wheels and the customer's spins.
func (a *API) ListPrizeWheels(
	ctx context.Context, in display.ListPrizeWheelsRequestObject,
) (display.ListPrizeWheelsResponseObject, error) {
	l, err := wheels.page(ctx, a, listRequest{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order),
	})
	return display.ListPrizeWheels200JSONResponse(api.AnswerOf(l)), err
}

// GetPrizeWheel reads one wheel.
func (a *API) GetPrizeWheel(
	ctx context.Context, in display.GetPrizeWheelRequestObject,
) (display.GetPrizeWheelResponseObject, error) {
	entry, err := wheels.one(ctx, a, in.CustomerID, in.WheelID)
	return display.GetPrizeWheel200JSONResponse{Data: entry}, err
}

func wheelEntry(r *engine.Run, language *api.Localizer, w *game.Wheel) (api.Activity, error) {
	o, err := game.OutlookOnWheel(r, w)
	status, name := w.Status(r.At), language.Text(w.Name)
	e := display.WheelActivity{
		ID: w.ID, Name: name, Status: common.DateStatus(status), Points: w.Points, Spins: o.Spins, Left: o.Left,
		Options:  wheelSlices(r.Programme, language, w.Options),
		StartsAt: api.InstantOrNil(w.StartsAt.Time), EndsAt: api.InstantOrNil(w.EndsAt.Time),
		AdditionalProperties: api.CustomAttributes(language, r.Programme, game.Wheels.Type, w.Custom),
	}

	if w.Limit.Count > 0 {
		e.Limit = &display.SpinLimit{Count: w.Limit.Count, Period: display.SpinLimitPeriod(w.Limit.Period)}
	}

	e.UnderscoreActions.Spin = nextStep(r, o.Refusal, "prize-wheels", w.ID)
	return api.Activity{
		Entry: e, ID: w.ID, Title: name, Points: w.Points, Dates: w.Dates, Status: status, Custom: w.Custom,
	}, err
}

// wheelSlices renders the possible results, without their odds.
func wheelSlices(p *programme.Programme, language *api.Localizer, options []game.WheelOption) []display.WheelSlice {
	list := make([]display.WheelSlice, len(options))
	for i, o := range options {
		list[i] = display.WheelSlice{Label: language.Text(o.Label), Type: display.WheelSliceType(o.Type)}
		switch o.Type {
		case game.OptionPoints:
			list[i].Points = &o.Points
		case game.OptionReward:
			list[i].Reward = wonReward(p, language, o.Reward)
		}
	}
	return list
}
