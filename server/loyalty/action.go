package loyalty

import (
	"encoding/json"
	"maps"
	"slices"
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
	Needs func(D, *CustomerNeeds)
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
	needs   CustomerNeeds
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
		return bound{}, decodeError(err)
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

// internalActions are the events the platform writes itself, each with the
// operation that does, and in brackets the action or job it needs. Submitting one
// is refused with that operation. Tests hold the list against the document's
// x-internal-actions and every operation against the documents.
var internalActions = map[string]string{
	"challenge":            "POST /events",
	"checkout_accept_item": "POST /events (checkout_accept)",
	"checkout_item":        "POST /events (checkout)",
	"checkout_update_item": "POST /events (checkout_update)",
	"contest_enter":        "POST /customers/{customer_id}/activities/contests/{contest_id}/enter",
	"coupon_receive":       "POST /events (coupon_transfer)",
	"merge":                "POST /customers/{customer_id}/merge",
	"offer_claim":          "POST /customers/{customer_id}/activities/offers/{offer_id}/claim",
	"pending":              "POST /events",
	"point_burn":           "POST /events (checkout)",
	"point_expire":         "POST /admin/jobs/{job}/run (expiry)",
	"point_unburn":         "POST /events (refund)",
	"prize_wheel_spin":     "POST /customers/{customer_id}/prize-wheels/{wheel_id}",
	"profile_answer":       "POST /customers/{customer_id}/activities/profiling/{flow_id}/questions/{question_id}",
	"quiz_answer":          "POST /customers/{customer_id}/activities/quizzes/{quiz_id}/earn",
	"referral_bonus":       "POST /events (checkout)",
	"refund_contest_entry": "POST /events (contest_entry_revoke)",
	"reward_claim":         "POST /customers/{customer_id}/activities/rewards/{reward_id}/claim",
	"reward_receive":       "POST /events (reward_transfer)",
	"reward_redeem":        "POST /rewards/claims/{claim_id}/redeem",
	"tier_change":          "POST /events",
	"tier_down":            "POST /admin/jobs/{job}/run (tiers)",
	"tier_recalculation":   "POST /admin/jobs/{job}/run (tiers)",
	"tier_up":              "POST /events",
	"verify_customer":      "POST /customers/{customer_id}/verify",
	"visual_search":        "POST /customers/{customer_id}/activities/visual-search",
	"visual_search_bound":  "POST /customers/{customer_id}/activities/visual-search",
	"wheel_spin":           "POST /customers/{customer_id}/prize-wheels/{wheel_id}",
}

// InternalActions lists the actions that only the platform writes, by name.
func InternalActions() []string { return slices.Sorted(maps.Keys(internalActions)) }
