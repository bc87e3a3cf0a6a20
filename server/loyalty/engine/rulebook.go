package engine

import (
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// rulebook is what all events are decided by. Runs have it instead of the engine, so that no rule can reach the
// database.
type rulebook struct {
	contract loyalty.Contract
	rules    map[string]Rule
	features []Feature
	clock    func() time.Time
	keeper   *loyalty.Timekeeper // nil: the clock is trusted
}

// feature returns the feature of a kind of progress; the zero Feature if there is none.
func (b *rulebook) feature(kind loyalty.ProgressKind) Feature {
	for _, f := range b.features {
		if f.Progress == kind {
			return f
		}
	}
	return Feature{}
}

// trusted fails with ErrClockOff while the clock is too far off to apply anything that depends on a
// date.
func (b *rulebook) trusted() error {
	if b.keeper == nil {
		return nil
	}
	return b.keeper.Trusted()
}

// Now returns the engine's clock, cut to the milliseconds that are stored, so that an instant stays the same when it is
// read back.
func (b *rulebook) Now() time.Time { return b.clock().UTC().Truncate(time.Millisecond) }

// Standing is the states of customers that an action is for.
type Standing uint8

// The standings. Whether a change of state is legal is decided by the table of states instead; actions that change it
// have the standing Anyone.
const (
	Anyone  Standing = iota // inactive, active, suspended
	Earner                  // active, suspended: earning works while suspended
	Spender                 // active only
)

// Action is one submittable action: its declaration and its decision. D is the payload type
// generated from the contract.
type Action[D any] struct {
	Name     string // the contract's discriminator
	Standing Standing
	// Settles says that the action decides on a pending purchase, which it may do after the
	// purchase's module was switched off.
	Settles bool
	// Creates reports whether the action may be sent for an unknown customer; nil means never.
	Creates func(D) bool
	// Needs declares what the decision reads; nil means the customer alone.
	Needs func(D, *loyalty.CustomerNeeds)
	// Check refuses what the data alone shows to be wrong; nil means that the schema is enough.
	Check func(D) error
	// Repeats reports whether the customer is already where the action would take them, so that nothing is recorded and
	// no rule reacts; it sets the run's Value then. nil means that each time counts.
	Repeats func(*Run, D) (bool, error)
	// Apply decides by the customer's state and records effects on the run. It may be called again
	// after a conflict, so it must change nothing but the run.
	Apply func(*Run, D) error
}

// Rule is an Action with its payload type erased.
type Rule interface {
	Meta() Meta
	bind(data json.RawMessage) (bound, error)
}

// Meta is an action's declaration.
type Meta struct {
	Name     string
	Standing Standing
	Settles  bool
}

// bound is an action together with its payload.
type bound struct {
	needs   loyalty.CustomerNeeds
	creates bool
	repeats func(*Run) (bool, error) // nil: never
	apply   func(*Run) error
}

// Meta returns the declaration.
func (a Action[D]) Meta() Meta { return Meta{a.Name, a.Standing, a.Settles} }

// bind decodes the payload once, outside any transaction: every attempt of Apply gets the same one.
func (a Action[D]) bind(data json.RawMessage) (bound, error) {
	var d D
	if err := json.Unmarshal(data, &d); err != nil {
		// The schema was checked before. What is left are values that its number format cannot exclude, such as too
		// many decimals.
		return bound{}, loyalty.DecodeError(err)
	}

	if a.Check != nil {
		if err := a.Check(d); err != nil {
			return bound{}, err
		}
	}

	b := bound{apply: func(r *Run) error { return a.Apply(r, d) }}
	if a.Creates != nil {
		b.creates = a.Creates(d)
	}
	if a.Repeats != nil {
		b.repeats = func(r *Run) (bool, error) { return a.Repeats(r, d) }
	}
	if a.Needs != nil {
		a.Needs(d, &b.needs)
	}

	return b, nil
}

// customRule is the rule of an action that the programme declares: the event is recorded, and rules
// react to it. It fails with ErrUnknownAction, or with ErrActionOff while the module custom_events
// is off.
func customRule(p *programme.Programme, action string) (Rule, error) {
	switch a := p.Actions[action]; {
	case a == nil:
		return nil, loyalty.ErrUnknownAction.With("action", action).At("action")
	case !p.On[programme.ModuleCustomEvents]:
		return nil, loyalty.ErrActionOff.With("module", programme.ModuleCustomEvents).With("action", action).At("action")
	}
	return Action[struct{}]{Name: action, Standing: Earner, Apply: func(*Run, struct{}) error { return nil }}, nil
}
