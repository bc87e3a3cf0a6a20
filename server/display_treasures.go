package server

import (
	"context"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// treasures are the treasures and whether the customer found them.
var treasures = &catalogue[*game.Treasure]{
	game.Treasures, treasureEntry, loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressTreasure)},
}

// ListTreasureHunts lists the treasures and whether the customer found them.
func (a *displayAPI) ListTreasureHunts(ctx context.Context, in display.ListTreasureHuntsRequestObject) (display.ListTreasureHuntsResponseObject, error) {
	order := list.Ordered(in.Params.Sort, in.Params.Order)
	l, err := activityPage[display.TreasureActivity](ctx, a.customers, treasures.list(in.CustomerID, in.Params.Limit, in.Params.Offset, order))
	if err != nil {
		return nil, err
	}
	return display.ListTreasureHunts200JSONResponse(answerOf(l)), nil
}

// treasureEntry renders a treasure, without its code. An event finds a treasure, not an operation of the Display API.
func treasureEntry(r *engine.Run, language *tongue, t *game.Treasure) (activity, error) {
	o, err := game.OutlookOnTreasure(r, t)
	status, title := t.Status(r.At), language.text(t.Title)
	e := display.TreasureActivity{
		ID: t.ID, Title: title, Description: textOrNil(language.text(t.Description)), Status: common.DateStatus(status),
		Kind: display.TreasureActivityKind(t.Kind), Points: t.Points, Event: display.TreasureActivityEvent(t.Action()),
		StartsAt: instantOrNil(t.StartsAt.Time), EndsAt: instantOrNil(t.EndsAt.Time),
		AdditionalProperties: customAttributes(language, r.Programme, game.Treasures.Type, t.Custom),
	}

	if o.Found != nil {
		e.Found, e.FoundAt = true, instantOrNil(o.Found.FoundAt)
	}
	if o.Refusal == nil {
		e.UnderscoreActions.Find = &common.NextStep{Method: http.MethodPost, URL: address("events")}
	}

	return activity{
		entry: e, id: t.ID, title: title, points: t.Points, dates: t.Dates, status: status, custom: t.Custom,
	}, err
}
