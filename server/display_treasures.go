package server

import (
	"context"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

const treasureType = "treasure-hunt/treasure"

var treasureActivities activitiesOf[display.TreasureActivity] = (*displayAPI).treasures

// ListTreasureHunts lists the treasures and whether the customer found them.
func (a *displayAPI) ListTreasureHunts(ctx context.Context, in display.ListTreasureHuntsRequestObject) (display.ListTreasureHuntsResponseObject, error) {
	l, err := treasureActivities.page(ctx, a, activityList{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order), treasureType,
		loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressTreasure)},
	})
	if err != nil {
		return nil, err
	}
	return display.ListTreasureHunts200JSONResponse{Data: l.Entries, Next: l.Next, Previous: l.Previous, Time: &l.Time}, nil
}

func (a *displayAPI) treasures(r *loyalty.Run, language *tongue) ([]activity[display.TreasureActivity], error) {
	return each(r.Programme.Treasures, func(t *loyalty.Treasure) (activity[display.TreasureActivity], error) {
		return a.treasure(r, language, t)
	})
}

// treasure words a treasure, without its code. What finds it is an event, not an
// operation of the Display API.
func (a *displayAPI) treasure(r *loyalty.Run, language *tongue, t *loyalty.Treasure) (activity[display.TreasureActivity], error) {
	o, err := r.TreasureOutlook(t)
	status, title := t.Status(r.At), a.text(language, t.Title)
	e := display.TreasureActivity{
		ID: t.ID, Title: title, Description: textOrNil(a.text(language, t.Description)), Status: common.DateStatus(status),
		Kind: display.TreasureActivityKind(t.Kind), Points: t.Points, Event: display.TreasureActivityEvent(t.Action()),
		StartsAt: instantOrNil(t.StartsAt.Time), EndsAt: instantOrNil(t.EndsAt.Time),
		AdditionalProperties: a.ownAttributes(language, r.Programme, treasureType, t.Custom),
	}
	if o.Found != nil {
		e.Found, e.FoundAt = true, instantOrNil(o.Found.FoundAt)
	}
	if o.Refusal == nil {
		e.UnderscoreActions.Find = &common.NextStep{Method: http.MethodPost, URL: address("events")}
	}
	return activity[display.TreasureActivity]{
		entry: e, id: t.ID, title: title, points: t.Points, dates: t.Dates, status: status, custom: t.Custom,
	}, err
}
