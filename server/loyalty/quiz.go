package loyalty

import (
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
}

// readQuiz refuses a quiz that nobody could answer right.
func readQuiz(p *Programme, e Entity) error {
	q := &Quiz{ID: e.ID}
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
