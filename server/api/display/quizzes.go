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

// quizzes are the quizzes with the customer's results.
var quizzes = &catalogue[*game.Quiz, display.QuizActivity]{
	entities: game.Quizzes, render: quizEntry, needs: loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressQuiz)},
}

// ListQuizzes lists the quizzes with the customer's results.
func (a *API) ListQuizzes(
	ctx context.Context, in display.ListQuizzesRequestObject,
) (display.ListQuizzesResponseObject, error) {
	l, err := quizzes.page(ctx, a, listRequest{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order),
	})
	return display.ListQuizzes200JSONResponse(api.AnswerOf(l)), err
}

// GetQuiz reads one quiz.
func (a *API) GetQuiz(ctx context.Context, in display.GetQuizRequestObject) (display.GetQuizResponseObject, error) {
	entry, err := quizzes.one(ctx, a, in.CustomerID, in.QuizID)
	return display.GetQuiz200JSONResponse{Data: entry}, err
}

// quizEntry renders a quiz. Its question is shown after it has begun, the right answer after the customer has answered.
func quizEntry(r *engine.Run, language *api.Localizer, q *game.Quiz) (api.Activity, error) {
	status, title := q.Status(r.At), language.Text(q.Title)
	e := display.QuizActivity{
		ID: q.ID, Title: title, Status: common.DateStatus(status), Points: q.Points,
		StartsAt: api.InstantOrNil(q.StartsAt.Time), EndsAt: api.InstantOrNil(q.EndsAt.Time),
		AdditionalProperties: api.CustomAttributes(language, r.Programme, game.Quizzes.Type, q.Custom),
	}

	if status != loyalty.StatusScheduled {
		e.Question, e.Answers = api.TextOrNil(language.Text(q.Question)), choiceTexts(language, q.Answers)
	}

	o, err := game.OutlookOnQuiz(r, q)
	if given := o.Given; given != nil {
		e.Result = &display.GivenAnswer{
			Answer: given.Answer, Correct: given.Correct,
			CorrectAnswer: q.CorrectAnswer, AnsweredAt: common.Instant(given.AnsweredAt),
		}
	}

	e.UnderscoreActions.Answer = nextStep(r, o.Refusal, "activities", "quizzes", q.ID, "earn")
	return api.Activity{
		Entry: e, ID: q.ID, Title: title, Points: q.Points, Dates: q.Dates, Status: status, Custom: q.Custom,
	}, err
}

// choiceTexts renders the answers to choose from; nil if there are none.
func choiceTexts(language *api.Localizer, all []game.Choice) (list []display.ChoiceText) {
	for _, c := range all {
		list = append(list, display.ChoiceText{ID: c.ID, Text: language.Text(c.Text)})
	}
	return list
}
