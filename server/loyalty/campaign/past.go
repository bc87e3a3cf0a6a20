package campaign

import (
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// finalActions are the actions whose events can make a purchase final.
var finalActions = []string{"checkout", "checkout_accept", "pending_validate"}

// undoingActions are the actions whose events can undo a final purchase, or a line of it.
var undoingActions = []string{"refund", "refund_item", "partial_refund", "pending_validate"}

// PastActions are the actions of the journal at which a campaign can run and, if its uses are limited, those that give
// uses back.
func (c *Campaign) PastActions() []string {
	list := []string{c.Trigger}
	switch c.Trigger {
	case "checkout", programme.LineAction:
		list = slices.Clone(finalActions)
	case "checkout_accept":
	default:
		return list
	}
	if c.Limit.PerCustomer != nil || c.Limit.Total != nil {
		list = append(list, undoingActions...)
		slices.Sort(list)
	}
	return slices.Compact(list)
}

// final reports whether an event of the journal made its purchase final. The state alone does not tell: when a held
// refund is validated later, its purchase is accepted as well.
func final(e *loyalty.PastEvent) bool {
	if e.Effects == nil || e.Effects.Transaction == nil || !slices.Contains(finalActions, e.Action) {
		return false
	}
	x := e.Effects.Transaction
	return x.State == loyalty.Accepted && x.Refunded == 0 && x.Earned == x.OriginalEarned
}

// Chances evaluates a campaign's condition on past events and returns those at which it holds, with the merges among
// them. It runs in a job, so no caller waits for it.
func Chances(
	ctx context.Context, e *engine.Engine, c *Campaign, events []loyalty.PastEvent,
) (list []chance, err error) {
	all := make([]loyalty.CustomerNeeds, len(events))
	for i := range events {
		all[i] = c.pastNeeds(&events[i])
	}
	err = e.LookBack(ctx, all, func(h *engine.Hindsight) {
		list = nil
		for i := range events {
			list = append(list, c.chancesAt(h, &events[i])...)
		}
	})
	return list, err
}

// pastNeeds is what a condition reads besides the event.
func (c *Campaign) pastNeeds(e *loyalty.PastEvent) loyalty.CustomerNeeds {
	n := loyalty.CustomerNeeds{ID: e.Customer, Key: c.Holds != nil}
	if e.Transaction != "" {
		n.Transactions = []string{e.Transaction}
	}
	if c.Holds.Uses("customer.tiers") {
		n.Progress = loyalty.Kinds(loyalty.ProgressTier)
	}
	return n
}

// chancesAt looks at one event.
func (c *Campaign) chancesAt(h *engine.Hindsight, e *loyalty.PastEvent) (list []chance) {
	if e.Effects != nil && e.Effects.MergedFrom != nil {
		list = append(list, chance{customer: e.Customer, merged: *e.Effects.MergedFrom})
	}
	// a held event had no effect when it was recorded
	if e.Held {
		return list
	}

	r := h.Customer(c.pastNeeds(e))
	if r == nil {
		return list
	}

	list = append(list, undoings(r, e)...)
	// conditions on dates and ages are evaluated as of the event, not as of today
	r.At = e.At
	for _, o := range c.occurrences(r, e) {
		if r.Customer.Status != loyalty.OptedOut && !enrolledFor(o, c) {
			continue
		}

		held, _, err := o.Judge(c.Holds)
		if !h.Lacks(err) && held {
			x := chance{customer: e.Customer, base: baseOf(e, o)}
			if o.Accepted != nil {
				x.purchase = o.Accepted.Name
			}
			if o.Line != nil {
				x.line = o.Line.Event
			}
			list = append(list, x)
		}
	}

	return list
}

// undoings are the purchase, or the lines of it, that an event undid.
func undoings(r *engine.Run, e *loyalty.PastEvent) (list []chance) {
	t := r.Purchases()[e.Transaction]
	if t == nil || e.Effects == nil || e.Effects.Transaction == nil || !slices.Contains(undoingActions, e.Action) {
		return nil
	}

	x := e.Effects.Transaction
	if x.Returned {
		return []chance{{customer: e.Customer, purchase: t.Name, undone: true}}
	}

	for i := range x.Lines {
		if l := t.LineOf(x.Lines[i].Event); l != nil && x.Lines[i].Returned == l.Quantity {
			list = append(list, chance{customer: e.Customer, purchase: t.Name, line: l.Event, undone: true})
		}
	}

	return list
}

// occurrences lists the occurrences that a past event would have been for the campaign.
func (c *Campaign) occurrences(r *engine.Run, e *loyalty.PastEvent) []*engine.Occurrence {
	o := engine.NewOccurrence(r, c.Trigger, &e.Event, nil, nil)
	final := final(e)
	if t := r.Purchases()[e.Transaction]; t != nil && e.Effects != nil && e.Effects.Transaction != nil {
		t = asOf(t, e.Effects.Transaction, final)
		r.Purchases()[e.Transaction] = t
		if final {
			o.Accepted = t
		}
	}

	switch c.Trigger {
	case programme.LineAction:
		return lines(o)
	case "checkout", "checkout_accept":
		if o.Accepted == nil {
			return nil
		}
	case "reserve_points", "release_points":
		if e.Parent != (loyalty.ID{}) {
			return nil // its purchase triggers instead
		}
	}

	if e.Action != c.Trigger && c.Trigger != "checkout" {
		return nil // a merge, which is read for the winners only
	}

	return []*engine.Occurrence{o}
}

// lines are the occurrences of the lines of a purchase.
func lines(o *engine.Occurrence) (list []*engine.Occurrence) {
	if o.Accepted == nil {
		return nil
	}
	for i := range o.Accepted.Detail.Items {
		line := *o
		line.Line = &o.Accepted.Detail.Items[i]
		list = append(list, &line)
	}
	return list
}

// baseOf is the number of points that a multiply effect multiplies.
func baseOf(e *loyalty.PastEvent, o *engine.Occurrence) int64 {
	switch {
	case o.Line != nil || o.Accepted != nil:
		return base(o)
	case brought(&e.Event):
		return 0
	}
	return e.Issued
}

// asOf is the purchase as an event left it. If the event made it final, campaigns saw it as final.
func asOf(t *loyalty.Transaction, x *loyalty.TransactionEffect, final bool) *loyalty.Transaction {
	c := t.Clone()
	c.State, c.Total, c.Refunded = x.State, x.Total, x.Refunded
	c.OriginalTotal = c.Total + c.Refunded
	c.Earned, c.Burned, c.OriginalEarned, c.OriginalBurned = x.Earned, x.Burned, x.OriginalEarned, x.OriginalBurned
	c.Detail.Bonus = x.Bonus
	for i := range c.Detail.Items {
		if l := &c.Detail.Items[i]; final {
			l.Points, l.Bonus, l.Returned, l.TakenBack = l.Points-l.Bonus, 0, 0, 0
		}
	}
	return c
}
