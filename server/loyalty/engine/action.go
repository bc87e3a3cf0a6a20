package engine

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

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
	// Creates says that the action may be sent for a customer nobody knows;
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
