package action

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// quizAnswerData are the attributes of quiz_answer.
type quizAnswerData struct {
	Quiz   string `json:"quiz"`
	Answer string `json:"answer"`
}

// quiz_answer records the customer's answer to a quiz, which is final; the right
// one gives the points. It answers loyalty.QuizResult.
var quizAnswer = engine.Action[quizAnswerData]{
	Name: "quiz_answer", Standing: engine.Earner,
	Needs: func(_ quizAnswerData, n *loyalty.CustomerNeeds) { n.Progress = loyalty.Kinds(loyalty.ProgressQuiz) },
	Apply: applyQuizAnswer,
}

// applyQuizAnswer is final even if the answer was wrong: the result shows the right one.
func applyQuizAnswer(r *engine.Run, d quizAnswerData) error {
	q, err := game.QuizInForce(r, d.Quiz)
	if err != nil {
		return err
	}
	// an answer that the quiz does not have is a mistake of the caller, and must not use up the only try
	if err := q.Check(d.Answer); err != nil {
		return err
	}
	if err := game.MayAnswer(r, q); err != nil {
		return err
	}

	result := game.QuizResult{ID: r.Event.ID, Quiz: q.ID, Correct: d.Answer == q.CorrectAnswer,
		CorrectAnswer: q.CorrectAnswer}
	if result.Correct {
		result.Points = q.Points
	}
	if err := win(r, result.Points, "the quiz "+q.ID); err != nil {
		return err
	}

	r.Value = result
	return r.SetProgress(r.Event, loyalty.ProgressKey{Kind: loyalty.ProgressQuiz, Key: q.ID},
		game.QuizProgress{Answer: d.Answer, Correct: result.Correct, AnsweredAt: r.At}, time.Time{})
}

// win gives the points of a game, if it has any.
func win(r *engine.Run, n int64, game string) error {
	if n == 0 || r.Earn(r.Event, n, "") == nil {
		return nil
	}
	return engine.TooMany(game)
}
