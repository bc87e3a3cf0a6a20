package challenge

import (
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// What happens to the progress that a purchase made once the purchase is undone.
const (
	RefundsUndo = "undo" // it is taken back, and so are completions that no longer hold
	RefundsKeep = "keep" // it stays
)

// passed is a completion that was taken back although later ones stand.
type passed struct {
	At     time.Time `json:"at"`
	Before time.Time `json:"before,omitzero"`
}

// maxKept is how many completions that several purchases reached together can still be taken back, per challenge. Older
// ones stay, so that the state cannot grow for ever.
const maxKept = 100

// counter is what a count is attributed to: a purchase that may be refunded, or a completion that
// may be taken back together with one.
type counter struct {
	purchase   *loyalty.Transaction // nil: a completion
	completion loyalty.ID           // its event
}

func (c *counter) id() loyalty.ID {
	if c.purchase != nil {
		return c.purchase.Checkout
	}
	return c.completion
}

// hostedBy is where a completion of this submission is kept: with a purchase, or with the challenge.
type hostedBy struct {
	purchase  *loyalty.Transaction
	challenge string
}

// completions are this submission's completions that a refund may break, by their events.
var completions engine.Note[map[loyalty.ID]hostedBy]

// unattributed are the actions whose events belong to no purchase and no completion, even if one caused them: tiers
// depend on everything that a customer did, and expiry depends on time.
var unattributed = []string{"tier_up", "tier_down", "tier_change", "point_expire"}

// counts finds what an event's counts are attributed to: the purchase that the event or one of its causes made, changed
// or accepted, or the completion that caused it. It follows events back to their cause, because a campaign's points
// belong to the purchase that triggered it.
func counts(r *engine.Run, e *loyalty.Event) *counter {
	for ; e != nil && e.Customer == r.Customer.ID; e = r.Find(e.Parent) {
		switch {
		case e.Accepted != nil:
			return &counter{purchase: e.Accepted}
		case e.Action == "challenge":
			if _, kept := completions.Of(r)[e.ID]; kept {
				return &counter{completion: e.ID}
			}
			return nil

		case slices.Contains(unattributed, e.Action):
			return nil
		case e.Action == "checkout" || e.Action == "checkout_update":
			if t := r.Purchases()[e.Transaction]; t != nil {
				return &counter{purchase: t}
			}
			return nil
		}
	}

	return nil
}

// part adds a counter to those that made this progress, and returns the progress's name. A completion that one counter
// reached alone is kept with that counter.
func (st *ChallengeState) part(by, next loyalty.ID) loyalty.ID {
	switch {
	case len(st.Parts) == 0:
		st.Parts, st.Sole = []loyalty.ID{next}, by
	case st.Sole != by:
		st.Sole = loyalty.ID{}
	}
	return st.Parts[0]
}

// noteCounting records a count with what it is attributed to, so that it can be taken back. A challenge that keeps its
// progress after refunds needs no such record.
func noteCounting(
	r *engine.Run, e *loyalty.Event, c *Challenge, st *ChallengeState, by *counter, moves []int64, on calendar.Day,
) error {
	if by == nil {
		return nil
	}
	k := loyalty.Counting{Challenge: c.ID, For: st.part(by.id(), r.Customer.LastEvent), Moves: moves}
	if c.WindowDays > 0 {
		k.Day = on
	}
	return changeCountings(r, e, by, c.ID, st,
		func(all []loyalty.Counting) []loyalty.Counting { return withCounting(all, k) })
}

// withCounting adds a count to the row of its challenge, part and day, so that a purchase of
// thousands of lines leaves one row for each challenge.
func withCounting(all []loyalty.Counting, k loyalty.Counting) []loyalty.Counting {
	same := func(o loyalty.Counting) bool {
		return o.Challenge == k.Challenge && o.For == k.For && o.Day == k.Day && o.Whole == nil
	}
	// It is one of the last rows: the rows after it belong to other challenges that the same occurrence moved.
	for i := len(all) - 1; i >= 0; i-- {
		if same(all[i]) {
			all[i].Moves = slices.Clone(all[i].Moves)
			for n := range k.Moves {
				all[i].Moves[n] = min(maxSum, all[i].Moves[n]+k.Moves[n])
			}
			return all
		}
	}

	k.Moves = slices.Clone(k.Moves)
	return append(all, k)
}

// changeCountings changes the counts that are attributed to a purchase or completion. st is the state of the challenge
// that is being changed already, or nil.
func changeCountings(
	r *engine.Run, e *loyalty.Event, by *counter, challenge string, st *ChallengeState,
	change func([]loyalty.Counting) []loyalty.Counting,
) error {
	if t := by.purchase; t != nil {
		t.Detail.Counted = change(t.Counted())
		engine.TellPurchase(r, e, t)
		return nil
	}
	return changeCompletion(r, e, by.completion, challenge, st,
		func(k *loyalty.Completion) { k.Counts = change(slices.Clone(k.Counts)) })
}

// changeCompletion changes a completion of this submission, wherever it is kept.
func changeCompletion(
	r *engine.Run, e *loyalty.Event, id loyalty.ID, challenge string, st *ChallengeState, change func(*loyalty.Completion),
) error {
	host := completions.Of(r)[id]
	if t := host.purchase; t != nil {
		all := t.Counted()
		if i := slices.IndexFunc(all,
			func(k loyalty.Counting) bool { return k.Whole != nil && k.Whole.Event == id }); i >= 0 {
			again := *all[i].Whole
			change(&again)
			all[i].Whole = &again
			engine.TellPurchase(r, e, t)
		}
		return nil
	}

	mine := st != nil && host.challenge == challenge // kept in the state that the caller is changing
	if !mine {
		st = &ChallengeState{}
		if _, err := r.Progress(loyalty.ProgressChallenge, host.challenge, st); err != nil {
			return err
		}
	}

	i := slices.IndexFunc(st.Kept, func(k loyalty.Completion) bool { return k.Event == id })
	if i < 0 {
		return nil
	}
	if change(&st.Kept[i]); mine {
		return nil
	}

	return r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressChallenge, Key: host.challenge}, st, time.Time{})
}

// NoteGift records points that a campaign gave for a completion, because both are taken back
// together.
func NoteGift(r *engine.Run, cause, e *loyalty.Event, campaign string, n int64) error {
	by := counts(r, cause)
	if by == nil || by.purchase != nil {
		return nil
	}
	return changeCompletion(r, cause, by.completion, "", nil, func(k *loyalty.Completion) {
		k.Gave = append(slices.Clip(k.Gave), loyalty.CompletionGift{Campaign: campaign, Event: e.ID, Points: n})
	})
}

// NoteRun records a run of a campaign with the completion that triggered it.
func NoteRun(r *engine.Run, cause *loyalty.Event, run loyalty.CampaignRun) error {
	by := counts(r, cause)
	if by == nil || by.purchase != nil {
		return nil
	}
	return changeCompletion(r, cause, by.completion, "", nil, func(k *loyalty.Completion) {
		k.Runs = append(slices.Clip(k.Runs), run)
	})
}

// CauseOf finds the undoable cause of an event: a purchase, or the completion of a challenge. It finds neither for
// events that depend on more than that.
func CauseOf(r *engine.Run, e *loyalty.Event) (t *loyalty.Transaction, completion bool) {
	by := counts(r, e)
	if by == nil {
		return nil, false
	}
	return by.purchase, by.purchase == nil
}

// keepCompletion records a completion that a refund may break: with the purchase if that alone counted for it,
// otherwise with the challenge. It records today's thresholds as well, because a later change of the challenge must not
// break what was complete at the time.
func keepCompletion(
	r *engine.Run, done *loyalty.Event, at time.Time, c *Challenge, st *ChallengeState, by *counter,
) error {
	if len(st.Parts) == 0 {
		return nil
	}

	k := loyalty.Completion{
		For: st.Parts, Of: st.Of, Event: done.ID, Points: c.Points, Criteria: st.Criteria,
		Needs:  make([]int64, len(c.Criteria)),
		Window: c.WindowDays, Days: st.Days, Started: st.Started, At: at, Before: st.Completed,
	}

	for i := range c.Criteria {
		k.Needs[i] = c.Criteria[i].Threshold * c.Criteria[i].scale()
	}

	hosts := completions.Of(r)
	if hosts == nil {
		hosts = map[loyalty.ID]hostedBy{}
		completions.Set(r, hosts)
	}

	if by == nil || by.purchase == nil || by.id() != st.Sole {
		hosts[done.ID] = hostedBy{challenge: c.ID}
		st.keep(k)
		return nil
	}

	hosts[done.ID] = hostedBy{purchase: by.purchase}
	return changeCountings(r, done, by, c.ID, st, func(all []loyalty.Counting) []loyalty.Counting {
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].Challenge == c.ID && slices.Contains(k.For, all[i].For) {
				all[i].Whole = &k
				break
			}
		}
		return all
	})
}

func (st *ChallengeState) keep(k loyalty.Completion) {
	st.Kept = append(st.Kept, k)
	st.Kept = st.Kept[max(0, len(st.Kept)-maxKept):]
}
