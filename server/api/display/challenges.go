package display

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// challengeType is the entity type of challenges.
var challengeType = challenge.Challenges.Type

// challengeView is a challenge as one customer sees it.
type challengeView struct {
	*challenge.Challenge
	state        challenge.ChallengeStatus
	dated, title string
}

// challengeColumns are the columns to filter and sort challenges by.
var challengeColumns = map[string]list.Column[*challengeView]{
	"points":    {Of: func(v *challengeView) any { return v.Points }},
	"tags":      {Of: func(v *challengeView) any { return v.Tags }},
	"starts_at": {Of: func(v *challengeView) any { return api.MomentOrNil(v.StartsAt) }},
	"ends_at":   {Of: func(v *challengeView) any { return api.MomentOrNil(v.EndsAt) }},
	"title":     {Of: func(v *challengeView) any { return v.title }},
}

// challengeNeeds is what a customer's progress in challenges is read from.
var challengeNeeds = loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressChallenge)}

// challengeViews returns all challenges, with this customer's progress.
func challengeViews(r *engine.Run, language *api.Localizer) ([]*challengeView, error) {
	var all []*challengeView
	for _, c := range challenge.ChallengeList(r.Programme) {
		state, err := challenge.StatusOf(r, c)
		if err != nil {
			return nil, err
		}
		all = append(all, &challengeView{c, state, c.Dates.Status(r.At), language.Text(c.Title)})
	}
	return all, nil
}

// openChallenges are the challenges that this customer can work on.
func openChallenges(r *engine.Run, language *api.Localizer) ([]*challengeView, error) {
	all, err := challengeViews(r, language)
	return slices.DeleteFunc(all,
		func(v *challengeView) bool { return v.dated != loyalty.StatusActive || v.state.Left == 0 }), err
}

// completedChallenges are the challenges that this customer completed, the last one first.
func completedChallenges(r *engine.Run, language *api.Localizer) ([]*challengeView, error) {
	all, err := challengeViews(r, language)
	all = slices.DeleteFunc(all, func(v *challengeView) bool { return v.state.Completions == 0 })
	slices.SortStableFunc(all, func(a, b *challengeView) int { return b.state.Completed.Compare(a.state.Completed) })
	return all, err
}

// challengesOverview returns the challenges that this customer can work on.
func challengesOverview(r *engine.Run, language *api.Localizer) ([]any, error) {
	open, err := openChallenges(r, language)
	out := make([]any, len(open))
	for i, v := range open {
		out[i] = challengeActivity(r.Programme, language, v)
	}
	return out, err
}

// challengeActivity renders a challenge with one number for the progress.
func challengeActivity(p *programme.Programme, language *api.Localizer, v *challengeView) display.ChallengeActivity {
	return display.ChallengeActivity{
		ID: v.ID, Status: common.DateStatus(v.dated), Title: v.title,
		Description: api.TextOrNil(language.Text(v.Description)),
		Points:      v.Points, Tags: api.OrEmpty(v.Tags),
		StartsAt: api.InstantOrNil(v.StartsAt.Time), EndsAt: api.InstantOrNil(v.EndsAt.Time),
		Completions: v.state.Completions, CompletionsLeft: v.state.Left, CompletedAt: api.InstantOrNil(v.state.Completed),
		Progress: v.state.Percent, AdditionalProperties: api.CustomAttributes(language, p, challengeType, v.Custom),
	}
}

// challengeProgress renders a challenge with the progress in each criterion.
func challengeProgress(p *programme.Programme, language *api.Localizer, v *challengeView) display.ChallengeProgress {
	one := challengeActivity(p, language, v)
	e := display.ChallengeProgress{
		ID: one.ID, Status: one.Status, Title: one.Title, Description: one.Description, Points: one.Points, Tags: one.Tags,
		StartsAt: one.StartsAt, EndsAt: one.EndsAt,
		Completions: one.Completions, CompletionsLeft: one.CompletionsLeft, CompletedAt: one.CompletedAt,
		Progress:             display.Progress{Percent: v.state.Percent, StartedAt: api.InstantOrNil(v.state.Started)},
		AdditionalProperties: one.AdditionalProperties,
	}

	if v.WindowDays > 0 {
		e.WindowDays = &v.WindowDays
	}

	e.Progress.Criteria = make([]display.CriterionProgress, len(v.state.Criteria))
	for i, c := range v.state.Criteria {
		e.Progress.Criteria[i] = display.CriterionProgress{
			Action: c.Action, Label: language.OwnLabel(c.Action), Current: c.Current, Threshold: c.Threshold, Percent: c.Percent,
		}
	}

	return e
}

// challengeList is one of the lists of challenges.
type challengeList[T any] struct {
	of     func(r *engine.Run, language *api.Localizer) ([]*challengeView, error)
	render func(p *programme.Programme, language *api.Localizer, v *challengeView) T
}

// page reads a page for one customer.
func (c challengeList[T]) page(ctx context.Context, a *API, q listRequest) (page list.Links[T], err error) {
	p, err := api.PageOf(ctx, q.limit, q.offset, nil)
	if err != nil {
		return page, err
	}

	err = a.Customers.View(ctx, q.customer, challengeNeeds, func(r *engine.Run) error {
		language := api.RequestOf(ctx).Language
		all, err := c.of(r, language)
		if err != nil {
			return err
		}
		columns := list.CustomColumns(r.Programme, challengeType, challengeColumns,
			func(v *challengeView) map[string]json.RawMessage { return v.Custom })
		l := list.Choose(p, all, columns, q.order, a.Clock())
		page = list.Render(l, func(v **challengeView) T { return c.render(r.Programme, language, *v) })
		return nil
	})

	return page, err
}

// ListChallengeActivities lists the challenges that a customer can work on.
func (a *API) ListChallengeActivities(
	ctx context.Context, in display.ListChallengeActivitiesRequestObject,
) (display.ListChallengeActivitiesResponseObject, error) {
	challenges := challengeList[display.ChallengeActivity]{of: openChallenges, render: challengeActivity}
	l, err := challenges.page(ctx, a, listRequest{in.CustomerID, in.Params.Limit, in.Params.Offset, list.Order{}})
	return display.ListChallengeActivities200JSONResponse(api.AnswerOf(l)), err
}

// ListCompletedChallenges lists the challenges that a customer completed.
func (a *API) ListCompletedChallenges(
	ctx context.Context, in display.ListCompletedChallengesRequestObject,
) (display.ListCompletedChallengesResponseObject, error) {
	challenges := challengeList[display.ChallengeActivity]{of: completedChallenges, render: challengeActivity}
	l, err := challenges.page(ctx, a, listRequest{in.CustomerID, in.Params.Limit, in.Params.Offset, list.Order{}})
	return display.ListCompletedChallenges200JSONResponse(api.AnswerOf(l)), err
}

// ListChallengeProgress lists the challenges that a customer can work on,
// criterion by criterion.
func (a *API) ListChallengeProgress(
	ctx context.Context, in display.ListChallengeProgressRequestObject,
) (display.ListChallengeProgressResponseObject, error) {
	challenges := challengeList[display.ChallengeProgress]{of: openChallenges, render: challengeProgress}
	l, err := challenges.page(ctx, a, listRequest{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order),
	})
	return display.ListChallengeProgress200JSONResponse(api.AnswerOf(l)), err
}
