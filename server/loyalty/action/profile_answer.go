package action

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// profileAnswerData are the attributes of profile_answer. The answer is personal.
type profileAnswerData struct {
	Flow     string `json:"flow"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// profile_answer answers a question of a profiling flow, which sets a field of the profile. The first answer to a
// question gives its points; the answer that completes the flow gives the points of the flow. It answers
// loyalty.QuestionResult.
var profileAnswer = engine.Action[profileAnswerData]{
	Name: "profile_answer", Standing: engine.Earner,
	Needs: func(_ profileAnswerData, n *loyalty.CustomerNeeds) { n.Progress = loyalty.Kinds(loyalty.ProgressFlow) },
	Apply: applyProfileAnswer,
}

// applyProfileAnswer sets the field before it counts the answer: an answer that the profile refuses gives no points.
func applyProfileAnswer(r *engine.Run, d profileAnswerData) error {
	f, err := engine.InForce(r, game.Flows.Of(r.Programme), engine.Reference{Type: game.Flows.Type, ID: d.Flow})
	if err != nil {
		return err
	}

	q := f.Question(d.Question)
	if q == nil {
		return loyalty.ErrQuestionNotFound.With("question", d.Question)
	}

	var p game.FlowProgress
	if _, err := r.Progress(loyalty.ProgressFlow, f.ID, &p); err != nil {
		return err
	}
	if err := game.SetAnswer(r, q, d.Answer); err != nil {
		return err
	}

	earned := p.Answer(f, q)
	if err := win(r, earned, "the flow "+f.ID); err != nil {
		return err
	}

	result := game.QuestionResult{ID: r.Event.ID, Flow: f.ID, Question: q.ID, Completed: true, Points: earned}
	if next := p.Next(f); next != nil {
		result.Completed, result.Next = false, next.ID
	}

	r.Value = result
	return r.SetProgress(r.Event, loyalty.ProgressKey{Kind: loyalty.ProgressFlow, Key: f.ID}, p, time.Time{})
}
