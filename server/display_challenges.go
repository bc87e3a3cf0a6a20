package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// challengeType is the entity that a challenge is.
const challengeType = "challenges/challenge"

// challengeView is a challenge as one customer sees it.
type challengeView struct {
	*loyalty.Challenge
	state        loyalty.ChallengeStatus
	dated, title string
}

// challengeColumns are what lists of challenges are filtered and sorted by.
var challengeColumns = map[string]list.Column[*challengeView]{
	"points":    {Field: list.Field{Kind: list.Integer}, Of: func(v *challengeView) any { return v.Points }},
	"tags":      {Field: list.Field{Kind: list.Text, List: true}, Of: func(v *challengeView) any { return v.Tags }},
	"starts_at": {Field: list.Field{Kind: list.Instant}, Of: func(v *challengeView) any { return momentOrNil(v.StartsAt) }},
	"ends_at":   {Field: list.Field{Kind: list.Instant}, Of: func(v *challengeView) any { return momentOrNil(v.EndsAt) }},
	"title":     {Field: list.Field{Kind: list.Text}, Of: func(v *challengeView) any { return v.title }},
}

// challengeNeeds is what a customer's progress with challenges is read from.
var challengeNeeds = loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressChallenge)}

// challengeViews are all challenges, with where this customer stands.
func (a *displayAPI) challengeViews(r *loyalty.Run, language *tongue) ([]*challengeView, error) {
	var all []*challengeView
	for _, c := range r.Programme.ChallengeList() {
		state, err := r.ChallengeStatus(c)
		if err != nil {
			return nil, err
		}
		all = append(all, &challengeView{c, state, c.Dates.Status(r.At), a.text(language, c.Title)})
	}
	return all, nil
}

// openChallenges are those that this customer can work on.
func (a *displayAPI) openChallenges(r *loyalty.Run, language *tongue) ([]*challengeView, error) {
	all, err := a.challengeViews(r, language)
	return slices.DeleteFunc(all, func(v *challengeView) bool { return v.dated != loyalty.StatusActive || v.state.Left == 0 }), err
}

// completedChallenges are those that this customer completed, the last one first.
func (a *displayAPI) completedChallenges(r *loyalty.Run, language *tongue) ([]*challengeView, error) {
	all, err := a.challengeViews(r, language)
	all = slices.DeleteFunc(all, func(v *challengeView) bool { return v.state.Completions == 0 })
	slices.SortStableFunc(all, func(a, b *challengeView) int { return b.state.Completed.Compare(a.state.Completed) })
	return all, err
}

// challengesActivities are the challenges that this customer can work on.
func (a *displayAPI) challengesActivities(r *loyalty.Run, language *tongue, _ time.Time) ([]display.ChallengeActivity, error) {
	open, err := a.openChallenges(r, language)
	entries := make([]display.ChallengeActivity, len(open))
	for i, v := range open {
		entries[i] = a.challengeActivity(language, v)
	}
	return entries, err
}

// challengeActivity words a challenge with one number for the progress.
func (a *displayAPI) challengeActivity(language *tongue, v *challengeView) display.ChallengeActivity {
	return display.ChallengeActivity{
		ID: v.ID, Status: common.DateStatus(v.dated), Title: v.title, Description: textOrNil(a.text(language, v.Description)),
		Points: v.Points, Tags: orEmpty(v.Tags),
		StartsAt: instantOrNil(v.StartsAt.Time), EndsAt: instantOrNil(v.EndsAt.Time),
		Completions: v.state.Completions, CompletionsLeft: v.state.Left, CompletedAt: instantOrNil(v.state.Completed),
		Progress: v.state.Percent, AdditionalProperties: a.ownAttributes(language, a.programme(), challengeType, v.Custom),
	}
}

// challengeProgress words a challenge with the progress in each criterion.
func (a *displayAPI) challengeProgress(language *tongue, v *challengeView) display.ChallengeProgress {
	one := a.challengeActivity(language, v)
	e := display.ChallengeProgress{
		ID: one.ID, Status: one.Status, Title: one.Title, Description: one.Description, Points: one.Points, Tags: one.Tags,
		StartsAt: one.StartsAt, EndsAt: one.EndsAt,
		Completions: one.Completions, CompletionsLeft: one.CompletionsLeft, CompletedAt: one.CompletedAt,
		Progress:             display.Progress{Percent: v.state.Percent, StartedAt: instantOrNil(v.state.Started)},
		AdditionalProperties: one.AdditionalProperties,
	}
	if v.WindowDays > 0 {
		e.WindowDays = &v.WindowDays
	}
	e.Progress.Criteria = make([]display.CriterionProgress, len(v.state.Criteria))
	for i, c := range v.state.Criteria {
		e.Progress.Criteria[i] = display.CriterionProgress{
			Action: c.Action, Label: a.actionLabel(language, c.Action), Current: c.Current, Threshold: c.Threshold, Percent: c.Percent,
		}
	}
	return e
}

// actionLabel is what customers see of an action; nil where it is the programme's
// own, which has no name for them.
func (a *displayAPI) actionLabel(language *tongue, action string) *string {
	key := "action." + action
	if label := language.message(key, nil); label != key {
		return &label
	}
	return nil
}

// challengeList is one of the lists of challenges.
type challengeList[T any] struct {
	page list.Page
	by   list.Order
	of   func(r *loyalty.Run, language *tongue) ([]*challengeView, error)
	word func(language *tongue, v *challengeView) T
}

// read gives the page for one customer.
func (q challengeList[T]) read(ctx context.Context, s *Server, customer string) (page list.Links[T], err error) {
	err = s.view(ctx, customer, challengeNeeds, func(r *loyalty.Run) error {
		language := requestOf(ctx).language
		all, err := q.of(r, language)
		if err != nil {
			return err
		}
		columns := list.CustomColumns(r.Programme, challengeType, challengeColumns, func(v *challengeView) map[string]json.RawMessage { return v.Custom })
		l := list.Choose(q.page, all, columns, q.by, s.clock())
		page = list.Links[T]{Entries: make([]T, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: l.Time}
		for i, v := range l.Entries {
			page.Entries[i] = q.word(language, v)
		}
		return nil
	})
	return page, err
}

// ListChallengeActivities lists the challenges that a customer can work on.
func (a *displayAPI) ListChallengeActivities(ctx context.Context, in display.ListChallengeActivitiesRequestObject) (display.ListChallengeActivitiesResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}
	list := challengeList[display.ChallengeActivity]{page: p, of: a.openChallenges, word: a.challengeActivity}
	l, err := list.read(ctx, a.Server, in.CustomerID)
	return display.ListChallengeActivities200JSONResponse{Data: l.Entries, Next: l.Next, Previous: l.Previous, Time: &l.Time}, err
}

// ListCompletedChallenges lists the challenges that a customer completed.
func (a *displayAPI) ListCompletedChallenges(ctx context.Context, in display.ListCompletedChallengesRequestObject) (display.ListCompletedChallengesResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}
	list := challengeList[display.ChallengeActivity]{page: p, of: a.completedChallenges, word: a.challengeActivity}
	l, err := list.read(ctx, a.Server, in.CustomerID)
	return display.ListCompletedChallenges200JSONResponse{Data: l.Entries, Next: l.Next, Previous: l.Previous, Time: &l.Time}, err
}

// ListChallengeProgress lists the challenges that a customer can work on,
// criterion by criterion.
func (a *displayAPI) ListChallengeProgress(ctx context.Context, in display.ListChallengeProgressRequestObject) (display.ListChallengeProgressResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}
	list := challengeList[display.ChallengeProgress]{
		page: p, by: list.Ordered(in.Params.Sort, in.Params.Order), of: a.openChallenges, word: a.challengeProgress,
	}
	l, err := list.read(ctx, a.Server, in.CustomerID)
	return display.ListChallengeProgress200JSONResponse{Data: l.Entries, Next: l.Next, Previous: l.Previous, Time: &l.Time}, err
}
