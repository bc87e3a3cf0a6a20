package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

const quizType = "quizzes/quiz"

var (
	quizActivities activitiesOf[display.QuizActivity] = (*displayAPI).quizzes
	quizNeeds                                         = loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressQuiz)}
)

// ListQuizzes lists the quizzes and how the customer did.
func (a *displayAPI) ListQuizzes(ctx context.Context, in display.ListQuizzesRequestObject) (display.ListQuizzesResponseObject, error) {
	l, err := quizActivities.page(ctx, a, activityList{
		in.CustomerID, in.Params.Limit, in.Params.Offset, list.Ordered(in.Params.Sort, in.Params.Order), quizType, quizNeeds,
	})
	if err != nil {
		return nil, err
	}
	return display.ListQuizzes200JSONResponse{Data: l.Entries, Next: l.Next, Previous: l.Previous, Time: &l.Time}, nil
}

// GetQuiz reads one quiz.
func (a *displayAPI) GetQuiz(ctx context.Context, in display.GetQuizRequestObject) (display.GetQuizResponseObject, error) {
	var out display.GetQuiz200JSONResponse
	err := a.view(ctx, in.CustomerID, quizNeeds, func(r *loyalty.Run) error {
		q, err := lookup(r.Programme.Quizzes, quizType, in.QuizID)
		if err != nil {
			return err
		}
		e, err := a.quiz(r, requestOf(ctx).language, q)
		out.Data = e.entry
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (a *displayAPI) quizzes(r *loyalty.Run, language *tongue) ([]activity[display.QuizActivity], error) {
	return each(r.Programme.Quizzes, func(q *loyalty.Quiz) (activity[display.QuizActivity], error) { return a.quiz(r, language, q) })
}

// quiz words a quiz. Its question is told from its beginning on, the right answer
// once the customer gave one.
func (a *displayAPI) quiz(r *loyalty.Run, language *tongue, q *loyalty.Quiz) (activity[display.QuizActivity], error) {
	status, title := q.Status(r.At), a.text(language, q.Title)
	e := display.QuizActivity{
		ID: q.ID, Title: title, Status: common.DateStatus(status), Points: q.Points,
		StartsAt: instantOrNil(q.StartsAt.Time), EndsAt: instantOrNil(q.EndsAt.Time),
		AdditionalProperties: a.ownAttributes(language, r.Programme, quizType, q.Custom),
	}
	if status != loyalty.StatusScheduled {
		e.Question, e.Answers = textOrNil(a.text(language, q.Question)), a.choices(language, q.Answers)
	}
	o, err := r.QuizOutlook(q)
	if given := o.Given; given != nil {
		e.Result = &display.GivenAnswer{
			Answer: given.Answer, Correct: given.Correct, CorrectAnswer: q.CorrectAnswer, AnsweredAt: common.Instant(given.AnsweredAt),
		}
	}
	e.UnderscoreActions.Answer = post(r, o.Refusal, "activities", "quizzes", q.ID, "earn")
	return activity[display.QuizActivity]{
		entry: e, id: q.ID, title: title, points: q.Points, dates: q.Dates, status: status, custom: q.Custom,
	}, err
}

// choices words the answers to choose from; nil: there are none.
func (a *displayAPI) choices(language *tongue, all []loyalty.Choice) (list []display.ChoiceText) {
	for _, c := range all {
		list = append(list, display.ChoiceText{ID: c.ID, Text: a.text(language, c.Text)})
	}
	return list
}
