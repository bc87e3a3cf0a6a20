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

// flows are the flows of questions with the customer's progress.
var flows = &catalogue[*game.Flow, display.FlowActivity]{
	entities: game.Flows, render: flowEntry, needs: loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressFlow)},
}

// ListProfiling lists the flows of questions with the customer's progress.
func (a *API) ListProfiling(
	ctx context.Context, in display.ListProfilingRequestObject,
) (display.ListProfilingResponseObject, error) {
	l, err := flows.page(ctx, a, listRequest{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order),
	})
	return display.ListProfiling200JSONResponse(api.AnswerOf(l)), err
}

func flowEntry(r *engine.Run, language *api.Localizer, f *game.Flow) (api.Activity, error) {
	o, err := game.OutlookOnFlow(r, f)
	status, title := f.Status(r.At), language.Text(f.Title)
	e := display.FlowActivity{
		ID: f.ID, Title: title, Status: common.DateStatus(status), Points: f.Points,
		Questions: len(f.Questions), Answered: o.Answered, Completed: o.Next == nil,
		StartsAt: api.InstantOrNil(f.StartsAt.Time), EndsAt: api.InstantOrNil(f.EndsAt.Time),
		AdditionalProperties: api.CustomAttributes(language, r.Programme, game.Flows.Type, f.Custom),
	}

	if o.Next != nil {
		e.UnderscoreActions.Next = stepTo(r, o.Refusal, http.MethodGet, "activities", "profiling", f.ID, "next")
	}

	return api.Activity{
		Entry: e, ID: f.ID, Title: title, Points: f.Points, Dates: f.Dates, Status: status, Custom: f.Custom,
	}, err
}

// GetNextQuestion reads the first question without an answer from the customer.
func (a *API) GetNextQuestion(
	ctx context.Context, in display.GetNextQuestionRequestObject,
) (display.GetNextQuestionResponseObject, error) {
	var out display.GetNextQuestion200JSONResponse
	err := a.Customers.View(ctx, in.CustomerID, flows.needs, func(r *engine.Run) error {
		f, err := api.Lookup(game.Flows.Of(r.Programme), game.Flows.Type, in.FlowID)
		if err != nil {
			return err
		}
		out.Data, err = nextQuestion(r, api.RequestOf(ctx).Language, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// nextQuestion renders the customer's progress with a flow. No question is shown outside the flow's
// dates.
func nextQuestion(r *engine.Run, language *api.Localizer, f *game.Flow) (display.NextQuestion, error) {
	o, err := game.OutlookOnFlow(r, f)
	status := f.Status(r.At)
	out := display.NextQuestion{
		Flow: f.ID, Title: language.Text(f.Title), Status: common.DateStatus(status),
		Questions: len(f.Questions), Answered: o.Answered, Completed: o.Next == nil,
	}
	if q := o.Next; q != nil && status == loyalty.StatusActive {
		out.Question = &display.OpenQuestion{
			ID: q.ID, Field: q.Field, Text: language.Text(q.Text), Answers: choiceTexts(language, q.Answers), Points: q.Points,
		}
		out.UnderscoreActions.Answer = nextStep(r, o.Refusal, "activities", "profiling", f.ID, "questions", q.ID)
	}
	return out, err
}
