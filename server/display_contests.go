package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// contests are the contests and the customer's entries.
var contests = &catalogue[*game.Contest]{
	game.Contests, contestEntry, loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressContest)},
}

// ListContests lists the contests and the customer's entries.
func (a *displayAPI) ListContests(ctx context.Context, in display.ListContestsRequestObject) (display.ListContestsResponseObject, error) {
	order := list.Ordered(in.Params.Sort, in.Params.Order)
	l, err := activityPage[display.ContestActivity](ctx, a.customers, contests.list(in.CustomerID, in.Params.Limit, in.Params.Offset, order))
	if err != nil {
		return nil, err
	}
	return display.ListContests200JSONResponse(answerOf(l)), nil
}

func contestEntry(r *engine.Run, language *tongue, c *game.Contest) (activity, error) {
	o, err := game.OutlookOnContest(r, c)
	status, title := c.Status(r.At), language.text(c.Title)
	e := display.ContestActivity{
		ID: c.ID, Title: title, Description: textOrNil(language.text(c.Description)), Status: common.DateStatus(status),
		Points: c.Points, Entries: o.Entries, MaxEntries: c.MaxEntries, Left: o.Left,
		StartsAt: instantOrNil(c.StartsAt.Time), EndsAt: instantOrNil(c.EndsAt.Time),
		AdditionalProperties: customAttributes(language, r.Programme, game.Contests.Type, c.Custom),
	}
	e.UnderscoreActions.Enter = nextStep(r, o.Refusal, "activities", "contests", c.ID, "enter")
	return activity{
		entry: e, id: c.ID, title: title, points: c.Points, dates: c.Dates, status: status, custom: c.Custom,
	}, err
}
