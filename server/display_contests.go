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

var contestType = game.Contests.Type

// ListContests lists the contests and the customer's entries.
func (a *displayAPI) ListContests(ctx context.Context, in display.ListContestsRequestObject) (display.ListContestsResponseObject, error) {
	l, err := activityPage[display.ContestActivity](ctx, a.customers, activityList{
		customer: in.CustomerID, limit: in.Params.Limit, offset: in.Params.Offset, order: list.Ordered(in.Params.Sort, in.Params.Order),
		kind: contestType, needs: loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressContest)}, all: contestActivities,
	})
	if err != nil {
		return nil, err
	}
	return display.ListContests200JSONResponse(answerOf(l)), nil
}

func contestActivities(r *engine.Run, language *tongue) ([]activity, error) {
	return activitiesOf(game.Contests.Of(r.Programme), func(c *game.Contest) (activity, error) {
		return contestEntry(r, language, c)
	})
}

func contestEntry(r *engine.Run, language *tongue, c *game.Contest) (activity, error) {
	o, err := game.OutlookOnContest(r, c)
	status, title := c.Status(r.At), language.text(c.Title)
	e := display.ContestActivity{
		ID: c.ID, Title: title, Description: textOrNil(language.text(c.Description)), Status: common.DateStatus(status),
		Points: c.Points, Entries: o.Entries, MaxEntries: c.MaxEntries, Left: o.Left,
		StartsAt: instantOrNil(c.StartsAt.Time), EndsAt: instantOrNil(c.EndsAt.Time),
		AdditionalProperties: customAttributes(language, r.Programme, contestType, c.Custom),
	}
	e.UnderscoreActions.Enter = nextStep(r, o.Refusal, "activities", "contests", c.ID, "enter")
	return activity{
		entry: e, id: c.ID, title: title, points: c.Points, dates: c.Dates, status: status, custom: c.Custom,
	}, err
}
