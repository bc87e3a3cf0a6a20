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
)

// contests are the contests and the customer's entries.
var contests = &catalogue[*game.Contest, display.ContestActivity]{
	entities: game.Contests, render: contestEntry,
	needs: loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressContest)},
}

// ListContests lists the contests and the customer's entries.
func (a *API) ListContests(
	ctx context.Context, in display.ListContestsRequestObject,
) (display.ListContestsResponseObject, error) {
	l, err := contests.page(ctx, a, listRequest{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order),
	})
	return display.ListContests200JSONResponse(api.AnswerOf(l)), err
}

func contestEntry(r *engine.Run, language *api.Localizer, c *game.Contest) (api.Activity, error) {
	o, err := game.OutlookOnContest(r, c)
	status, title := c.Status(r.At), language.Text(c.Title)
	e := display.ContestActivity{
		ID: c.ID, Title: title, Description: api.TextOrNil(language.Text(c.Description)), Status: common.DateStatus(status),
		Points: c.Points, Entries: o.Entries, MaxEntries: c.MaxEntries, Left: o.Left,
		StartsAt: api.InstantOrNil(c.StartsAt.Time), EndsAt: api.InstantOrNil(c.EndsAt.Time),
		AdditionalProperties: api.CustomAttributes(language, r.Programme, game.Contests.Type, c.Custom),
	}
	e.UnderscoreActions.Enter = nextStep(r, o.Refusal, "activities", "contests", c.ID, "enter")
	return api.Activity{
		Entry: e, ID: c.ID, Title: title, Points: c.Points, Dates: c.Dates, Status: status, Custom: c.Custom,
	}, err
}
