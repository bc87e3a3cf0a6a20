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

// flows are the flows of questions with the customer's progress.
var flows = &catalogue[*game.Flow]{game.Flows, flowEntry, loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressFlow)}}

// ListProfiling lists the flows of questions with the customer's progress.
func (a *displayAPI) ListProfiling(ctx context.Context, in display.ListProfilingRequestObject) (display.ListProfilingResponseObject, error) {
	order := list.Ordered(in.Params.Sort, in.Params.Order)
	l, err := activityPage[display.FlowActivity](ctx, a.customers, flows.list(in.CustomerID, in.Params.Limit, in.Params.Offset, order))
	if err != nil {
		return nil, err
	}
	return display.ListProfiling200JSONResponse(answerOf(l)), nil
}

func flowEntry(r *engine.Run, language *tongue, f *game.Flow) (activity, error) {
	o, err := game.OutlookOnFlow(r, f)
	status, title := f.Status(r.At), language.text(f.Title)
	e := display.FlowActivity{
		ID: f.ID, Title: title, Status: common.DateStatus(status), Points: f.Points,
		Questions: len(f.Questions), Answered: o.Answered, Completed: o.Next == nil,
		StartsAt: instantOrNil(f.StartsAt.Time), EndsAt: instantOrNil(f.EndsAt.Time),
		AdditionalProperties: customAttributes(language, r.Programme, game.Flows.Type, f.Custom),
	}

	if o.Next != nil {
		e.UnderscoreActions.Next = stepTo(r, o.Refusal, http.MethodGet, "activities", "profiling", f.ID, "next")
	}

	return activity{
		entry: e, id: f.ID, title: title, points: f.Points, dates: f.Dates, status: status, custom: f.Custom,
	}, err
}

// GetNextQuestion reads the first question without an answer from the customer.
func (a *displayAPI) GetNextQuestion(ctx context.Context, in display.GetNextQuestionRequestObject) (display.GetNextQuestionResponseObject, error) {
	var out display.GetNextQuestion200JSONResponse
	err := a.customers.view(ctx, in.CustomerID, flows.needs, func(r *engine.Run) error {
		f, err := lookup(game.Flows.Of(r.Programme), game.Flows.Type, in.FlowID)
		if err != nil {
			return err
		}
		out.Data, err = nextQuestion(r, requestOf(ctx).language, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// nextQuestion renders the customer's progress with a flow. No question is shown outside the flow's
// dates.
func nextQuestion(r *engine.Run, language *tongue, f *game.Flow) (display.NextQuestion, error) {
	o, err := game.OutlookOnFlow(r, f)
	status := f.Status(r.At)
	out := display.NextQuestion{
		Flow: f.ID, Title: language.text(f.Title), Status: common.DateStatus(status),
		Questions: len(f.Questions), Answered: o.Answered, Completed: o.Next == nil,
	}
	if q := o.Next; q != nil && status == loyalty.StatusActive {
		out.Question = &display.OpenQuestion{
			ID: q.ID, Field: q.Field, Text: language.text(q.Text), Answers: choiceTexts(language, q.Answers), Points: q.Points,
		}
		out.UnderscoreActions.Answer = nextStep(r, o.Refusal, "activities", "profiling", f.ID, "questions", q.ID)
	}
	return out, err
}
