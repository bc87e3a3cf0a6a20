package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// judge marks the deliveries that a webhook no longer wants with a reason. It judges only deliveries that were decided
// before the types or filter of the webhook were last changed; the earlier verdict of a filter about a customer holds
// until then. Afterwards all of them count as decided by the present types and filter.
func (d *Deliverer) judge(ctx context.Context, w *loyalty.Webhook, claimed []loyalty.Delivery) error {
	var numbers []int64
	fitting := map[int64][]*loyalty.Delivery{} // by number: those that the filter has to accept
	for i := range claimed {
		c := &claimed[i]
		before := c.Revision
		c.Revision = w.Revision
		switch {
		case before == w.Revision, c.Type == loyalty.TestMessage: // a test message was asked for
		case !w.Wants(c.Type):
			c.Reason = loyalty.SkippedTypes
		case w.Filter != "" && c.Sequence != 0:
			fitting[c.Sequence] = append(fitting[c.Sequence], c)
			numbers = append(numbers, c.Sequence)
		}
	}

	if len(numbers) == 0 {
		return nil
	}

	slices.Sort(numbers)
	part, err := d.o.Store.EventsAt(ctx, slices.Compact(numbers), false)
	for i := 0; err == nil && i < len(part.Events); i++ {
		var fits bool
		if fits, err = d.fits(ctx, w, &part.Events[i]); fits {
			continue
		}
		for _, c := range fitting[part.Numbers[i]] {
			c.Reason = loyalty.SkippedFilter
		}
	}

	return err
}

// fits reports whether a webhook's filter accepts an event. An opt-out passes every filter, because the receiver may
// have to forget what earlier messages told it. A condition that cannot be evaluated does not hold.
func (d *Deliverer) fits(ctx context.Context, w *loyalty.Webhook, e *loyalty.Event) (bool, error) {
	if w.Filter == "" || loyalty.EventType+e.Action == loyalty.OptOutType {
		return true, nil
	}

	c := d.compiled(w.Filter)
	if c == nil {
		return false, nil
	}

	var data map[string]json.RawMessage
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return false, err
	}

	facts := condition.Event{Action: e.Action, Data: data, Timestamp: e.At, Points: loyalty.Deref(e.Points)}
	// conditions on the event alone need no load
	if !c.Uses("customer") {
		held, _, fault := c.Judge(&condition.Facts{Event: facts, Location: d.o.Zone()})
		return held && fault == nil, nil
	}

	held := false
	err := d.o.Engine.View(ctx, loyalty.CustomerNeeds{ID: e.Customer}, func(r *engine.Run) (err error) {
		held, err = r.Judges(c, facts)
		return err
	})
	if errors.Is(err, loyalty.ErrCustomerNotFound) {
		return false, nil
	}

	return held, err
}

// compiled returns the condition of a filter, which was compiled before it was stored; nil if it cannot be.
func (d *Deliverer) compiled(filter string) *condition.Condition {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, known := d.conditions[filter]
	if !known {
		c, _ = condition.Compile(filter)
		d.conditions[filter] = c
	}
	return c
}
