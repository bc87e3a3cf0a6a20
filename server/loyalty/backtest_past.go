package loyalty

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// PastEvent is an event of the journal as a backtest looks at it.
type PastEvent struct {
	Event
	Issued int64 // points that came into being for the customer, none of them pending
	Held   bool  // it waited for its validation: nothing happened then
}

// PastQuery selects events of the journal by their actions, in the order of their
// recording: those recorded from From on, before Before, behind After (zero: all).
type PastQuery struct {
	Actions      []string
	From, Before time.Time
	After        Cursor
	Limit        int
}

// PastStore reads the journal for backtests.
type PastStore interface {
	CountPast(ctx context.Context, q PastQuery) (int64, error)
	PastEvents(ctx context.Context, q PastQuery) ([]PastEvent, error)
}

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

// maxPastRounds is how often the rows of one chunk are loaded: what conditions see
// of a customer is never further away.
const maxPastRounds = 8

// chances judges a campaign's condition on events of the past and gives those at
// which it holds, with the merges among them. Nobody waits for it.
func (e *Engine) chances(ctx context.Context, c *Campaign, events []PastEvent) (list []chance, err error) {
	release, err := e.hold()
	if err != nil {
		return nil, err
	}
	defer release()
	p := e.programmes.Programme()
	t := &ticket{programme: p, preview: true}
	for i := range events {
		t.more = append(t.more, c.pastNeeds(&events[i]))
	}
	t.needs, t.more = t.more[0], t.more[1:]
	for range maxPastRounds {
		n := needs([]*ticket{t}, e.now())
		n.Reading = true
		var missing []CustomerNeeds
		err = e.store.Within(ctx, n, func(l *Loaded) (*Writes, error) {
			look := &hindsight{batch: e.newBatch(l, n), programme: p, campaign: c}
			for i := range events {
				look.at(&events[i])
			}
			list, missing = look.found, look.missing
			return &Writes{}, look.err
		})
		if err != nil || len(missing) == 0 {
			return list, err
		}
		t.more = append(t.more, missing...)
	}
	return nil, errors.New("a condition on the past asks for more and more")
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

// hindsight looks at events of the past with what is known now.
type hindsight struct {
	*batch
	programme *Programme
	campaign  *Campaign
	found     []chance
	missing   []CustomerNeeds
	err       error
}

// at looks at one event.
func (h *hindsight) at(e *PastEvent) {
	if e.Effects != nil && e.Effects.MergedFrom != nil {
		h.found = append(h.found, chance{customer: e.Customer, merged: *e.Effects.MergedFrom})
	}
	original, known := h.accounts[e.Customer]
	if !known || e.Held {
		return
	}
	a, err := h.survivor(original, h.campaign.pastNeeds(e))
	if h.lacks(err) {
		return
	}
	r := h.openRun(h.programme, a, &work{})
	r.At = e.At
	for _, o := range h.occurrences(r, e) {
		if r.Customer.Status != OptedOut && !o.enrolledFor(h.campaign) {
			continue
		}
		held, _, err := o.judge(h.campaign.Holds)
		if !h.lacks(err) && held {
			h.found = append(h.found, chance{customer: e.Customer, base: e.baseOf(o)})
		}
	}
}

// lacks notes what must be loaded, and says whether there was an error. One that is
// none of the store's is of what the past left behind: the condition does not hold.
func (h *hindsight) lacks(err error) bool {
	var w *wanting
	switch {
	case errors.As(err, &w):
		h.missing = append(append(h.missing, w.needs), w.more...)
	case errors.Is(err, ErrBatchConflict):
		h.err = err
	}
	return err != nil
}

// occurrences gives what an event of the past was to the campaign.
func (h *hindsight) occurrences(r *Run, e *PastEvent) []*occurrence {
	o := &occurrence{Run: r, action: h.campaign.Trigger, event: &e.Event, asOf: -1} // nobody looked at the customer yet
	final := e.final()
	if t := r.account.transactions[e.Transaction]; t != nil && e.Effects != nil && e.Effects.Transaction != nil {
		t = t.asOf(e.Effects.Transaction, final)
		r.account.transactions[e.Transaction] = t
		if final {
			o.transaction = t
		}
	}
	switch h.campaign.Trigger {
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
	if e.Action != h.campaign.Trigger && h.campaign.Trigger != "checkout" {
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
