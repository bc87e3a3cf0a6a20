package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// NeedMoreError ends a run that came upon something which was not loaded: the batch is
// loaded again with these needs added. What an event needs is declared before
// wherever it can be known, because this costs a round trip.
type NeedMoreError struct {
	needs loyalty.CustomerNeeds
	more  []loyalty.CustomerNeeds
}

func (w *NeedMoreError) Error() string {
	return fmt.Sprintf("more must be loaded: %+v %+v", w.needs, w.more)
}

// asked is what a batch asked the store for besides its customers' own rows:
// what is not found although it was asked for is not there.
type asked struct {
	people  map[person]bool
	names   map[loyalty.Name]bool
	pools   map[string]int
	tallies map[string]bool
	version bool
}

// person is a customer as needs name one.
type person struct {
	ref   loyalty.Name
	id    loyalty.ID
	match string
}

func personOf(n *loyalty.CustomerNeeds) person {
	switch {
	case n.ID != (loyalty.ID{}):
		return person{id: n.ID}
	case n.Match != "":
		return person{match: n.Match}
	}
	return person{ref: n.Ref}
}

// coverage says which rows of an account were loaded.
type coverage struct {
	progress         loyalty.ProgressKinds
	key, claims      bool
	lists, codes     bool
	past, everything bool
	bought, held     map[string]bool     // transaction_ids
	opened           map[loyalty.ID]bool // lots
}

// cover notes what was asked for.
func (b *batch) cover(n loyalty.Needs) {
	b.asked = asked{map[person]bool{}, map[loyalty.Name]bool{}, map[string]int{}, map[string]bool{}, n.Version}
	for i := range n.Customers {
		c := &n.Customers[i]
		b.asked.people[personOf(c)] = true
		b.asked.shared(c)
		if a := b.accounts[b.idOf(personOf(c))]; a != nil {
			a.covered.add(c)
		}
	}
}

func (a *asked) shared(n *loyalty.CustomerNeeds) {
	for _, name := range n.Names {
		a.names[name] = true
	}
	for _, t := range n.Transactions {
		a.names[loyalty.Name{Kind: loyalty.NameTransaction, Value: t}] = true
	}
	for _, code := range n.Coupons {
		a.names[loyalty.Name{Kind: loyalty.NameCoupon, Value: code}] = true
	}
	for _, key := range n.Tallies {
		a.tallies[key] = true
	}
	for pool, count := range n.Pools {
		a.pools[pool] += count
	}
}

func (c *coverage) add(n *loyalty.CustomerNeeds) {
	c.progress |= n.Progress
	c.key, c.claims, c.lists, c.codes = c.key || n.Key, c.claims || n.Claims, c.lists || n.Lists, c.codes || n.Codes
	c.past, c.everything = c.past || n.Past, c.everything || n.Everything
	if n.Everything {
		c.progress, c.claims = ^loyalty.ProgressKinds(0), true
	}
	c.bought, c.held, c.opened = include(c.bought, n.Transactions), include(c.held, n.Reservations), include(c.opened, n.Opened)
}

func include[K comparable](set map[K]bool, names []K) map[K]bool {
	for _, name := range names {
		if set == nil {
			set = map[K]bool{}
		}
		set[name] = true
	}
	return set
}

// idOf gives the id of a customer that was asked for; zero: there is none.
func (b *batch) idOf(p person) loyalty.ID {
	switch {
	case p.id != (loyalty.ID{}):
		return p.id
	case p.match != "":
		return b.loaded.Matches[p.match]
	}
	return b.names[p.ref]
}

// Require makes sure that rows of this run's customer, and rows that belong to no
// customer, were loaded: for needs that only the data or the programme tells. Its error
// must be returned as it is; the event is then decided again with more loaded.
func (r *Run) Require(n loyalty.CustomerNeeds) error {
	if shared := r.batch.asked.missing(&n); shared != nil {
		return &NeedMoreError{needs: *shared}
	}
	if r.account.loaded == nil || r.account.covers(&n) {
		return nil
	}
	n.ID, n.Ref, n.Match = r.Customer.ID, loyalty.Name{}, ""
	return &NeedMoreError{needs: n}
}

// missing gives the shared needs where some of them were not asked for; nil: all
// were.
// All of them are asked for again, not the missing one alone: the load is made anew, and
// has what its needs name.
func (a *asked) missing(n *loyalty.CustomerNeeds) *loyalty.CustomerNeeds {
	if a.has(n) {
		return nil
	}
	return &loyalty.CustomerNeeds{Names: n.Names, Transactions: n.Transactions, Coupons: n.Coupons, Tallies: n.Tallies}
}

func (a *asked) has(n *loyalty.CustomerNeeds) bool {
	for _, name := range n.Names {
		if !a.names[name] {
			return false
		}
	}
	for _, t := range n.Transactions {
		if !a.names[loyalty.Name{Kind: loyalty.NameTransaction, Value: t}] {
			return false
		}
	}
	for _, code := range n.Coupons {
		if !a.names[loyalty.Name{Kind: loyalty.NameCoupon, Value: code}] {
			return false
		}
	}
	for _, key := range n.Tallies {
		if !a.tallies[key] {
			return false
		}
	}
	return true
}

// covers says whether an account that is stored was loaded as far as needed.
// It asks what was loaded, not what was found: a purchase that is not there was covered by
// looking for it.
func (a *account) covers(n *loyalty.CustomerNeeds) bool {
	c := &a.covered
	switch {
	case n.Lots > a.scope, n.Progress&^c.progress != 0, n.Key && !c.key && a.customer.Key == nil,
		n.Claims && !c.claims, n.Lists && !c.lists, n.Codes && !c.codes, n.Past && !c.past, n.Everything && !c.everything:
		return false
	}
	for _, t := range n.Transactions {
		if !c.bought[t] {
			return false
		}
	}
	for _, t := range n.Reservations {
		if !c.held[t] && !c.everything {
			return false
		}
	}
	for _, lot := range n.Opened {
		if !c.opened[lot] {
			return false
		}
	}
	return true
}

// Other opens the account of another customer that this event touches too; what
// is due for them is applied first. Of a merged customer it gives the one who has
// their points now, and the run itself where that is its own customer. It fails
// with ErrCustomerNotFound.
func (r *Run) Other(n loyalty.CustomerNeeds) (*Run, error) {
	b := r.batch
	switch {
	case b.stale[n.Match]:
		return nil, loyalty.ErrBatchConflict // an event before this one may have made another match; load again
	case !b.asked.people[personOf(&n)] && !b.begun(n.ID):
		return nil, &NeedMoreError{needs: n}
	}
	a, ok := b.accounts[b.idOf(personOf(&n))]
	if !ok {
		return nil, loyalty.ErrCustomerNotFound
	}
	a, err := b.survivor(a, n)
	if err != nil {
		return nil, err
	}
	for _, open := range r.work.runs {
		if open.Customer.ID == a.customer.ID {
			open.At, open.Late = r.At, r.Late
			return open, open.Require(n)
		}
	}
	return r.openOther(a, n)
}

// begun says whether a customer was created in this batch: nothing of theirs is
// stored, and their id is another one in the next attempt.
func (b *batch) begun(id loyalty.ID) bool {
	a := b.accounts[id]
	return a != nil && a.loaded == nil
}

func (r *Run) openOther(a *account, n loyalty.CustomerNeeds) (*Run, error) {
	if a.loaded != nil && !a.covers(&n) {
		n.ID, n.Ref, n.Match = a.customer.ID, loyalty.Name{}, ""
		return nil, &NeedMoreError{needs: n}
	}
	other := r.batch.openRun(r.Programme, a, r.work)
	if err := r.work.before(other.settleDue); err != nil {
		return nil, err
	}
	other.At, other.Late = r.At, r.Late
	return other, nil
}

// before applies what was due before the event at hand. That one's rules are not
// through yet: nothing reacts to it meanwhile, and its instant stays what it is,
// although what was due may reach the same customers at another one.
// Otherwise a purchase that is accepted on the way could make a campaign give for an event
// that is refused in the end.
func (w *work) before(due func() error) error {
	waiting, runs := w.news(), slices.Clone(w.runs)
	type instant struct {
		at   time.Time
		late bool
	}
	was := make([]instant, len(runs))
	for i, run := range runs {
		was[i] = instant{run.At, run.Late}
	}
	if err := due(); err != nil {
		return err
	}
	for i, run := range runs {
		run.At, run.Late = was[i].at, was[i].late
	}
	w.waiting = append(waiting, w.waiting...)
	return nil
}

// Begin opens the account of a customer that this event creates, under an
// identifier of the platform's own.
func (r *Run) Begin(name string) (*Run, error) {
	if err := r.Require(loyalty.CustomerNeeds{Names: []loyalty.Name{{Kind: loyalty.NameCustomer, Value: name}}}); err != nil {
		return nil, err
	}
	a := r.batch.fresh(name)
	other := r.batch.openRun(r.Programme, a, r.work)
	other.At, other.Late = r.At, r.Late
	if !other.Claim(loyalty.Name{Kind: loyalty.NameCustomer, Value: name}) {
		return nil, loyalty.ErrCustomerExists.At("customer")
	}
	return other, nil
}

// survivor follows a merge to the account that has the points now.
func (b *batch) survivor(a *account, n loyalty.CustomerNeeds) (*account, error) {
	if b.merged[a.customer.ID] {
		return nil, loyalty.ErrBatchConflict // decided again, alone, on what is stored then
	}
	followed := false
	for a.customer.Status == loyalty.Merged && a.customer.MergedInto != (loyalty.ID{}) {
		n.ID, n.Ref, n.Match = a.customer.MergedInto, loyalty.Name{}, ""
		next, ok := b.accounts[n.ID]
		if !ok {
			if b.asked.people[personOf(&n)] {
				return nil, loyalty.ErrBatchConflict
			}
			return nil, &NeedMoreError{needs: n}
		}
		a, followed = next, true
	}
	if followed && a.loaded != nil && !a.covers(&n) {
		return nil, &NeedMoreError{needs: n} // what was asked for was the source's
	}
	return a, nil
}

// followMatches marks the matches by e-mail that the batch itself may have made
// wrong: who asks for one later must load again.
// Which match is right now only the database can say: it orders by age among all
// customers.
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

// wants adds what a run came upon to the ticket's needs; false: it failed for
// another reason. A run that asks again and again is a fault of its rules.
func (t *Ticket) wants(err error) bool {
	var w *NeedMoreError
	if !errors.As(err, &w) || t.asked >= maxMore {
		return false
	}
	t.asked++
	t.more = append(append(t.more, w.needs), w.more...)
	return true
}

// maxMore is how often a run may come upon something that was not loaded.
// The longest chain of rules that ask one after the other, of a merge whose source has had
// many merges, is far shorter.
const maxMore = 64
