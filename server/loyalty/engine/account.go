package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// account is one customer within a batch: the rows that were loaded, and what the events of the
// batch made of them so far. An event works on a copy, which replaces the original only when the
// event succeeds.
type account struct {
	loaded       *loyalty.Loading // as the store gave it; nil: created in this batch
	customer     loyalty.Customer
	scope        loyalty.LotScope
	lots         []*points.Lot
	transactions map[string]*loyalty.Transaction
	reservations map[string]*loyalty.Reservation
	progress     map[loyalty.ProgressKey]*loyalty.Progress
	claims       map[loyalty.ID]*loyalty.RewardClaim
	covered      coverage
	moved        []loyalty.Changed[loyalty.Transaction]
	postings     []points.Posting
	freed        []loyalty.Claim
	destroyKey   bool
	coupon       loyalty.ID // what couponID gave last
}

// open makes an account from loaded rows. The rows themselves stay untouched, because the guards of
// the write compare with them.
func open(l *loyalty.Loading) *account {
	a := &account{
		loaded:       l,
		customer:     l.Customer,
		scope:        l.LotScope,
		transactions: make(map[string]*loyalty.Transaction, len(l.Transactions)),
		reservations: make(map[string]*loyalty.Reservation, len(l.Reservations)),
		progress:     make(map[loyalty.ProgressKey]*loyalty.Progress, len(l.Progress)),
		claims:       make(map[loyalty.ID]*loyalty.RewardClaim, len(l.Claims)),
	}

	for i := range l.Lots {
		lot := l.Lots[i]
		a.lots = append(a.lots, &lot)
	}

	for name, t := range l.Transactions {
		if t.Holder == l.Customer.ID { // another customer's purchase counts as not found
			a.transactions[name] = t.Clone()
		}
	}

	for name, r := range l.Reservations {
		a.reservations[name] = &r
	}

	for key, s := range l.Progress {
		a.progress[key] = &s
	}

	for id, c := range l.Claims {
		a.claims[id] = &c
	}

	return a
}

// copy gives an event its own account to work on. Values that rules change through a pointer are copied deeply; values
// that they replace as a whole are shared. A refused event must leave nothing behind for the next event of its batch,
// and most accounts of a batch are copied more than once.
func (a *account) copy() *account {
	c := *a
	c.lots = make([]*points.Lot, len(a.lots))
	for i, l := range a.lots {
		lot := *l
		c.lots[i] = &lot
	}

	c.transactions = make(map[string]*loyalty.Transaction, len(a.transactions))
	for name, t := range a.transactions {
		c.transactions[name] = t.Clone()
	}

	c.reservations = make(map[string]*loyalty.Reservation, len(a.reservations))
	for name, r := range a.reservations {
		reservation := *r
		c.reservations[name] = &reservation
	}

	c.progress = maps.Clone(a.progress) // a change replaces the entry instead of writing through it
	c.claims = make(map[loyalty.ID]*loyalty.RewardClaim, len(a.claims))
	for id, claim := range a.claims {
		copied := *claim
		copied.Burn = slices.Clone(claim.Burn)
		c.claims[id] = &copied
	}

	c.moved = slices.Clip(a.moved)
	c.postings = slices.Clip(a.postings)
	c.freed = slices.Clip(a.freed)
	return &c
}

// nextDue is the earliest instant at which something of the account falls due. It is exact after everything was loaded
// (complete), and otherwise never later than the truth: a date that is too early costs a look that finds nothing, a
// date that is too late leaves expired points spendable.
func (a *account) nextDue(book *points.Book, complete bool) time.Time {
	if a.customer.Status == loyalty.Merged {
		return time.Time{} // what falls due belongs to the target of the merge
	}

	due := a.customer.DueAt
	if complete {
		due = time.Time{}
	}

	due = loyalty.Earlier(due, book.NextExpiry())
	for _, t := range a.transactions {
		if t.State == loyalty.Pending {
			due = loyalty.Earlier(due, t.AutoAccept)
		}
	}

	for _, s := range a.progress {
		if s.Data != nil {
			due = loyalty.Earlier(due, s.DueAt)
		}
	}

	return due
}

// lists are the ids of the customer lists that the customer is on, as far as they
// were loaded.
func (a *account) lists() []string {
	if l := a.was().Lists; l != nil {
		return l
	}
	return []string{}
}

// nextAcceptance returns the pending purchase with the earliest acceptance date that has passed;
// nil if none has.
func (a *account) nextAcceptance(now time.Time) *loyalty.Transaction {
	var next *loyalty.Transaction
	for _, t := range a.transactions {
		if t.State != loyalty.Pending || t.AutoAccept.IsZero() || t.AutoAccept.After(now) {
			continue
		}
		if next == nil || t.AutoAccept.Before(next.AutoAccept) ||
			(t.AutoAccept.Equal(next.AutoAccept) && t.Name < next.Name) {
			next = t
		}
	}
	return next
}

// nextProgress returns the progress with the earliest date that has passed; nil if none has.
func (a *account) nextProgress(now time.Time) *loyalty.Progress {
	var next *loyalty.Progress
	for _, s := range a.progress {
		if s.Data == nil || s.DueAt.IsZero() || s.DueAt.After(now) {
			continue
		}
		if next == nil || s.Before(next) {
			next = s
		}
	}
	return next
}

// was returns the rows as the store loaded them, which the guards of the writes compare with; empty for a customer
// created in this batch.
func (a *account) was() *loyalty.Loading {
	if a.loaded == nil {
		return &unloaded
	}
	return a.loaded
}

var unloaded loyalty.Loading

// tiers returns the tier reached in each structure, as far as it was loaded.
func (a *account) tiers() map[string]string {
	reached := map[string]string{}
	for key, p := range a.progress {
		var at tierOnly
		if key.Kind == loyalty.ProgressTier && p.Data != nil && loyalty.ReadInto(p.Data, &at) == nil && at.Tier != "" {
			reached[key.Key] = at.Tier
		}
	}
	return reached
}

// tierOnly is the tier in the document of a tier's progress.
type tierOnly struct {
	Tier string `json:"tier"`
}

// ReadDocument reads the tier and skips the rest.
func (t *tierOnly) ReadDocument(text json.RawMessage) error {
	return loyalty.EachMember(text, func(name, value []byte) error {
		if string(name) == "tier" {
			return loyalty.ReadText(value, &t.Tier)
		}
		return nil
	})
}
