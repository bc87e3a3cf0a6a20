package display

import (
	"context"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// treasures are the treasures and whether the customer found them.
var treasures = &catalogue[*game.Treasure, display.TreasureActivity]{
	entities: game.Treasures, render: treasureEntry,
	needs: loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressTreasure)},
}

// ListTreasureHunts lists the treasures and whether the customer found them.
func (a *API) ListTreasureHunts(
	ctx context.Context, in display.ListTreasureHuntsRequestObject,
) (display.ListTreasureHuntsResponseObject, error) {
	l, err := treasures.page(ctx, a, listRequest{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order),
	})
	return display.ListTreasureHunts200JSONResponse(api.AnswerOf(l)), err
}

// treasureEntry renders a treasure, without its code. An event finds a treasure, not an operation of the Display API.
func treasureEntry(r *engine.Run, language *api.Localizer, t *game.Treasure) (api.Activity, error) {
	o, err := game.OutlookOnTreasure(r, t)
	status, title := t.Status(r.At), language.Text(t.Title)
	e := display.TreasureActivity{
		ID: t.ID, Title: title, Description: api.TextOrNil(language.Text(t.Description)), Status: common.DateStatus(status),
		Kind: display.TreasureActivityKind(t.Kind), Points: t.Points, Event: display.TreasureActivityEvent(t.Action()),
		StartsAt: api.InstantOrNil(t.StartsAt.Time), EndsAt: api.InstantOrNil(t.EndsAt.Time),
		AdditionalProperties: api.CustomAttributes(language, r.Programme, game.Treasures.Type, t.Custom),
	}

	if o.Found != nil {
		e.Found, e.FoundAt = true, api.InstantOrNil(o.Found.FoundAt)
	}
	if o.Refusal == nil {
		e.UnderscoreActions.Find = &common.NextStep{Method: http.MethodPost, URL: api.Address("events")}
	}

	return api.Activity{
		Entry: e, ID: t.ID, Title: title, Points: t.Points, Dates: t.Dates, Status: status, Custom: t.Custom,
	}, err
}
