package loyalty

import (
	"encoding/json"
	"slices"
	"time"
)

// completed are the attributes of the event challenge.
type completed struct {
	Challenge string `json:"challenge"`
}

// challenge lets every challenge count what happened.
func (o *occurrence) challenge() error {
	p := o.Programme
	if !p.On[ModuleChallenges] || !o.enrolled() {
		return nil
	}
	for _, c := range counted.Of(p)[o.action] {
		if err := o.effort(stepsToLook); err != nil {
			return err
		}
		if c.Dates.Status(o.event.At) != StatusActive {
			continue
		}
		moves, err := o.moves(c)
		if err != nil {
			return err
		}
		if _, err := o.advance(o.event, c, moves); err != nil {
			return err
		}
	}
	return nil
}

// moves is by how much the occurrence moves each criterion; nil: none.
func (o *occurrence) moves(c *Challenge) ([]int64, error) {
	var moves []int64
	for i := range c.Criteria {
		k := &c.Criteria[i]
		if k.Action != o.action {
			continue
		}
		held, err := o.holds(k.Is)
		if err != nil {
			return nil, err
		}
		if !held {
			continue
		}
		n, err := o.amount(k)
		if err != nil {
			return nil, err
		}
		if moves == nil && n > 0 {
			moves = make([]int64, len(c.Criteria))
		}
		if n > 0 {
			moves[i] = n
		}
	}
	return moves, nil
}

// AdvanceChallenge moves every criterion of a challenge by so many whole units, at
// least one, in consequence of an event, and says whether it did: not for one who
// takes no part, nor outside the challenge's dates, nor after its last completion.
func (r *Run) AdvanceChallenge(e *Event, c *Challenge, amount int64) (moved bool, err error) {
	if !r.enrolled() || !r.Programme.On[ModuleChallenges] || c.Dates.Status(e.At) != StatusActive {
		return false, nil
	}
	moves := make([]int64, len(c.Criteria))
	for i := range c.Criteria {
		if moves[i] = max(1, amount); c.Criteria[i].scale() > 1 {
			moves[i] = scaled(moves[i])
		}
	}
	return r.advance(e, c, moves)
}

// advance counts, and completes the challenge where all is done: counting then
// begins anew, and what was too much is not carried over.
func (r *Run) advance(e *Event, c *Challenge, moves []int64) (moved bool, err error) {
	if moves == nil {
		return false, nil
	}
	st, err := r.challengeState(c)
	if err != nil {
		return false, err
	}
	if st.Completions >= c.most() {
		r.traceChallenge(c, "skipped", "reason.challenge_full", 0)
		return false, nil
	}
	var by *counter
	if c.Refunds != RefundsKeep {
		by = r.counts(e)
	}
	on := c.take(&st, moves, e.At, r.tierView())
	if err := r.noteCounting(e, c, &st, by, moves, on); err != nil {
		return false, err
	}
	if !c.done(&st) {
		r.traceChallenge(c, "applied", "reason.challenge_progress", 0)
		return true, r.keepChallenge(e, c, &st)
	}
	done := r.Derive(e, "challenge", completed{c.ID})
	if err := r.Earn(done, c.Points, ""); err != nil {
		return false, err
	}
	if err := r.keepCompletion(done, e.At, c, &st, by); err != nil {
		return false, err
	}
	st.Completions, st.Completed = st.Completions+1, e.At
	c.reset(&st)
	r.traceChallenge(c, "applied", "reason.challenge_completed", c.Points)
	return true, r.keepChallenge(done, c, &st)
}

func (r *Run) challengeState(c *Challenge) (st ChallengeState, err error) {
	_, err = r.Progress(ProgressChallenge, c.ID, &st)
	return st, err
}

// ChallengeStatus is where the customer stands with a challenge now.
func (r *Run) ChallengeStatus(c *Challenge) (ChallengeStatus, error) {
	st, err := r.challengeState(c)
	return c.Status(st, r.At, r.Programme.Location), err
}

// keepChallenge keeps a state in the name of an event.
func (r *Run) keepChallenge(e *Event, c *Challenge, st *ChallengeState) error {
	return r.SetProgress(e, ProgressKey{ProgressChallenge, c.ID}, st, time.Time{})
}

func (r *Run) traceChallenge(c *Challenge, verdict, reason string, n int64) {
	if r.Tracing() {
		r.TraceInput(Verdict{Rule: "challenge", Verdict: verdict, Reason: reason, Points: n, Input: map[string]any{"challenge": c.ID}})
	}
}

// ResetChallenge sets what a customer did for a challenge back to 0, in the name
// of an event; what was completed stays. It fails with ErrChallengeNotFound and
// ErrNotResetable.
func (r *Run) ResetChallenge(e *Event, id string) error {
	c := Challenges.Of(r.Programme)[id]
	if c == nil {
		return ErrChallengeNotFound.With("challenge", id).At("data.challenge")
	}
	if !c.Resetable {
		return ErrNotResetable.With("challenge", id).At("data.challenge")
	}
	var st ChallengeState
	known, err := r.Progress(ProgressChallenge, id, &st)
	if err != nil || !known {
		return err
	}
	c.reset(&st)
	r.traceChallenge(c, "applied", "reason.challenge_reset", 0)
	return r.keepChallenge(e, c, &st)
}

// ChallengeFeature counts what customers do towards challenges (module challenges).
var ChallengeFeature = Feature{
	Name: "challenges", Progress: ProgressChallenge, Join: joinChallenges,
	React:    func(o *occurrence) error { return o.challenge() },
	Rejected: func(r *Run, e *Event, t *Transaction) error { return r.UndoChallenges(e, t) },
	Needs: func(p *Programme, _ string, n *CustomerNeeds) {
		if p.On[ModuleChallenges] && len(Challenges.Of(p)) > 0 {
			n.Progress |= Kinds(ProgressChallenge)
		}
	},
}

// joinChallenges adds what was counted towards the same criteria; what was counted
// towards others is gone already.
func joinChallenges(r *Run, key string, mine, theirs json.RawMessage) (any, error) {
	return JoinBy(func(a *ChallengeState, b ChallengeState) {
		c := Challenges.Of(r.Programme)[key]
		completions, completed := a.Completions+b.Completions, a.Completed
		kept, passed := slices.Concat(b.Kept, a.Kept), slices.Concat(b.Passed, a.Passed)
		if b.Completed.After(completed) {
			completed = b.Completed
		}
		switch {
		case c != nil && a.Of != c.of && b.Of == c.of:
			*a = b
		case a.Of == b.Of && len(a.Criteria) == len(b.Criteria):
			a.add(b)
		}
		a.Completions, a.Completed = completions, completed
		a.Kept, a.Passed = kept[max(0, len(kept)-maxKept):], passed
	})(r, key, mine, theirs)
}

// add adds counts towards the same criteria.
func (st *ChallengeState) add(o ChallengeState) {
	for i, n := range o.Criteria {
		st.Criteria[i] = min(maxSum, st.Criteria[i]+n)
	}
	st.Started = earlier(st.Started, o.Started)
	if len(st.Parts) == 0 {
		st.Sole = o.Sole
	} else if len(o.Parts) > 0 {
		st.Sole = ID{}
	}
	st.Parts = slices.Concat(st.Parts, o.Parts)
	if len(st.Days) != len(o.Days) {
		if st.Days == nil {
			st.Days = o.Days
		}
		return
	}
	for i, days := range o.Days {
		if st.Days[i] == nil {
			st.Days[i] = map[day]int64{}
		}
		for d, n := range days {
			st.Days[i][d] = min(maxSum, st.Days[i][d]+n)
		}
	}
}
