package challenge

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// completed are the attributes of the event challenge.
type completed struct {
	Challenge string `json:"challenge"`
}

// challenge counts an occurrence for every challenge that it moves.
func challenge(o *engine.Occurrence) error {
	p := o.Programme
	if !p.On[programme.ModuleChallenges] || !tier.Enrolled(o.Run) {
		return nil
	}

	for _, c := range counted.Of(p)[o.Action] {
		if err := o.Effort(engine.StepsToLook); err != nil {
			return err
		}
		// by the instant of the event, so that an event that is reported late counts for the challenge that ran then
		if c.Dates.Status(o.Trigger.At) != loyalty.StatusActive {
			continue
		}

		moves, err := moves(o, c)
		if err != nil {
			return err
		}
		if _, err := advance(o.Run, o.Trigger, c, moves); err != nil {
			return err
		}
	}

	return nil
}

// moves is how far the occurrence moves each criterion. It is nil if it moves none, as nearly every occurrence: no
// progress is read or written then.
func moves(o *engine.Occurrence, c *Challenge) ([]int64, error) {
	var moves []int64
	for i := range c.Criteria {
		k := &c.Criteria[i]
		if k.Action != o.Action {
			continue
		}

		held, err := o.Holds(k.Is)
		if err != nil {
			return nil, err
		}
		if !held {
			continue
		}

		n, noRate, err := amount(o, k)
		if err != nil {
			return nil, err
		}
		if noRate != "" {
			traceNoRate(o.Run, c, noRate)
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

// Advance moves every criterion of a challenge by a number of whole units, at least one, because of an event, and
// reports whether it did. It does nothing if the customer does not take part, outside the challenge's dates, or after
// the last allowed completion. Sums are kept in 1/10,000, so one unit of a sum is 10,000.
func Advance(r *engine.Run, e *loyalty.Event, c *Challenge, amount int64) (moved bool, err error) {
	if !tier.Enrolled(r) || !r.Programme.On[programme.ModuleChallenges] || c.Dates.Status(e.At) != loyalty.StatusActive {
		return false, nil
	}
	moves := make([]int64, len(c.Criteria))
	for i := range c.Criteria {
		if moves[i] = max(1, amount); c.Criteria[i].scale() > 1 {
			moves[i] = scaled(moves[i])
		}
	}
	return advance(r, e, c, moves)
}

// advance adds counts, and completes the challenge when every criterion is met. Counting then starts again from 0: a
// surplus is not carried over.
func advance(r *engine.Run, e *loyalty.Event, c *Challenge, moves []int64) (moved bool, err error) {
	if moves == nil {
		return false, nil
	}

	st, err := challengeState(r, c)
	if err != nil {
		return false, err
	}

	if st.Completions >= c.most() {
		traceChallenge(r, c, "skipped", "reason.challenge_full", 0)
		return false, nil
	}

	var by *counter
	if c.Refunds != RefundsKeep {
		by = counts(r, e)
	}

	on := c.take(&st, moves, e.At, tier.ViewOf(r))
	if err := noteCounting(r, e, c, &st, by, moves, on); err != nil {
		return false, err
	}

	if !c.done(&st) {
		traceChallenge(r, c, "applied", "reason.challenge_progress", 0)
		return true, keepChallenge(r, e, c, &st)
	}

	// an event of its own: its points are a separate lot, which a refund can take back alone
	done := r.Derive(e, "challenge", completed{c.ID})
	if err := r.Earn(done, c.Points, ""); err != nil {
		return false, engine.TooMany("the challenge " + c.ID)
	}
	if err := keepCompletion(r, done, e.At, c, &st, by); err != nil {
		return false, err
	}

	st.Completions, st.Completed = st.Completions+1, e.At
	c.reset(&st)
	traceChallenge(r, c, "applied", "reason.challenge_completed", c.Points)
	return true, keepChallenge(r, done, c, &st)
}

func challengeState(r *engine.Run, c *Challenge) (st ChallengeState, err error) {
	_, err = r.Progress(loyalty.ProgressChallenge, c.ID, &st)
	return st, err
}

// StatusOf is the customer's current status in a challenge.
func StatusOf(r *engine.Run, c *Challenge) (ChallengeStatus, error) {
	st, err := challengeState(r, c)
	return c.Status(st, r.At, r.Programme.Location), err
}

// keepChallenge stores a state, and records it in the effects of an event.
func keepChallenge(r *engine.Run, e *loyalty.Event, c *Challenge, st *ChallengeState) error {
	return r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressChallenge, Key: c.ID}, st, time.Time{})
}

// traceNoRate explains that money did not count because no exchange rate covers its currency.
func traceNoRate(r *engine.Run, c *Challenge, currency string) {
	if r.Tracing() {
		r.TraceInput(loyalty.Verdict{Rule: "challenge", Verdict: "skipped", Reason: "reason.no_rate",
			Input: map[string]any{"challenge": c.ID, "no_rate": currency}})
	}
}

func traceChallenge(r *engine.Run, c *Challenge, verdict, reason string, n int64) {
	if r.Tracing() {
		r.TraceInput(loyalty.Verdict{Rule: "challenge", Verdict: verdict, Reason: reason, Points: n,
			Input: map[string]any{"challenge": c.ID}})
	}
}

// Reset sets a customer's progress in a challenge back to 0, on an event; completions stay. It fails with
// ErrChallengeNotFound and ErrNotResetable.
func Reset(r *engine.Run, e *loyalty.Event, id string) error {
	c := Challenges.Of(r.Programme)[id]
	if c == nil {
		return loyalty.ErrChallengeNotFound.With("challenge", id).At("data.challenge")
	}
	if !c.Resetable {
		return loyalty.ErrNotResetable.With("challenge", id).At("data.challenge")
	}

	var st ChallengeState
	known, err := r.Progress(loyalty.ProgressChallenge, id, &st)
	if err != nil || !known {
		return err
	}

	c.reset(&st)
	traceChallenge(r, c, "applied", "reason.challenge_reset", 0)
	return keepChallenge(r, e, c, &st)
}

// ChallengeFeature counts what customers do towards challenges (module challenges).
var ChallengeFeature = engine.Feature{
	Name: "challenges", Progress: loyalty.ProgressChallenge, Join: joinChallenges,
	React:  challenge,
	Undone: undoPurchase,
	Needs: func(p *programme.Programme, _ string, n *loyalty.CustomerNeeds) {
		if p.On[programme.ModuleChallenges] && len(Challenges.Of(p)) > 0 {
			n.Progress |= loyalty.Kinds(loyalty.ProgressChallenge)
		}
	},
}

// joinChallenges adds up the two customers' counts towards the same criteria. Counts towards criteria
// that have been changed since were dropped before.
func joinChallenges(r *engine.Run, key string, mine, theirs json.RawMessage) (any, error) {
	return engine.JoinBy(func(a *ChallengeState, b ChallengeState) {
		c := Challenges.Of(r.Programme)[key]
		completions, completed := a.Completions+b.Completions, a.Completed
		kept, passed := slices.Concat(b.Kept, a.Kept), slices.Concat(b.Passed, a.Passed)
		if b.Completed.After(completed) {
			completed = b.Completed
		}

		switch {
		// the target's counts are for former criteria, the source's for the present ones
		case c != nil && a.Of != c.of && b.Of == c.of:
			*a = b
		case a.Of == b.Of && len(a.Criteria) == len(b.Criteria):
			a.add(b)
		}

		a.Completions, a.Completed = completions, completed
		a.Kept, a.Passed = kept[max(0, len(kept)-maxKept):], passed
	})(r, key, mine, theirs)
}

// add adds counts towards the same criteria. If both sides have parts, several purchases made the progress together, so
// no purchase owns the completion alone any more.
func (st *ChallengeState) add(o ChallengeState) {
	for i, n := range o.Criteria {
		st.Criteria[i] = min(maxSum, st.Criteria[i]+n)
	}

	st.Started = loyalty.Earlier(st.Started, o.Started)
	if len(st.Parts) == 0 {
		st.Sole = o.Sole
	} else if len(o.Parts) > 0 {
		st.Sole = loyalty.ID{}
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
			st.Days[i] = map[calendar.Day]int64{}
		}
		for d, n := range days {
			st.Days[i][d] = min(maxSum, st.Days[i][d]+n)
		}
	}
}
