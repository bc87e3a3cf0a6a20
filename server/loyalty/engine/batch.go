package engine

import (
	"context"
	"maps"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// batch is the work of one transaction: the loaded rows, and what the tickets made of them, in order.
type batch struct {
	rules    *rulebook
	ctx      context.Context // ends the decision; nil: nothing does
	now      time.Time
	loaded   *loyalty.Loaded
	asked    asked
	accounts map[loyalty.ID]*account
	touched  []loyalty.ID // accounts to write, in the order of first touch
	names    map[loyalty.Name]loyalty.ID
	emails   map[string]loyalty.ID
	answers  map[loyalty.AnswerKey]loyalty.Answer
	coupons  map[loyalty.ID]*loyalty.Coupon // as the events so far left them
	changed  map[loyalty.ID]bool            // the coupons to write
	stale    map[string]bool                // e-mails whose match the batch may have changed
	merged   map[loyalty.ID]bool            // customers of a merge in this batch, which must be loaded again
	free     map[string][]loyalty.Coupon
	tallies  map[string]int64
	gifts    map[giftKey]*loyalty.CampaignFigures
	reading  bool // nothing of it is written
	writes   loyalty.Writes
}

// newBatch begins with the loaded rows. Rows that events change are copied, because the guards of the write compare
// with the loaded ones; lists that events only add to are used directly.
func newBatch(rules *rulebook, l *loyalty.Loaded, n loyalty.Needs) *batch {
	b := &batch{
		rules: rules, now: n.Now, loaded: l, reading: n.Reading,
		accounts: make(map[loyalty.ID]*account, len(l.Customers)),
		names:    l.Names, emails: l.Emails, answers: l.Answers,
		coupons: make(map[loyalty.ID]*loyalty.Coupon, len(l.Coupons)), changed: map[loyalty.ID]bool{},
		stale: map[string]bool{}, merged: map[loyalty.ID]bool{}, free: l.Free, tallies: maps.Clone(l.Tallies),
	}

	if b.names == nil {
		b.names = map[loyalty.Name]loyalty.ID{}
	}
	if b.emails == nil {
		b.emails = map[string]loyalty.ID{}
	}
	if b.answers == nil {
		b.answers = map[loyalty.AnswerKey]loyalty.Answer{}
	}
	if b.tallies == nil {
		b.tallies = map[string]int64{}
	}

	for id, c := range l.Coupons {
		b.coupons[id] = &c
	}

	for id, loading := range l.Customers {
		b.accounts[id] = open(loading)
	}

	b.cover(n)
	return b
}

// fresh makes the account of a new customer.
func (b *batch) fresh(name string) *account {
	return &account{
		customer: loyalty.Customer{
			ID: loyalty.NewID(b.now, loyalty.ID{}), Name: name, CreatedAt: b.now, UpdatedAt: b.now,
			Key: loyalty.NewCustomerKey(),
		},
		scope:        loyalty.UsedLots,
		transactions: map[string]*loyalty.Transaction{},
		reservations: map[string]*loyalty.Reservation{},
		progress:     map[loyalty.ProgressKey]*loyalty.Progress{},
		claims:       map[loyalty.ID]*loyalty.RewardClaim{},
	}
}

// openRun begins a run on a copy of an account.
func (b *batch) openRun(p *programme.Programme, original *account, w *work) *Run {
	a := original.copy()
	r := &Run{Programme: p, Customer: &a.customer, Now: b.now, At: b.now, batch: b, account: a, work: w}
	r.Book = points.NewBook(a.customer.Figures, a.customer.LastActivityAt, p.Location, a.lots)
	// Rows that can fall due are loaded only if something was due at the time of loading: if an event of this batch
	// made something due, purchases that wait for a later date may be missing.
	r.full = a.loaded == nil ||
		(a.scope >= loyalty.OpenLots && !a.loaded.Customer.DueAt.IsZero() && !a.loaded.Customer.DueAt.After(b.now))
	w.runs = append(w.runs, r)
	return r
}

// giftKey identifies the figures of a campaign for a customer.
type giftKey struct {
	customer loyalty.ID
	campaign string
}
