package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

const wheelType = "prize-wheels/wheel"

var wheelActivities activitiesOf[display.WheelActivity] = (*displayAPI).wheels

// ListPrizeWheels lists the wheels and the customer's spins.
func (a *displayAPI) ListPrizeWheels(ctx context.Context, in display.ListPrizeWheelsRequestObject) (display.ListPrizeWheelsResponseObject, error) {
	l, err := wheelActivities.page(ctx, a, activityList{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order), wheelType,
		loyalty.WheelNeeds(a.programme()),
	})
	if err != nil {
		return nil, err
	}
	return display.ListPrizeWheels200JSONResponse{Data: l.Entries, Next: l.Next, Previous: l.Previous, Time: &l.Time}, nil
}

// GetPrizeWheel reads one wheel.
func (a *displayAPI) GetPrizeWheel(ctx context.Context, in display.GetPrizeWheelRequestObject) (display.GetPrizeWheelResponseObject, error) {
	var out display.GetPrizeWheel200JSONResponse
	needs := loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressWheel)}
	err := a.view(ctx, in.CustomerID, needs, func(r *loyalty.Run) error {
		w, err := lookup(r.Programme.Wheels, wheelType, in.WheelID)
		if err != nil {
			return err
		}
		e, err := a.wheel(r, requestOf(ctx).language, w)
		out.Data = e.entry
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (a *displayAPI) wheels(r *loyalty.Run, language *tongue) ([]activity[display.WheelActivity], error) {
	return each(r.Programme.Wheels, func(w *loyalty.Wheel) (activity[display.WheelActivity], error) { return a.wheel(r, language, w) })
}

func (a *displayAPI) wheel(r *loyalty.Run, language *tongue, w *loyalty.Wheel) (activity[display.WheelActivity], error) {
	o, err := r.WheelOutlook(w)
	status, name := w.Status(r.At), a.text(language, w.Name)
	e := display.WheelActivity{
		ID: w.ID, Name: name, Status: common.DateStatus(status), Points: w.Points, Spins: o.Spins, Left: o.Left,
		Options:  a.slices(language, w.Options),
		StartsAt: instantOrNil(w.StartsAt.Time), EndsAt: instantOrNil(w.EndsAt.Time),
		AdditionalProperties: a.ownAttributes(language, r.Programme, wheelType, w.Custom),
	}
	if w.Limit.Count > 0 {
		e.Limit = &display.SpinLimit{Count: w.Limit.Count, Period: display.SpinLimitPeriod(w.Limit.Period)}
	}
	e.UnderscoreActions.Spin = post(r, o.Refusal, "prize-wheels", w.ID)
	return activity[display.WheelActivity]{
		entry: e, id: w.ID, title: name, points: w.Points, dates: w.Dates, status: status, custom: w.Custom,
	}, err
}

// slices words what can come up, and not how often.
func (a *displayAPI) slices(language *tongue, options []loyalty.WheelOption) []display.WheelSlice {
	list := make([]display.WheelSlice, len(options))
	for i, o := range options {
		list[i] = display.WheelSlice{Label: a.text(language, o.Label), Type: display.WheelSliceType(o.Type)}
		switch o.Type {
		case loyalty.OptionPoints:
			list[i].Points = &o.Points
		case loyalty.OptionReward:
			list[i].Reward = a.wonReward(language, o.Reward)
		}
	}
	return list
}
