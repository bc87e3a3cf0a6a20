package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// batch is the work of one transaction: the rows that were loaded, and what the
// tickets made of them, in order.
type batch struct {
	engine   *Engine
	ctx      context.Context // ends the decision; nil: nothing does
	now      time.Time
	loaded   *loyalty.Loaded
	asked    asked
	accounts map[loyalty.ID]*account
	touched  []loyalty.ID // accounts to write, in the order of first touch
	names    map[loyalty.Name]loyalty.ID
	emails   map[string]loyalty.ID
	answers  map[loyalty.AnswerKey]loyalty.Answer
	coupons  map[string]*loyalty.Coupon // by code, as the events so far left them
	changed  map[string]bool            // codes of the coupons to write
	stale    map[string]bool            // e-mails whose match may be another by now
	merged   map[loyalty.ID]bool        // customers of a merge in this batch: they must be loaded again
	free     map[string][]loyalty.Coupon
	tallies  map[string]int64
	gifts    map[giftKey]*loyalty.CampaignFigures
	writes   loyalty.Writes
}

func (e *Engine) newBatch(l *loyalty.Loaded, n loyalty.Needs) *batch {
	b := &batch{
		engine: e, now: n.Now, loaded: l,
		accounts: make(map[loyalty.ID]*account, len(l.Customers)),
		names:    l.Names, emails: l.Emails, answers: l.Answers,
		coupons: make(map[string]*loyalty.Coupon, len(l.Coupons)), changed: map[string]bool{}, stale: map[string]bool{}, merged: map[loyalty.ID]bool{}, free: l.Free, tallies: maps.Clone(l.Tallies),
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
	for code, c := range l.Coupons {
		b.coupons[code] = &c
	}
	for id, loading := range l.Customers {
		b.accounts[id] = open(loading)
	}
	b.cover(n)
	return b
}

// runAll decides the tickets in order. It fails with ErrBatchConflict or
// errIncomplete where they must be decided again on what is loaded then.
func (b *batch) runAll(tickets []*Ticket) error {
	incomplete := false
	for _, t := range tickets {
		b.run(t)
		if errors.Is(t.result.Err, loyalty.ErrBatchConflict) {
			return loyalty.ErrBatchConflict
		}
		// The others go on: what they come upon is loaded by the same round trip.
		incomplete = t.wants(t.result.Err) || incomplete
	}
	if incomplete {
		return errIncomplete
	}
	return nil
}

// run decides one ticket. A ticket that is refused leaves nothing behind but
// its stored answer.
func (b *batch) run(t *Ticket) {
	t.result = loyalty.Result{}
	if t.item != (loyalty.BulkKey{}) && !b.loaded.Items[t.item] {
		t.result.Err = errItemDone
		return
	}
	replayed, err := b.replay(t)
	if replayed != nil || err != nil {
		t.result = loyalty.Result{Outcome: loyalty.Outcome{Replayed: replayed}, Err: err}
		return
	}
	if t.err != nil {
		t.result.Err = t.err
	} else {
		t.result = b.decide(t)
	}
	if t.preview {
		return
	}
	b.remember(t)
	b.tick(t)
}

// decide finds the customer, runs the rules on a copy and keeps the copy when
// they agree.
func (b *batch) decide(t *Ticket) (result loyalty.Result) {
	defer func() {
		// A fault in one event's rules must not take its neighbours along.
		if fault := recover(); fault != nil {
			result = loyalty.Result{Err: loyalty.ErrInternal.Because(fmt.Errorf("%v\n%s", fault, debug.Stack()))}
		}
	}()
	original, err := b.find(t)
	if err != nil {
		if t.off != nil && errors.Is(err, loyalty.ErrCustomerNotFound) {
			return loyalty.Result{Outcome: loyalty.Outcome{Trace: refusedAtOnce(t.off)}, Err: loyalty.PrefixFields(t.off, t.sub.At)}
		}
		return loyalty.Result{Err: loyalty.PrefixFields(err, t.sub.At)}
	}
	r := b.newRun(t, original)
	if err := r.all(t); err != nil {
		return loyalty.Result{Outcome: loyalty.Outcome{Trace: r.work.trace}, Err: err}
	}
	// A look that found nothing due writes nothing: it must not take the version from an
	// event of the same customer.
	if len(r.work.events) == 0 && !r.changed && r.Customer.DueAt.Equal(original.customer.DueAt) {
		return loyalty.Result{Outcome: r.outcome()}
	}
	r.work.close()
	outcome := r.outcome()
	for _, w := range r.work.warnings {
		outcome.Warnings = append(outcome.Warnings, loyalty.AsError(loyalty.PrefixFields(w, t.sub.At)))
	}
	if t.preview {
		outcome.Touched = r.touched(original)
		return loyalty.Result{Outcome: outcome}
	}
	b.keepWork(r.work)
	return loyalty.Result{Outcome: outcome}
}

// find resolves the ticket's customer, or begins a new one where the action may.
func (b *batch) find(t *Ticket) (*account, error) {
	if t.needs.ID != (loyalty.ID{}) {
		if a, ok := b.accounts[t.needs.ID]; ok {
			return a, nil
		}
		return nil, loyalty.ErrCustomerNotFound
	}
	if id, ok := b.names[t.needs.Ref]; ok {
		if a, ok := b.accounts[id]; ok {
			return b.survivor(a, t.needs)
		}
		return nil, loyalty.ErrBatchConflict // the name moved while loading
	}
	if !t.bound.creates || t.needs.Ref.Kind != loyalty.NameCustomer {
		return nil, loyalty.ErrCustomerNotFound.At("customer")
	}
	return b.begin(t)
}

// begin opens the account of a new customer, or takes over the inactive profile
// with the same e-mail, which keeps its rows and gets the new identifier.
func (b *batch) begin(t *Ticket) (*account, error) {
	if err := loyalty.CheckName("customer", t.sub.Customer); err != nil {
		return nil, err
	}
	if id, ok := b.emails[t.needs.Email]; ok && t.needs.Email != "" {
		if a, ok := b.accounts[id]; ok && a.customer.Status == loyalty.Inactive {
			return a, nil
		}
		return nil, loyalty.ErrBatchConflict // the batch enrolled the one that was loaded; load again
	}
	return b.fresh(t.sub.Customer), nil
}

// fresh is the account of a new customer.
func (b *batch) fresh(name string) *account {
	return &account{
		customer: loyalty.Customer{
			ID: loyalty.NewID(b.now, loyalty.ID{}), Name: name, CreatedAt: b.now, UpdatedAt: b.now, Key: loyalty.NewCustomerKey(),
		},
		scope:        loyalty.UsedLots,
		transactions: map[string]*loyalty.Transaction{},
		reservations: map[string]*loyalty.Reservation{},
		progress:     map[loyalty.ProgressKey]*loyalty.Progress{},
		claims:       map[loyalty.ID]*loyalty.RewardClaim{},
	}
}

func (b *batch) newRun(t *Ticket, original *account) *Run {
	r := b.openRun(t.programme, original, &work{tracing: t.preview, seed: &t.seed, imported: t.sub.Imported})
	r.Data, r.stored = t.data, &t.stored
	owner, known := b.names[t.needs.Ref]
	r.followed = known && t.needs.ID == (loyalty.ID{}) && owner != original.customer.ID
	return r
}

// openRun begins to work on a copy of an account.
func (b *batch) openRun(p *programme.Programme, original *account, w *work) *Run {
	a := original.copy()
	r := &Run{Programme: p, Customer: &a.customer, Now: b.now, At: b.now, batch: b, account: a, work: w}
	r.Book = points.NewBook(a.customer.Figures, a.customer.LastActivityAt, a.lots)
	// What can be due was loaded only if something was due then: an event of this
	// batch that made something due loaded no purchases that wait for a later date.
	r.full = a.loaded == nil || (a.scope >= loyalty.OpenLots && !a.loaded.Customer.DueAt.IsZero() && !a.loaded.Customer.DueAt.After(b.now))
	w.runs = append(w.runs, r)
	return r
}

// keepWork makes what a submission did part of the batch.
func (b *batch) keepWork(w *work) {
	for i, r := range w.runs {
		// Accounts that were only looked at are left out: their guard could only make
		// others begin again.
		if i == 0 || r.changed || w.touches(r.Customer.ID) {
			b.keep(r)
		}
	}
	for _, id := range w.merged {
		b.merged[id] = true
	}
	for _, c := range w.claims {
		b.names[c.Name] = c.Owner
	}
	b.writes.Claims = append(b.writes.Claims, w.claims...)
	b.writes.Members = append(b.writes.Members, w.members...)
	for _, e := range w.events {
		b.writes.Events = append(b.writes.Events, *e)
		b.noteGifts(e)
	}
	for code, c := range w.coupons {
		b.coupons[code], b.changed[code] = c, true
	}
	maps.Copy(b.tallies, w.tallies)
	b.writes.CampaignMerges = append(b.writes.CampaignMerges, w.joined...)
}

// touches says whether anything was recorded for a customer: every change is made
// in the name of an event of theirs.
func (w *work) touches(id loyalty.ID) bool {
	return slices.ContainsFunc(w.events, func(e *loyalty.Event) bool { return e.Customer == id })
}

// keep makes a run's account part of the batch.
func (b *batch) keep(r *Run) {
	id := r.Customer.ID
	if !slices.Contains(b.touched, id) {
		b.touched = append(b.touched, id)
	}
	b.followEmail(b.accounts[id], &r.account.customer)
	b.accounts[id] = r.account
	for _, f := range r.account.freed {
		// the same submission may have given the name to another customer
		if b.names[f.Name] == f.Owner {
			delete(b.names, f.Name)
		}
	}
}

// followEmail keeps the inactive profiles by e-mail right for the events that
// follow in the batch.
// Two sign-ups by one e-mail in one batch must meet as they would in two.
func (b *batch) followEmail(before *account, after *loyalty.Customer) {
	if before != nil && before.customer.Status == loyalty.Inactive {
		if key := loyalty.EmailKey(before.customer.Profile.Email); b.emails[key] == after.ID {
			b.emails[key] = loyalty.ID{} // there may be another, which was not loaded
		}
	}
	b.followMatches(before, after)
	key := loyalty.EmailKey(after.Profile.Email)
	if _, asked := b.emails[key]; after.Status == loyalty.Inactive && key != "" && !asked {
		b.emails[key] = after.ID
	}
}

// result gathers the final rows: one per key, whatever happened in between.
// Guards compare with what was loaded: a second write of the same row by one batch would
// meet the first one's.
func (b *batch) result() *loyalty.Writes {
	for _, id := range b.touched {
		b.accounts[id].write(&b.writes)
	}
	b.writeCoupons()
	b.writeTallies()
	b.writeGifts()
	return &b.writes
}

// rests says whether all that the tickets came to is guarded by what is written: each did
// something, to its own customer, and every purchase that was expected to be new was opened.
func (b *batch) rests(tickets []*Ticket) bool {
	touched := make(map[loyalty.ID]bool, len(b.touched))
	for _, id := range b.touched {
		touched[id] = true
	}
	opened := map[string]bool{}
	for i := range b.writes.Claims {
		if c := &b.writes.Claims[i]; c.Kind == loyalty.NameTransaction {
			opened[c.Value] = true
		}
	}
	for _, t := range tickets {
		if t.result.Err != nil || t.result.Outcome.Replayed != nil || !touched[b.names[t.needs.Ref]] {
			return false
		}
		for _, name := range t.needs.Transactions {
			if !opened[name] {
				return false
			}
		}
	}
	return true
}

// left is how the batch leaves a customer.
func (b *batch) left(id loyalty.ID) left {
	a := b.accounts[id]
	l := left{was: a.loaded, kinds: a.covered.progress, progress: a.progress, forget: len(a.freed) > 0 || a.destroyKey}
	if a.loaded == nil || a.covered.everything {
		l.kinds = ^loyalty.ProgressKinds(0)
	}
	return l
}
