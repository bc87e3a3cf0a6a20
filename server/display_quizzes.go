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

// quizzes are the quizzes with the customer's results.
var quizzes = &catalogue[*game.Quiz]{game.Quizzes, quizEntry, loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressQuiz)}}

// ListQuizzes lists the quizzes with the customer's results.
func (a *displayAPI) ListQuizzes(ctx context.Context, in display.ListQuizzesRequestObject) (display.ListQuizzesResponseObject, error) {
	order := list.Ordered(in.Params.Sort, in.Params.Order)
	l, err := activityPage[display.QuizActivity](ctx, a.customers, quizzes.list(in.CustomerID, in.Params.Limit, in.Params.Offset, order))
	if err != nil {
		return nil, err
	}
	return display.ListQuizzes200JSONResponse(answerOf(l)), nil
}

// GetQuiz reads one quiz.
func (a *displayAPI) GetQuiz(ctx context.Context, in display.GetQuizRequestObject) (display.GetQuizResponseObject, error) {
	quiz, err := activityOf[display.QuizActivity](ctx, a.customers, quizzes, in.CustomerID, in.QuizID)
	if err != nil {
		return nil, err
	}
	return display.GetQuiz200JSONResponse{Data: quiz}, nil
}

// quizEntry renders a quiz. Its question is shown after it has begun, the right answer after the customer has answered.
func quizEntry(r *engine.Run, language *tongue, q *game.Quiz) (activity, error) {
	status, title := q.Status(r.At), language.text(q.Title)
	e := display.QuizActivity{
		ID: q.ID, Title: title, Status: common.DateStatus(status), Points: q.Points,
		StartsAt: instantOrNil(q.StartsAt.Time), EndsAt: instantOrNil(q.EndsAt.Time),
		AdditionalProperties: customAttributes(language, r.Programme, game.Quizzes.Type, q.Custom),
	}

	if status != loyalty.StatusScheduled {
		e.Question, e.Answers = textOrNil(language.text(q.Question)), choiceTexts(language, q.Answers)
	}

	o, err := game.OutlookOnQuiz(r, q)
	if given := o.Given; given != nil {
		e.Result = &display.GivenAnswer{
			Answer: given.Answer, Correct: given.Correct, CorrectAnswer: q.CorrectAnswer, AnsweredAt: common.Instant(given.AnsweredAt),
		}
	}

	e.UnderscoreActions.Answer = nextStep(r, o.Refusal, "activities", "quizzes", q.ID, "earn")
	return activity{
		entry: e, id: q.ID, title: title, points: q.Points, dates: q.Dates, status: status, custom: q.Custom,
	}, err
}

// choiceTexts renders the answers to choose from; nil if there are none.
func choiceTexts(language *tongue, all []game.Choice) (list []display.ChoiceText) {
	for _, c := range all {
		list = append(list, display.ChoiceText{ID: c.ID, Text: language.text(c.Text)})
	}
	return list
}
