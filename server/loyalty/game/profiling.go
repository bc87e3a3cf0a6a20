package game

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Flow is a series of questions about the customer (profiling/flow).
type Flow struct {
	ID        string        `json:"-"`
	Title     loyalty.Texts `json:"title"`
	Questions []Question    `json:"questions"`
	Points    int64         `json:"points"` // when all are answered
	loyalty.Dates

	// Custom holds the programme's custom attributes, by name with cf_.
	Custom map[string]json.RawMessage `json:"-"`
}

// Question asks for one field of the profile.
type Question struct {
	ID      string        `json:"id"`
	Field   string        `json:"field"` // of the action profile
	Text    loyalty.Texts `json:"text"`
	Answers []Choice      `json:"answers"` // empty: any text
	Points  int64         `json:"points"`
}

// fieldLabels is the field of a profile that holds several texts.
const fieldLabels = "labels"

// Flows are series of questions about the customer (module profiling).
var Flows = &programme.EntityType[*Flow]{Type: "profiling/flow", Module: programme.ModuleProfiling, Read: readFlow}

// readFlow refuses questions that cannot be told apart, and fields that a profile does not have.
func readFlow(p *programme.Programme, e loyalty.Entity) (*Flow, error) {
	f := &Flow{ID: e.ID, Custom: programme.CustomFields(e)}
	if err := programme.Decode(e, f); err != nil {
		return nil, err
	}

	seen := map[string]bool{}
	for i, q := range f.Questions {
		at := fmt.Sprintf("questions[%d].", i)
		if seen[q.ID] {
			return nil, programme.Fault(at+"id", "not_unique", nil)
		}
		seen[q.ID] = true
		if new(loyalty.Profile).Field(q.Field) == nil && q.Field != fieldLabels &&
			(!strings.HasPrefix(q.Field, "cf_") || len(q.Field) == len("cf_")) {
			return nil, programme.Fault(at+"field", loyalty.ErrPropertyUnknown.Name, nil)
		}
		if err := checkChoices(at+"answers", q.Answers); err != nil {
			return nil, err
		}
	}

	return f, programme.CheckDates(f.Dates)
}

// Question returns a question of the flow; nil if there is none with that id.
func (f *Flow) Question(id string) *Question {
	i := slices.IndexFunc(f.Questions, func(q Question) bool { return q.ID == id })
	if i < 0 {
		return nil
	}
	return &f.Questions[i]
}

// QuestionResult is the result of profile_answer.
type QuestionResult struct {
	ID        loyalty.ID `json:"id"` // the event that records it
	Flow      string     `json:"flow"`
	Question  string     `json:"question"`
	Completed bool       `json:"completed"` // all questions of the flow are answered
	Points    int64      `json:"points"`    // what it gave
	Next      string     `json:"next,omitempty"`
}

// FlowProgress is a customer's progress with a flow. It does not hold the answers, which are part
// of the profile and are forgotten with it.
type FlowProgress struct {
	Answered []string `json:"answered"` // questions, in the order of their first answer
	Rewarded bool     `json:"rewarded"` // the points for completing the flow were given
}

// Next is the first question without an answer; nil if the flow is completed.
func (p *FlowProgress) Next(f *Flow) *Question {
	for i := range f.Questions {
		if !slices.Contains(p.Answered, f.Questions[i].ID) {
			return &f.Questions[i]
		}
	}
	return nil
}

// FlowOutlook is a customer's standing with a flow.
type FlowOutlook struct {
	Refusal  error     // the error that an answer would get; nil: it would be accepted
	Answered int       // questions of the flow that are answered
	Next     *Question // the first question without an answer; nil: the flow is completed
}

// OutlookOnFlow evaluates a flow by the rules of profile_answer.
func OutlookOnFlow(r *engine.Run, f *Flow) (o FlowOutlook, err error) {
	var p FlowProgress
	if _, err = r.Progress(loyalty.ProgressFlow, f.ID, &p); err != nil {
		return o, err
	}

	for _, q := range f.Questions { // an answered question may have been removed since
		if slices.Contains(p.Answered, q.ID) {
			o.Answered++
		}
	}

	o.Next = p.Next(f)
	o.Refusal, err = r.Outlook("profile_answer", func() error {
		_, err := engine.InForce(r, Flows.Of(r.Programme), engine.Reference{Type: "profiling/flow", ID: f.ID})
		return err
	})

	return o, err
}

// Answer records an answer and returns the points that it earns: each question, and the flow as a whole, give their
// points once.
func (p *FlowProgress) Answer(f *Flow, q *Question) (earned int64) {
	if !slices.Contains(p.Answered, q.ID) {
		p.Answered = append(p.Answered, q.ID)
		earned = q.Points
	}
	if p.Next(f) == nil && !p.Rewarded {
		p.Rewarded = true
		earned += f.Points
	}
	return earned
}

// SetAnswer puts the answer to a question into the profile. It fails with an error of kind Invalid
// at data.answer if the question or the field does not accept it.
func SetAnswer(r *engine.Run, q *Question, answer string) error {
	answer = strings.TrimSpace(answer)
	if err := checkChoice(q.Answers, answer); err != nil {
		return err
	}

	value, err := checkAnswer(r, q.Field, answer)
	if err != nil {
		return err
	}

	r.Customer.UpdatedAt = r.Now
	switch p := &r.Customer.Profile; {
	case q.Field == fieldLabels:
		p.Labels = chosen(p.Labels, q.Answers, answer)
	case p.Field(q.Field) != nil:
		*p.Field(q.Field) = answer
	default:
		p.Custom = maps.Clone(p.Custom)
		p.Custom = engine.PutAttribute(p.Custom, q.Field, value)
	}

	return nil
}

// chosen replaces the labels that an earlier answer to the question gave.
func chosen(labels []string, choices []Choice, answer string) []string {
	kept := slices.DeleteFunc(slices.Clone(labels), func(l string) bool {
		return l == answer || slices.ContainsFunc(choices, func(c Choice) bool { return c.ID == l })
	})
	return append(kept, answer)
}

// checkAnswer checks an answer against what the action profile accepts in a field, including declared attributes. An
// answer for a custom attribute that is not text is read as its JSON value.
func checkAnswer(r *engine.Run, field, answer string) (json.RawMessage, error) {
	text := loyalty.JSON(answer)
	if field == fieldLabels {
		return text, checkField(r, field, loyalty.JSON([]string{answer}))
	}
	err := checkField(r, field, text)
	if literal := json.RawMessage(answer); err != nil && json.Valid(literal) && checkField(r, field, literal) == nil {
		return literal, nil
	}
	return text, err
}

func checkField(r *engine.Run, field string, value json.RawMessage) error {
	const action = "profile"
	err := r.CheckData(action, loyalty.JSON(map[string]json.RawMessage{field: value}))
	var e *loyalty.Error
	if errors.As(err, &e) {
		return e.At("data.answer")
	}
	return err
}

// FlowFeature is the module profiling.
var FlowFeature = engine.Feature{Name: "profiling", Progress: loyalty.ProgressFlow,
	Join: engine.JoinBy(func(a *FlowProgress, b FlowProgress) {
		a.Rewarded = a.Rewarded || b.Rewarded
		for _, q := range b.Answered {
			if !slices.Contains(a.Answered, q) {
				a.Answered = append(a.Answered, q)
			}
		}
	})}
