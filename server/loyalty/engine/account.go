package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// account is one customer inside a batch: what was loaded, and what the events
// of the batch made of it so far. An event works on a copy, which takes the
// original's place only when the event succeeds.
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
}

// open makes an account of loaded rows. The rows themselves stay untouched:
// the guards of the write compare with them.
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
		if t.Holder == l.Customer.ID { // the purchase of another customer is as good as none
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

// copy gives an event its own account to work on.
// What rules write through a pointer is copied deeply, what they replace as a whole is
// shared: a refused event must leave nothing to the next one of its batch, and most
// accounts of a batch are copied more than once.
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
	c.progress = maps.Clone(a.progress) // a change puts a new one in its place
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

// nextDue is the earliest instant at which something of the account is due. It
// is exact after everything was loaded (complete), and otherwise no later than
// the truth.
// A date that is too early costs a look that finds nothing; one that is too late leaves
// points good that have expired.
func (a *account) nextDue(book *points.Book, complete bool) time.Time {
	if a.customer.Status == loyalty.Merged {
		return time.Time{} // whatever comes due is the target's
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

// write adds the account's final rows to the batch's writes.
func (a *account) write(w *loyalty.Writes) {
	id := a.customer.ID
	if a.loaded == nil {
		w.NewCustomers = append(w.NewCustomers, a.customer)
	} else {
		w.Customers = append(w.Customers, loyalty.Changed[loyalty.Customer]{Before: a.loaded.Customer, After: a.customer})
	}
	for _, p := range a.postings {
		w.Postings = append(w.Postings, loyalty.CustomerPosting{Customer: id, Posting: p})
	}
	if a.destroyKey {
		w.DestroyKeys = append(w.DestroyKeys, id)
	}
	w.Freed = append(w.Freed, a.freed...)
	a.writeLots(w)
	a.writeTransactions(w)
	a.writeReservations(w)
	a.writeProgress(w)
	a.writeClaims(w)
	w.Moved = append(w.Moved, a.moved...)
}

// writeLots adds the lots that differ: an event reads all that may pay and moves points of
// few. Each is written under a guard of what it was.
func (a *account) writeLots(w *loyalty.Writes) {
	var known int
	if a.loaded != nil {
		known = len(a.loaded.Lots) // copies keep their order: loaded first
		for i, before := range a.loaded.Lots {
			if after := *a.lots[i]; after != before {
				w.Lots = append(w.Lots, loyalty.Changed[loyalty.CustomerLot]{Before: loyalty.CustomerLot{Customer: a.customer.ID, Lot: before}, After: loyalty.CustomerLot{Customer: a.customer.ID, Lot: after}})
			}
		}
	}
	for _, l := range a.lots[known:] {
		w.NewLots = append(w.NewLots, loyalty.CustomerLot{Customer: a.customer.ID, Lot: *l})
	}
}

// writeTransactions adds the purchases that changed. One is marked by whoever changes it,
// and not compared: it is a document of up to thousands of lines.
func (a *account) writeTransactions(w *loyalty.Writes) {
	for _, name := range slices.Sorted(maps.Keys(a.transactions)) {
		after := a.transactions[name]
		if before, ok := a.was(name); !ok {
			w.NewTransactions = append(w.NewTransactions, *after)
		} else if after.Dirty {
			w.Transactions = append(w.Transactions, loyalty.Changed[loyalty.Transaction]{Before: before, After: *after})
		}
	}
}

// was is a purchase as it was loaded, which is what the guard of its write compares with.
func (a *account) was(name string) (loyalty.Transaction, bool) {
	if a.loaded == nil {
		return loyalty.Transaction{}, false
	}
	t, ok := a.loaded.Transactions[name]
	return t, ok
}

// writeReservations adds the holds that changed. One that ended is written as an empty
// one: the store deletes its row under the same guard, so that two releases of one hold
// cannot both succeed.
func (a *account) writeReservations(w *loyalty.Writes) {
	for _, name := range slices.Sorted(maps.Keys(a.reservations)) {
		after := a.reservations[name]
		before, ok := loyalty.Reservation{}, false
		if a.loaded != nil {
			before, ok = a.loaded.Reservations[name]
		}
		switch {
		case ok && !slices.Equal(before.Hold, after.Hold):
			w.Reservations = append(w.Reservations, loyalty.Changed[loyalty.Reservation]{Before: before, After: *after})
		case !ok && len(after.Hold) > 0:
			w.NewReservations = append(w.NewReservations, *after)
		}
	}
}

// Progress reads the customer's progress of a kind under a key into v, and says
// whether there is one.
func (r *Run) Progress(k loyalty.ProgressKind, key string, v any) (bool, error) {
	if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(k)}); err != nil {
		return false, err
	}
	s, ok := r.account.progress[loyalty.ProgressKey{Kind: k, Key: key}]
	if !ok || s.Data == nil {
		return false, nil
	}
	if err := json.Unmarshal(s.Data, v); err != nil {
		return false, fmt.Errorf("progress %d %q: %w", k, key, err)
	}
	return true, nil
}

// ProgressOf lists the keys of the customer's progress of a kind, in order.
func (r *Run) ProgressOf(k loyalty.ProgressKind) ([]string, error) {
	if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(k)}); err != nil {
		return nil, err
	}
	var keys []string
	for key, s := range r.account.progress {
		if key.Kind == k && s.Data != nil {
			keys = append(keys, key.Key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// SetProgress changes a progress in the name of an event of this customer, or of a
// later one of the submission that carries this progress already: the journal is
// folded in the order of its ids. due is when it must be looked at next, zero for
// never. A nil v removes it.
func (r *Run) SetProgress(e *loyalty.Event, key loyalty.ProgressKey, v any, due time.Time) error {
	if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(key.Kind)}); err != nil {
		return err
	}
	s := &loyalty.Progress{Customer: r.Customer.ID, ProgressKey: key, Dirty: true}
	if v != nil {
		s.Data, s.DueAt = loyalty.JSON(v), due
	}
	r.account.progress[key] = s
	carries := func(o loyalty.Progress) bool { return o.ProgressKey == key }
	for _, o := range r.work.events {
		if o.Customer == e.Customer && loyalty.CompareID(o.ID, e.ID) > 0 && o.Effects != nil && slices.ContainsFunc(o.Effects.Progress, carries) {
			e = o
		}
	}
	effects := e.Tell()
	effects.Progress = slices.DeleteFunc(effects.Progress, carries)
	effects.Progress = append(effects.Progress, *s)
	return nil
}

// nextProgress is the progress whose date came first; nil: none did.
func (r *Run) nextProgress() *loyalty.Progress {
	var next *loyalty.Progress
	for _, s := range r.account.progress {
		if s.Data == nil || s.DueAt.IsZero() || s.DueAt.After(r.Now) {
			continue
		}
		if next == nil || s.Before(next) {
			next = s
		}
	}
	return next
}

// writeProgress adds the progress that changed to the batch's writes.
// One that was made and removed again within the batch never had a row.
func (a *account) writeProgress(w *loyalty.Writes) {
	for _, key := range slices.SortedFunc(maps.Keys(a.progress), loyalty.CompareProgress) {
		after := a.progress[key]
		if !after.Dirty {
			continue
		}
		if before, ok := a.storedProgress(key); ok {
			w.Progress = append(w.Progress, loyalty.Changed[loyalty.Progress]{Before: before, After: *after})
		} else if after.Data != nil {
			w.NewProgress = append(w.NewProgress, *after)
		}
	}
}

// storedProgress is a progress as it was loaded, for the guard; false: there is no row
// yet.
func (a *account) storedProgress(key loyalty.ProgressKey) (loyalty.Progress, bool) {
	if a.loaded == nil {
		return loyalty.Progress{}, false
	}
	s, ok := a.loaded.Progress[key]
	return s, ok
}
