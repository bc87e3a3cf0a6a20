package loyalty

import (
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// finalActions are those whose events can make a purchase final.
var finalActions = []string{"checkout", "checkout_accept", "pending_validate"}

// pastActions are the actions of the journal at which a campaign can run.
func (c *Campaign) pastActions() []string {
	if c.Trigger == "checkout" || c.Trigger == lineAction {
		return finalActions
	}
	return []string{c.Trigger}
}

// final says whether an event of the journal made its purchase final. Of a refund
// that was validated later the purchase is accepted too.
func (e *PastEvent) final() bool {
	if e.Effects == nil || e.Effects.Transaction == nil || !slices.Contains(finalActions, e.Action) {
		return false
	}
	x := e.Effects.Transaction
	return x.State == Accepted && x.Refunded == 0 && x.Earned == x.OriginalEarned
}

// chances judges a campaign's condition on events of the past and gives those at
// which it holds, with the merges among them. Nobody waits for it.
func chances(ctx context.Context, e *Engine, c *Campaign, events []PastEvent) (list []chance, err error) {
	all := make([]CustomerNeeds, len(events))
	for i := range events {
		all[i] = c.pastNeeds(&events[i])
	}
	err = e.LookBack(ctx, all, func(h *Hindsight) {
		list = nil
		for i := range events {
			list = append(list, c.chancesAt(h, &events[i])...)
		}
	})
	return list, err
}

// pastNeeds is what a condition sees besides the event.
func (c *Campaign) pastNeeds(e *PastEvent) CustomerNeeds {
	n := CustomerNeeds{ID: e.Customer, Key: c.Holds != nil}
	if e.Transaction != "" {
		n.Transactions = []string{e.Transaction}
	}
	if c.Holds.Uses("customer.tiers") {
		n.Progress = Kinds(ProgressTier)
	}
	return n
}

// chancesAt looks at one event.
func (c *Campaign) chancesAt(h *Hindsight, e *PastEvent) (list []chance) {
	if e.Effects != nil && e.Effects.MergedFrom != nil {
		list = append(list, chance{customer: e.Customer, merged: *e.Effects.MergedFrom})
	}
	if e.Held {
		return list
	}
	r := h.Customer(c.pastNeeds(e))
	if r == nil {
		return list
	}
	r.At = e.At
	for _, o := range c.occurrences(r, e) {
		if r.Customer.Status != OptedOut && !o.enrolledFor(c) {
			continue
		}
		held, _, err := o.judge(c.Holds)
		if !h.Lacks(err) && held {
			list = append(list, chance{customer: e.Customer, base: e.baseOf(o)})
		}
	}
	return list
}

// occurrences gives what an event of the past was to the campaign.
func (c *Campaign) occurrences(r *Run, e *PastEvent) []*occurrence {
	o := newOccurrence(r, c.Trigger, &e.Event, nil, nil)
	final := e.final()
	if t := r.Purchases()[e.Transaction]; t != nil && e.Effects != nil && e.Effects.Transaction != nil {
		t = t.asOf(e.Effects.Transaction, final)
		r.Purchases()[e.Transaction] = t
		if final {
			o.transaction = t
		}
	}
	switch c.Trigger {
	case lineAction:
		return o.lines()
	case "checkout", "checkout_accept":
		if o.transaction == nil {
			return nil
		}
	case "reserve_points", "release_points":
		if e.Parent != (ID{}) {
			return nil // told by its purchase
		}
	}
	if e.Action != c.Trigger && c.Trigger != "checkout" {
		return nil // a merge, read along
	}
	return []*occurrence{o}
}

// lines are the occurrences of the lines of a purchase.
func (o *occurrence) lines() (list []*occurrence) {
	if o.transaction == nil {
		return nil
	}
	for i := range o.transaction.Detail.Items {
		line := *o
		line.line = &o.transaction.Detail.Items[i]
		list = append(list, &line)
	}
	return list
}

// baseOf are the points that multiply looks at.
func (e *PastEvent) baseOf(o *occurrence) int64 {
	if o.line == nil && o.transaction == nil {
		return e.Issued
	}
	return o.base()
}

// asOf is the purchase as an event left it. What made it final came before the
// campaigns.
func (t *Transaction) asOf(x *TransactionEffect, final bool) *Transaction {
	c := t.clone()
	c.State, c.Total, c.Refunded = x.State, money.Amount(x.Total), money.Amount(x.Refunded)
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
