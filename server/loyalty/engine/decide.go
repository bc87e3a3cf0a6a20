package engine

import (
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// run decides one ticket. A refused ticket leaves nothing behind but its stored answer.
func (b *batch) run(t *Ticket) {
	t.Result, t.itemDone = loyalty.Result{}, false
	if t.item != (loyalty.BulkKey{}) && !b.loaded.Items[t.item] {
		t.itemDone = true
		return
	}

	replayed, err := b.replay(t)
	if replayed != nil || err != nil {
		t.Result = loyalty.Result{Outcome: loyalty.Outcome{Replayed: replayed}, Err: err}
		return
	}

	if t.err != nil {
		t.Result.Err = t.err
	} else {
		t.Result = b.decide(t)
	}

	if t.preview {
		return
	}

	b.remember(t)
	b.tick(t)
}

// decide finds the customer, runs the rules on a copy and keeps the copy if they accept.
func (b *batch) decide(t *Ticket) (result loyalty.Result) {
	defer func() {
		// A panic in one event's rules must not fail its neighbours in the batch.
		if fault := recover(); fault != nil {
			result = loyalty.Result{Err: loyalty.ErrInternal.Because(fmt.Errorf("%v\n%s", fault, debug.Stack()))}
		}
	}()

	original, err := b.find(t)
	if err != nil {
		if t.off != nil && errors.Is(err, loyalty.ErrCustomerNotFound) {
			return loyalty.Result{Outcome: loyalty.Outcome{Trace: refusedAtOnce(t.off)},
				Err: loyalty.PrefixFields(t.off, t.sub.At)}
		}
		return loyalty.Result{Err: loyalty.PrefixFields(err, t.sub.At)}
	}

	r := b.newRun(t, original)
	if err := t.decide(r); err != nil {
		return loyalty.Result{Outcome: loyalty.Outcome{Trace: r.work.trace}, Err: err}
	}
	// A settlement that found nothing due writes nothing: otherwise its version guard could make an
	// event of the same customer begin again.
	if len(r.work.events) == 0 && !r.changed && r.Customer.DueAt.Equal(original.customer.DueAt) {
		return loyalty.Result{Outcome: outcomeOf(r)}
	}

	r.work.close()
	outcome := outcomeOf(r)
	for _, w := range r.work.warnings {
		outcome.Warnings = append(outcome.Warnings, loyalty.AsError(loyalty.PrefixFields(w, t.sub.At)))
	}

	if t.preview {
		outcome.Touched = touchedLots(r, original)
		return loyalty.Result{Outcome: outcome}
	}

	b.keepWork(r.work)
	return loyalty.Result{Outcome: outcome}
}

// find returns the account of the ticket's customer, or begins a new one if the action may.
func (b *batch) find(t *Ticket) (*account, error) {
	if t.Needs.ID != (loyalty.ID{}) {
		if a, ok := b.accounts[t.Needs.ID]; ok {
			return a, nil
		}
		return nil, loyalty.ErrCustomerNotFound
	}

	if id, ok := b.names[t.Needs.Ref]; ok {
		if a, ok := b.accounts[id]; ok {
			return b.survivor(a, t.Needs)
		}
		return nil, loyalty.ErrBatchConflict // the name moved while loading
	}

	if !t.bound.creates || t.Needs.Ref.Kind != loyalty.NameCustomer {
		return nil, loyalty.ErrCustomerNotFound.At("customer")
	}

	return b.begin(t)
}

// begin opens the account of a new customer, or takes over the inactive profile with the same
// e-mail address, which keeps its rows and gets the new identifier.
func (b *batch) begin(t *Ticket) (*account, error) {
	if err := loyalty.CheckName("customer", t.sub.Customer); err != nil {
		return nil, err
	}
	if id, ok := b.emails[t.Needs.Email]; ok && t.Needs.Email != "" {
		if a, ok := b.accounts[id]; ok && a.customer.Status == loyalty.Inactive {
			return a, nil
		}
		return nil, loyalty.ErrBatchConflict // the batch enrolled the loaded one; load again
	}
	return b.fresh(t.sub.Customer), nil
}

func (b *batch) newRun(t *Ticket, original *account) *Run {
	r := b.openRun(t.programme, original,
		&work{tracing: t.preview, unseen: t.unseen, seed: &t.seed, imported: t.sub.Imported, sender: t.sub.Sender})
	r.Data, r.stored = t.data, &t.stored
	owner, known := b.names[t.Needs.Ref]
	r.followed = known && t.Needs.ID == (loyalty.ID{}) && owner != original.customer.ID
	return r
}

// keepWork makes the effects of a submission part of the batch.
func (b *batch) keepWork(w *work) {
	for i, r := range w.runs {
		// Accounts that were only read are left out: their guard could only make other writers
		// begin again.
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

	for id, c := range w.coupons {
		b.coupons[id], b.changed[id] = c, true
	}

	maps.Copy(b.tallies, w.tallies)
	b.writes.CampaignMerges = append(b.writes.CampaignMerges, w.joined...)
}

// touches reports whether anything was recorded for a customer: every change is recorded on one of the customer's
// events.
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

// followEmail keeps the index of inactive profiles by e-mail address correct for the later events
// of the batch: two sign-ups with one address in one batch must have the same effect as in two
// batches.
func (b *batch) followEmail(before *account, after *loyalty.Customer) {
	if before != nil && before.customer.Status == loyalty.Inactive {
		if key := loyalty.EmailKey(before.customer.Profile.Email); b.emails[key] == after.ID {
			b.emails[key] = loyalty.ID{} // there may be another one, which was not loaded
		}
	}
	b.followMatches(before, after)
	key := loyalty.EmailKey(after.Profile.Email)
	if _, asked := b.emails[key]; after.Status == loyalty.Inactive && key != "" && !asked {
		b.emails[key] = after.ID
	}
}

// followMatches marks the matches by e-mail address that the batch itself may have made wrong; an event that asks for
// one later must load again. Only the database can tell the right match, because it is the oldest among all customers.
func (b *batch) followMatches(before *account, after *loyalty.Customer) {
	keys := []string{loyalty.EmailKey(after.Profile.Email)}
	if before != nil {
		if before.customer.Profile.Email == after.Profile.Email && before.customer.Status == after.Status {
			return
		}
		keys = append(keys, loyalty.EmailKey(before.customer.Profile.Email))
	}
	for _, key := range keys {
		if key != "" {
			b.stale[key] = true
		}
	}
}

// wants adds what a run turned out to need to the ticket's needs, and returns false if it failed for another reason. A
// run that never stops asking has a faulty rule.
func (t *Ticket) wants(err error) bool {
	var w *NeedMoreError
	if !errors.As(err, &w) || t.asked >= maxMore {
		return false
	}
	t.asked++
	t.more = append(append(t.more, w.needs), w.more...)
	return true
}

// maxMore is how often a run may need rows that were not loaded. The longest legitimate chain of such needs, that of a
// merge whose source had many merges, is far shorter.
const maxMore = 64

// close brings the submission's working copies to their final form.
func (w *work) close() {
	for _, r := range w.runs {
		payDebt(r.Book)
		r.account.close(r.Book, r.full)
	}
	w.sum()
}

// sum adds up the effect of each event on the spendable balance. Postings come almost in the order of their events, so
// each search begins where the last one ended.
func (w *work) sum() {
	at := 0
	for _, r := range w.runs {
		for _, p := range r.Book.Postings {
			for tried := 0; tried < len(w.events); tried++ {
				if w.events[at].ID == loyalty.ID(p.Event) {
					w.events[at].Change += p.Change()
					break
				}
				at = (at + 1) % len(w.events)
			}
		}
	}
}

// close records the final points; complete reports whether everything that can fall due was loaded.
func (a *account) close(book *points.Book, complete bool) {
	a.lots = book.Lots()
	a.postings = append(a.postings, book.Postings...)
	a.customer.Figures = book.Figures
	a.customer.DueAt = a.nextDue(book, complete)
	if a.loaded != nil {
		a.customer.Version = a.loaded.Customer.Version + 1
	}
}
