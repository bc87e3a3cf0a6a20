package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

const contestType = "contests/contest"

var contestActivities activitiesOf[display.ContestActivity] = (*displayAPI).contests

// ListContests lists the contests and the customer's entries.
func (a *displayAPI) ListContests(ctx context.Context, in display.ListContestsRequestObject) (display.ListContestsResponseObject, error) {
	l, err := contestActivities.page(ctx, a, activityList{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order), contestType,
		loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressContest)},
	})
	if err != nil {
		return nil, err
	}
	return display.ListContests200JSONResponse{Data: l.Entries, Next: l.Next, Previous: l.Previous, Time: &l.Time}, nil
}

func (a *displayAPI) contests(r *loyalty.Run, language *tongue) ([]activity[display.ContestActivity], error) {
	return each(r.Programme.Contests, func(c *loyalty.Contest) (activity[display.ContestActivity], error) {
		return a.contest(r, language, c)
	})
}

func (a *displayAPI) contest(r *loyalty.Run, language *tongue, c *loyalty.Contest) (activity[display.ContestActivity], error) {
	o, err := r.ContestOutlook(c)
	status, title := c.Status(r.At), a.text(language, c.Title)
	e := display.ContestActivity{
		ID: c.ID, Title: title, Description: textOrNil(a.text(language, c.Description)), Status: common.DateStatus(status),
		Points: c.Points, Entries: o.Entries, MaxEntries: c.MaxEntries, Left: o.Left,
		StartsAt: instantOrNil(c.StartsAt.Time), EndsAt: instantOrNil(c.EndsAt.Time),
		AdditionalProperties: a.ownAttributes(language, r.Programme, contestType, c.Custom),
	}
	e.UnderscoreActions.Enter = post(r, o.Refusal, "activities", "contests", c.ID, "enter")
	return activity[display.ContestActivity]{
		entry: e, id: c.ID, title: title, points: c.Points, dates: c.Dates, status: status, custom: c.Custom,
	}, err
}
