package game

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Quiz is a question with a right answer (quizzes/quiz).
type Quiz struct {
	ID            string        `json:"-"`
	Title         loyalty.Texts `json:"title"`
	Question      loyalty.Texts `json:"question"`
	Answers       []Choice      `json:"answers"`
	CorrectAnswer string        `json:"correct_answer"`
	Points        int64         `json:"points"` // for the right answer
	loyalty.Dates

	// Custom holds the programme's custom attributes, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// Quizzes are the quizzes (module quizzes).
var Quizzes = &programme.EntityType[*Quiz]{Type: "quizzes/quiz", Module: programme.ModuleQuizzes, Read: readQuiz}

// readQuiz refuses a quiz without a right answer.
func readQuiz(p *programme.Programme, e loyalty.Entity) (*Quiz, error) {
	q := &Quiz{ID: e.ID, Custom: programme.CustomFields(e)}
	if err := programme.Decode(e, q); err != nil {
		return nil, err
	}
	if err := checkChoices("answers", q.Answers); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(q.Answers, func(c Choice) bool { return c.ID == q.CorrectAnswer }) {
		return nil, programme.Fault("correct_answer", "must_be_one_of", map[string]any{"values": choiceIDs(q.Answers)})
	}
	return q, programme.CheckDates(q.Dates)
}

// Check refuses an answer that the quiz does not offer, with an error of kind Invalid at data.answer.
func (q *Quiz) Check(answer string) error { return checkChoice(q.Answers, answer) }

// QuizInForce returns a quiz that is open now. It fails as InForce does.
func QuizInForce(r *engine.Run, id string) (*Quiz, error) {
	return engine.InForce(r, Quizzes.Of(r.Programme), engine.Reference{Type: quizType, ID: id})
}

// MayAnswer fails with ErrQuizAnswered if the customer answered the quiz before.
func MayAnswer(r *engine.Run, q *Quiz) error {
	answered, err := r.Progress(loyalty.ProgressQuiz, q.ID, &QuizProgress{})
	if err == nil && answered {
		err = r.Refuse(engine.Reference{Type: quizType, ID: q.ID}, "reason.limit", loyalty.ErrQuizAnswered)
	}
	return err
}

const quizType = "quizzes/quiz"

// QuizOutlook is a customer's standing with a quiz.
type QuizOutlook struct {
	Refusal error         // the error that an answer would get; nil: it would be accepted
	Given   *QuizProgress // the customer's answer; nil: none
}

// OutlookOnQuiz evaluates a quiz by the rules of quiz_answer.
func OutlookOnQuiz(r *engine.Run, q *Quiz) (o QuizOutlook, err error) {
	var p QuizProgress
	answered, err := r.Progress(loyalty.ProgressQuiz, q.ID, &p)
	if err != nil {
		return o, err
	}
	if answered {
		o.Given = &p
	}

	o.Refusal, err = r.Outlook("quiz_answer", func() error {
		if _, err := QuizInForce(r, q.ID); err != nil {
			return err
		}
		return MayAnswer(r, q)
	})

	return o, err
}

// QuizResult is the result of quiz_answer.
type QuizResult struct {
	ID            loyalty.ID `json:"id"` // the event that records it
	Quiz          string     `json:"quiz"`
	Correct       bool       `json:"correct"`
	CorrectAnswer string     `json:"correct_answer"`
	Points        int64      `json:"points"` // what it gave
}

// QuizProgress is a customer's answer to a quiz, which is final.
type QuizProgress struct {
	Answer     string    `json:"answer"`
	Correct    bool      `json:"correct"`
	AnsweredAt time.Time `json:"answered_at"`
}

// QuizFeature is the module quizzes: the first answer counts.
var QuizFeature = engine.Feature{Name: "quizzes", Progress: loyalty.ProgressQuiz,
	Join: engine.JoinBy(func(a *QuizProgress, b QuizProgress) {
		if b.AnsweredAt.Before(a.AnsweredAt) {
			*a = b
		}
	})}
