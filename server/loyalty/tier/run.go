package tier

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// moment is the format of instants in the attributes of events.
const moment = "2006-01-02T15:04:05.000Z07:00"

// tierChange are the attributes of tier_change.
type tierChange struct {
	Tier    string `json:"tier"`
	ExpDate string `json:"expdate,omitempty"`
}

// tierUp are the attributes of tier_up.
type tierUp struct {
	Structure string `json:"structure"`
	Tier      string `json:"tier"`
	ExpDate   string `json:"expdate,omitempty"` // when it ends if nothing happens until then
	Manual    bool   `json:"manual"`
}

// tierDown are the attributes of tier_down.
type tierDown struct {
	Structure string `json:"structure"`
	Tier      string `json:"tier"` // the one the customer has now; empty: none
}

// tierStructure are the attributes of tier_recalculation.
type tierStructure struct {
	Structure string `json:"structure"`
}

// ViewOf is the moment at which structures are evaluated: the instant of a due effect, otherwise the instant of
// recording, even if the event is dated earlier.
func ViewOf(r *engine.Run) TierView {
	at := r.At
	if r.Late {
		at = r.Now
	}
	return TierView{At: at, Score: r.Book.Figures.Score, Enrolled: r.Customer.CreatedAt, Location: r.Programme.Location}
}

// Enrolled reports whether the customer takes part in tiers; an inactive customer does not yet.
func Enrolled(r *engine.Run) bool {
	return r.Customer.Status == loyalty.Active || r.Customer.Status == loyalty.Suspended
}

// update brings the customer's tiers up to date with what happened. Figures continue while the
// module is off, so that they are right when it is switched on.
func update(r *engine.Run) error {
	for _, s := range ladders.Of(r.Programme) {
		// two journals become one: if windows begin with the enrolment, the two figures cannot simply be added
		if mergedInto(r) && s.counts() {
			if err := countAgain(r, s); err != nil {
				return err
			}
			continue
		}

		st, moved, err := tierState(r, s)
		if err != nil {
			return err
		}

		turn := tierTurn{s, &st, ViewOf(r), moved, moved != nil}
		if moved == nil {
			turn.cause = r.Latest()
		}
		if err := evaluate(r, turn); err != nil {
			return err
		}
	}

	return nil
}

// tierTurn is a state to be evaluated.
type tierTurn struct {
	structure *Structure
	state     *TierState
	view      TierView
	cause     *loyalty.Event // nil: a date caused it
	counted   bool           // the figures differ from the stored ones
}

// evaluate updates a state and stores the outcome, on the event by which the tier changed, or otherwise on the event
// that caused the evaluation. If a date caused it and the tier did not change, a tier_recalculation records it.
func evaluate(r *engine.Run, t tierTurn) error {
	s, st, before := t.structure, t.state, t.state.TierHold
	e := t.cause
	if Enrolled(r) && r.Programme.On[programme.ModuleTiers] && s.judge(st, t.view) {
		e = moved(r, t, before.Tier)
	}

	key, due := loyalty.ProgressKey{Kind: loyalty.ProgressTier, Key: s.ID}, dueAt(r, t)
	var planned time.Time
	if row := r.ProgressRow(key); row != nil {
		planned = row.DueAt
	}
	// most events change no tier, and nothing is written
	if !t.counted && st.TierHold == before && planned.Equal(due) {
		return nil
	}
	if e == nil {
		e = r.Derive(nil, "tier_recalculation", tierStructure{s.ID})
	}

	s.prune(st, t.view)
	return r.SetProgress(e, key, st, due)
}

// dueAt is when a state must be evaluated again; zero means never, or not while the customer takes no part or the
// module is off.
func dueAt(r *engine.Run, t tierTurn) time.Time {
	if !Enrolled(r) || !r.Programme.On[programme.ModuleTiers] {
		return time.Time{}
	}
	return t.structure.due(t.state, t.view)
}

// moved writes the event by which the customer rose or fell, as a consequence of the submitted event, or on its own if
// a date caused it. It has the date of the evaluation instead of the event's, because a rise that is found late
// happened then.
func moved(r *engine.Run, t tierTurn, from string) *loyalty.Event {
	s, st := t.structure, t.state
	action, data := "tier_down", any(tierDown{s.ID, st.Tier})
	if s.rank(st.Tier) > s.rank(from) {
		action, data = "tier_up", tierUp{Structure: s.ID, Tier: st.Tier, ExpDate: written(s.ends(st, t.view))}
	}
	e := r.Derive(root(r, t.cause), action, data)
	e.At = t.view.At
	if r.Tracing() {
		r.TraceInput(loyalty.Verdict{Rule: "tier", Verdict: "applied", Reason: "reason." + action, Input: map[string]any{
			"structure": s.ID, "tier": st.Tier, "before": from, "figure": s.shownFigure(s.Figure(st, t.view)),
		}})
	}
	return e
}

// root returns the event of this submission and this customer from which an event followed.
func root(r *engine.Run, e *loyalty.Event) *loyalty.Event {
	for e != nil && e.Parent != (loyalty.ID{}) {
		i := slices.IndexFunc(r.Events(), func(o *loyalty.Event) bool { return o.ID == e.Parent && o.Customer == e.Customer })
		if i < 0 {
			break
		}
		e = r.Events()[i]
	}
	return e
}

func written(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(moment)
}

// dueTier evaluates a tier at its planned instant.
func dueTier(r *engine.Run, p *loyalty.Progress) error {
	s := Structures.Of(r.Programme)[p.Key]
	if s == nil { // archived: what the customer had stays on record
		e := r.Derive(nil, "tier_recalculation", tierStructure{p.Key})
		return r.SetProgress(e, p.ProgressKey, p.Data, time.Time{})
	}
	st, moved, err := tierState(r, s)
	if err != nil {
		return err
	}
	return evaluate(r, tierTurn{structure: s, state: &st, view: ViewOf(r), counted: moved != nil})
}

// mergedInto reports whether this submission merged another customer into this one.
func mergedInto(r *engine.Run) bool {
	return slices.ContainsFunc(r.Events(),
		func(e *loyalty.Event) bool { return e.Customer == r.Customer.ID && e.Action == "merge" })
}

// countAgain plans a recount for a moment later, because the joined journal is not stored yet.
func countAgain(r *engine.Run, s *Structure) error {
	var st TierState
	if _, err := r.Progress(loyalty.ProgressTier, s.ID, &st); err != nil {
		return err
	}
	st.TierFigures = TierFigures{}
	return r.SetProgress(lastEvent(r), loyalty.ProgressKey{Kind: loyalty.ProgressTier, Key: s.ID}, st,
		r.Now.Add(time.Millisecond))
}

// Change gives the customer a tier as a consequence of an event, by a tier_change. It holds until expires whatever the
// figure is. If expires is zero it holds until the next change, but the figure can lift the customer above it. It does
// nothing if the customer takes no part, has a higher tier, or already has this one on these terms.
func Change(r *engine.Run, parent *loyalty.Event, t *Tier, expires time.Time) error {
	s := Structures.Of(r.Programme)[t.Structure]
	st, _, err := tierState(r, s)
	if err != nil {
		return err
	}
	same := st.Manual == t.ID && st.Tier == t.ID && st.ManualUntil.Equal(expires)
	if !Enrolled(r) || s.rank(st.Tier) > s.rank(t.ID) || same {
		r.Trace("tier", "skipped", "reason.tier_held", 0)
		return nil
	}
	return Give(r, r.Derive(parent, "tier_change", tierChange{t.ID, written(expires)}), t, time.Time{}, expires)
}

// Give is Change by hand, on the row of the tier_change, and may also lower the customer's tier. It fails with
// ErrPropertyInvalid if the tier would have ended before. since is when they got it, for a tier that another system
// gave; zero means now.
func Give(r *engine.Run, e *loyalty.Event, t *Tier, since, expires time.Time) error {
	s := Structures.Of(r.Programme)[t.Structure]
	st, _, err := tierState(r, s)
	if err != nil {
		return err
	}

	v := ViewOf(r)
	if !expires.IsZero() && !expires.After(v.At) {
		return loyalty.ErrPropertyInvalid.With("property", "expdate").With("reason", "past").At("data.expdate")
	}

	s.judge(&st, v) // the tier by figure before the change
	if st.Tier != t.ID {
		st.Tier, st.Since = t.ID, v.At
	}
	if !since.IsZero() {
		st.Since = since
	}

	st.Manual, st.ManualUntil, st.ManualOver = t.ID, expires, st.Earned
	s.prune(&st, v)
	r.Trace("tier", "applied", "reason.tier_change", 0)
	return r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressTier, Key: s.ID}, st, s.due(&st, v))
}

// Recalculate makes the customer's figures of a structure anew from the journal, on an event, and then lets the
// customer rise or fall. It fails with ErrStructureNotFound.
func Recalculate(r *engine.Run, e *loyalty.Event, structure string) error {
	s := Structures.Of(r.Programme)[structure]
	if s == nil {
		return loyalty.ErrStructureNotFound.With("structure", structure).At("data.structure")
	}

	var st TierState
	if _, err := r.Progress(loyalty.ProgressTier, s.ID, &st); err != nil {
		return err
	}

	if s.counts() {
		l, err := rebuildTier(r, s, &st.TierFigures)
		if err != nil {
			return err
		}
		for _, own := range r.Events() {
			if own.Customer == r.Customer.ID {
				l.count(&st.TierFigures, entry(r, own))
			}
		}
	}

	v := ViewOf(r)
	v.Recalculation = true
	return evaluate(r, tierTurn{s, &st, v, e, true})
}

// TierFeature lets customers rise and fall (module tiers).
var TierFeature = engine.Feature{
	Name: "tiers", Counts: true, Progress: loyalty.ProgressTier, After: update, Due: dueTier, Join: joinTiers,
	Needs: func(p *programme.Programme, _ string, n *loyalty.CustomerNeeds) {
		if len(Structures.Of(p)) > 0 { // figures are kept up to date while the module is off
			n.Progress |= loyalty.Kinds(loyalty.ProgressTier)
		}
	},
}

// joinTiers keeps the higher tier, and the higher of the tiers that were given by hand. The figures
// are made anew from both journals.
func joinTiers(r *engine.Run, key string, mine, theirs json.RawMessage) (any, error) {
	s := Structures.Of(r.Programme)[key]
	if s == nil { // archived: what this customer had stays on record
		return mine, nil
	}

	return engine.JoinBy(func(a *TierState, b TierState) {
		if s.rank(b.Tier) > s.rank(a.Tier) {
			a.Tier, a.Since = b.Tier, b.Since
		}
		if s.rank(b.Earned) > s.rank(a.Earned) {
			a.Earned, a.GraceUntil = b.Earned, b.GraceUntil
		}
		longer := a.Manual == b.Manual && !a.ManualUntil.IsZero() &&
			(b.ManualUntil.IsZero() || b.ManualUntil.After(a.ManualUntil))
		if s.rank(b.Manual) > s.rank(a.Manual) || (longer && b.Manual != "") {
			a.Manual, a.ManualUntil, a.ManualOver = b.Manual, b.ManualUntil, b.ManualOver
		}
		a.TierFigures = TierFigures{}
	})(r, key, mine, theirs)
}
