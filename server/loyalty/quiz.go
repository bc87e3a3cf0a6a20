package loyalty

import (
	"encoding/json"
	"slices"
	"time"
)

// Quiz asks a question (quizzes/quiz).
type Quiz struct {
	ID            string   `json:"-"`
	Title         Texts    `json:"title"`
	Question      Texts    `json:"question"`
	Answers       []Choice `json:"answers"`
	CorrectAnswer string   `json:"correct_answer"`
	Points        int64    `json:"points"` // for the right answer
	Dates

	// Custom are the attributes of the programme's own, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// readQuiz refuses a quiz that nobody could answer right.
func readQuiz(p *Programme, e Entity) error {
	q := &Quiz{ID: e.ID, Custom: customOf(e)}
	if err := decodeEntity(e, q); err != nil {
		return err
	}
	if err := checkChoices("answers", q.Answers); err != nil {
		return err
	}
	if !slices.ContainsFunc(q.Answers, func(c Choice) bool { return c.ID == q.CorrectAnswer }) {
		return fieldFault("correct_answer", "must_be_one_of", map[string]any{"values": choiceIDs(q.Answers)})
	}
	p.Quizzes[q.ID] = q
	return q.check()
}

// Check refuses, with an error of kind Invalid at data.answer, what the quiz does
// not offer.
func (q *Quiz) Check(answer string) error { return checkChoice(q.Answers, answer) }

// MayAnswer finds a quiz that the customer can answer. Besides the failures of
// InForce it fails with ErrQuizAnswered.
func (r *Run) MayAnswer(id string) (*Quiz, error) {
	ref := Reference{Type: "quizzes/quiz", ID: id}
	q, err := InForce(r, r.Programme.Quizzes, ref)
	if err != nil {
		return nil, err
	}
	answered, err := r.Progress(ProgressQuiz, q.ID, &QuizProgress{})
	if err == nil && answered {
		err = r.Refuse(ref, "reason.limit", ErrQuizAnswered)
	}
	return q, err
}

// QuizOutlook is where a customer stands with a quiz.
type QuizOutlook struct {
	Refusal error         // what an answer would be refused with; nil: it would not be
	Given   *QuizProgress // the answer they gave; nil: none
}

// QuizOutlook looks at a quiz with the eyes of quiz_answer.
func (r *Run) QuizOutlook(q *Quiz) (o QuizOutlook, err error) {
	var p QuizProgress
	answered, err := r.Progress(ProgressQuiz, q.ID, &p)
	if err != nil {
		return o, err
	}
	if answered {
		o.Given = &p
	}
	o.Refusal, err = r.outlook("quiz_answer", func() error {
		_, err := r.MayAnswer(q.ID)
		return err
	})
	return o, err
}

// QuizResult is what quiz_answer answers.
type QuizResult struct {
	ID            ID     `json:"id"` // the event that records it
	Quiz          string `json:"quiz"`
	Correct       bool   `json:"correct"`
	CorrectAnswer string `json:"correct_answer"`
	Points        int64  `json:"points"` // what it gave
}

// QuizProgress is a customer's progress with a quiz: the answer, which is final.
type QuizProgress struct {
	Answer     string    `json:"answer"`
	Correct    bool      `json:"correct"`
	AnsweredAt time.Time `json:"answered_at"`
}
