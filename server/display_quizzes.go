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

var quizType = game.Quizzes.Type

var quizNeeds = loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressQuiz)}

// ListQuizzes lists the quizzes and how the customer did.
func (a *displayAPI) ListQuizzes(ctx context.Context, in display.ListQuizzesRequestObject) (display.ListQuizzesResponseObject, error) {
	l, err := activityPage[display.QuizActivity](ctx, a.customers, activityList{
		customer: in.CustomerID, limit: in.Params.Limit, offset: in.Params.Offset, order: list.Ordered(in.Params.Sort, in.Params.Order),
		kind: quizType, needs: quizNeeds, all: quizActivities,
	})
	if err != nil {
		return nil, err
	}
	return display.ListQuizzes200JSONResponse(answerOf(l)), nil
}

// GetQuiz reads one quiz.
func (a *displayAPI) GetQuiz(ctx context.Context, in display.GetQuizRequestObject) (display.GetQuizResponseObject, error) {
	var out display.GetQuiz200JSONResponse
	err := a.customers.view(ctx, in.CustomerID, quizNeeds, func(r *engine.Run) error {
		q, err := lookup(game.Quizzes.Of(r.Programme), quizType, in.QuizID)
		if err != nil {
			return err
		}
		e, err := quizEntry(r, requestOf(ctx).language, q)
		out.Data = e.entry.(display.QuizActivity)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func quizActivities(r *engine.Run, language *tongue) ([]activity, error) {
	return activitiesOf(game.Quizzes.Of(r.Programme), func(q *game.Quiz) (activity, error) { return quizEntry(r, language, q) })
}

// quizEntry renders a quiz. Its question is told from its beginning on, the right answer
// once the customer gave one.
func quizEntry(r *engine.Run, language *tongue, q *game.Quiz) (activity, error) {
	status, title := q.Status(r.At), language.text(q.Title)
	e := display.QuizActivity{
		ID: q.ID, Title: title, Status: common.DateStatus(status), Points: q.Points,
		StartsAt: instantOrNil(q.StartsAt.Time), EndsAt: instantOrNil(q.EndsAt.Time),
		AdditionalProperties: customAttributes(language, r.Programme, quizType, q.Custom),
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

// choiceTexts renders the answers to choose from; nil: there are none.
func choiceTexts(language *tongue, all []game.Choice) (list []display.ChoiceText) {
	for _, c := range all {
		list = append(list, display.ChoiceText{ID: c.ID, Text: language.text(c.Text)})
	}
	return list
}
