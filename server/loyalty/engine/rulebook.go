package engine

import (
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// rulebook is what all events are decided by. Runs know it and not the engine, which has the
// database: a rule cannot reach it.
type rulebook struct {
	contract loyalty.Contract
	rules    map[string]Rule
	features []Feature
	clock    func() time.Time
	keeper   *loyalty.Timekeeper // nil: the clock is trusted
}

// feature finds the feature of a kind of progress; the zero Feature where no feature
// has it.
func (b *rulebook) feature(kind loyalty.ProgressKind) Feature {
	for _, f := range b.features {
		if f.Progress == kind {
			return f
		}
	}
	return Feature{}
}

// trusted fails with ErrClockOff where nothing that a date brings about may be done.
func (b *rulebook) trusted() error {
	if b.keeper == nil {
		return nil
	}
	return b.keeper.Trusted()
}

// Now is the engine's clock, cut to the milliseconds that are stored: what is decided and
// what is read back later must be the same instant.
func (b *rulebook) Now() time.Time { return b.clock().UTC().Truncate(time.Millisecond) }

// Standing says which customers an action is for.
type Standing uint8

// The standings. Whether a change of state is legal is told by the table of
// states instead; such actions have the standing Anyone.
const (
	Anyone  Standing = iota // inactive, active, suspended
	Earner                  // active, suspended: earning works while suspended
	Spender                 // active only
)

// Action is one submittable action: its declaration and its decision. D is the
// payload type that the contract generates.
type Action[D any] struct {
	Name     string // the contract's discriminator
	Standing Standing
	// Settles says that the action decides on a pending purchase: one that was made
	// before its module was switched off can still be decided on.
	Settles bool
	// Creates says that the action may be sent for an unknown customer;
	// nil: never.
	Creates func(D) bool
	// Needs declares what the decision reads; nil: the customer alone.
	Needs func(D, *loyalty.CustomerNeeds)
	// Check decides what the data alone can tell; nil: the schema says it all.
	Check func(D) error
	// Apply decides what the customer's state tells and records effects on the
	// run. It may be called again after a conflict and touches nothing else.
	Apply func(*Run, D) error
}

// Rule is an Action with its payload type erased.
type Rule interface {
	Meta() Meta
	bind(data json.RawMessage) (bound, error)
}

// Meta is what an action declares.
type Meta struct {
	Name     string
	Standing Standing
	Settles  bool
}

// bound is an action with its payload.
type bound struct {
	needs   loyalty.CustomerNeeds
	creates bool
	apply   func(*Run) error
}

// Meta gives the declaration.
func (a Action[D]) Meta() Meta { return Meta{a.Name, a.Standing, a.Settles} }

// bind decodes the payload once, outside any transaction: what Apply gets is the same in every
// attempt.
func (a Action[D]) bind(data json.RawMessage) (bound, error) {
	var d D
	if err := json.Unmarshal(data, &d); err != nil {
		// The schema was checked before, so what is left are values that the
		// schema's number format cannot express, such as too many decimals.
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
	if a.Needs != nil {
		a.Needs(d, &b.needs)
	}
	return b, nil
}

// customRule is the rule of an action that the programme declares: it is recorded, and
// rules react to it. It fails with
// ErrUnknownAction, or with ErrActionOff while custom_events is off.
func customRule(p *programme.Programme, action string) (Rule, error) {
	switch a := p.Actions[action]; {
	case a == nil:
		return nil, loyalty.ErrUnknownAction.With("action", action).At("action")
	case !p.On[programme.ModuleCustomEvents]:
		return nil, loyalty.ErrActionOff.With("module", programme.ModuleCustomEvents).With("action", action).At("action")
	}
	return Action[struct{}]{Name: action, Standing: Earner, Apply: func(*Run, struct{}) error { return nil }}, nil
}
