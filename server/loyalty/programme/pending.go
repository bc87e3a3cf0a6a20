package programme

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Holding is the configuration of pending_events: which actions wait for their validation, and for how long.
type Holding struct {
	Actions []string `json:"actions"`
	Days    int      `json:"days"` // after these they are dropped; 0: at once
}

// unholdable are the submittable actions that cannot wait: those that create a customer or change their state, those
// about another customer, whose side would have to be held as well, and those that settle pending purchases or held
// events.
var unholdable = strings.Fields(`checkout_accept checkout_reject checkout_update coupon_transfer opt_in opt_out
	pending_expired pending_invalidate pending_validate profile reward_transfer subscribe suspend unsuspend`)

func readHolding(raw json.RawMessage) (any, error) {
	c := Holding{Actions: []string{}, Days: 14}
	o := openObject(raw, "config")
	o.take("actions", "array of strings", &c.Actions)
	for i, action := range c.Actions {
		if slices.Contains(c.Actions[:i], action) {
			o.fail("actions", "not_unique", nil)
		}
	}
	o.count("days", &c.Days, 0, maxHeld)
	return c, o.done()
}

func (c Holding) compile(p *Programme) { p.Holding = c }

// Holds reports whether an action waits for its validation.
func (p *Programme) Holds(action string) bool { return slices.Contains(p.Holding.Actions, action) }

// checkHolding requires that the actions to hold are submittable ones that can wait, or ones that the programme
// declares. It fails with ErrNotHoldable.
func (p *Programme) checkHolding() error {
	for i, action := range p.Holding.Actions {
		_, internal := InternalOperations[action]
		known := p.registry.actions[action] || (p.Actions[action] != nil && !internal)
		if !known || slices.Contains(unholdable, action) {
			return loyalty.ErrNotHoldable.With("action", action).At(fmt.Sprintf("config.actions[%d]", i))
		}
	}
	return nil
}
