// Package rebuild folds the journal anew and compares the result with what is stored. It shares no
// code with the engine, so that a fault of one cannot hide in the other.
package rebuild

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Rebuild folds the journal's recorded effects into a scratch copy of the programme's state and compares it with what
// is stored. It runs no rule again: an event's effects are its postings and recorded effects, so rules that changed
// since and customers who were forgotten make no difference.
//
// Customers go through one family at a time, so that memory is limited to one family's state, however long its journal
// is. Coupons and counts belong to no customer: they are collected on the way and compared at the end. A coupon whose
// stored row already equals its last event's state is dropped earlier (Match).
type Rebuild struct {
	into    map[loyalty.ID]loyalty.ID // merged customers, and the target of each
	kin     map[loyalty.ID]bool       // customers that are part of a merge
	claimed map[string]loyalty.ID     // purchases that changed hands, and the event that moved each
	holders map[string]loyalty.ID     // and their new customers
	coupons map[loyalty.ID]*loyalty.Coupon
	matched map[loyalty.ID]int64 // coupons that were dropped, by version
	touched []loyalty.ID         // coupons since the last call of Touched
	tallies map[string]int64
	figures map[string]*loyalty.CampaignFigures
	report  func(Difference)
}

// Difference is one place where the journal and the stored state disagree.
type Difference struct {
	Customer loyalty.ID // zero if none is concerned
	Name     string     // the caller's identifier; filled by the store, if the customer exists
	What     string     // such as "lot 0197…" or "coupon SPRING-1"
	Field    string     // such as remaining; exists: the row itself
	Journal  string     // the result of the events
	Stored   string
}

// NewRebuild begins a rebuild. far are the events of the journal that concern two customers, in any order: those that
// record a merge (MergedFrom) or a purchase that changed hands (Holder).
func NewRebuild(far []loyalty.Event, report func(Difference)) *Rebuild {
	rb := &Rebuild{
		into: map[loyalty.ID]loyalty.ID{}, kin: map[loyalty.ID]bool{}, claimed: map[string]loyalty.ID{},
		holders: map[string]loyalty.ID{},
		coupons: map[loyalty.ID]*loyalty.Coupon{}, matched: map[loyalty.ID]int64{}, tallies: map[string]int64{},
		figures: map[string]*loyalty.CampaignFigures{}, report: report,
	}

	for i := range far {
		e := &far[i]
		if e.Effects == nil {
			continue
		}
		if from := e.Effects.MergedFrom; from != nil {
			rb.into[*from], rb.kin[*from], rb.kin[e.Customer] = e.Customer, true, true
		}
		if e.Effects.Holder != nil {
			rb.claimed[e.Transaction], rb.holders[e.Transaction] = e.ID, *e.Effects.Holder
		}
	}

	return rb
}

// survivor returns the customer that has the merged customer's rows now, and the number of merges to get there.
func (rb *Rebuild) survivor(id loyalty.ID) (survivor loyalty.ID, away int) {
	for away < len(rb.into) { // a cycle, which no rule makes, must not loop for ever
		into, merged := rb.into[id]
		if !merged {
			break
		}
		id, away = into, away+1
	}
	return id, away
}

// Merged reports whether a customer is part of a family of several.
func (rb *Rebuild) Merged(id loyalty.ID) bool { return rb.kin[id] }

// Families lists the families of several customers, as the journal merged them, each in the order
// in which Family needs their events: a merged customer comes before their target.
func (rb *Rebuild) Families() [][]loyalty.ID {
	families := map[loyalty.ID][]loyalty.ID{}
	for id := range rb.into {
		top, _ := rb.survivor(id)
		families[top] = append(families[top], id)
	}

	list := make([][]loyalty.ID, 0, len(families))
	for _, top := range slices.SortedFunc(maps.Keys(families), loyalty.CompareID) {
		members := slices.Concat(families[top], []loyalty.ID{top})
		slices.SortFunc(members, func(a, b loyalty.ID) int {
			_, x := rb.survivor(a)
			_, y := rb.survivor(b)
			if x != y {
				return y - x
			}
			return loyalty.CompareID(a, b)
		})
		list = append(list, members)
	}

	return list
}

// Tally compares one stored count, after all families.
func (rb *Rebuild) Tally(t loyalty.Tally) {
	differ(rb.place(loyalty.ID{}, "count "+t.Key), "count", rb.tallies[t.Key], t.Count)
	delete(rb.tallies, t.Key)
}

// Finish reports what the journal has and the database lacks. It must be called after all families, coupons and counts.
func (rb *Rebuild) Finish() {
	for _, id := range slices.SortedFunc(maps.Keys(rb.coupons), loyalty.CompareID) {
		rb.place(rb.coupons[id].Customer, "coupon "+rb.coupons[id].Code).exists(true, false)
	}
	for _, key := range slices.Sorted(maps.Keys(rb.tallies)) {
		differ(rb.place(loyalty.ID{}, "count "+key), "count", rb.tallies[key], 0)
	}
	for _, id := range slices.Sorted(maps.Keys(rb.figures)) {
		rb.Campaign(id, loyalty.CampaignFigures{})
	}
}

// place identifies a row that is compared.
type place struct {
	*Rebuild
	customer loyalty.ID
	row      string
}

func (rb *Rebuild) place(customer loyalty.ID, row string) place { return place{rb, customer, row} }

// exists compares whether the row exists, and reports whether its fields can be compared.
func (p place) exists(journal, stored bool) bool {
	differ(p, "exists", journal, stored)
	return journal && stored
}

// differ reports a field whose stored value is not the journal's.
func differ[V comparable](p place, field string, journal, stored V) {
	if journal != stored {
		p.differ(field, fmt.Sprint(journal), fmt.Sprint(stored))
	}
}

func (p place) differ(field, journal, stored string) {
	p.report(Difference{Customer: p.customer, What: p.row, Field: field, Journal: journal, Stored: stored})
}

// instant compares two instants; zero means none.
func (p place) instant(field string, journal, stored time.Time) {
	if !journal.Equal(stored) {
		p.differ(field, when(journal), when(stored))
	}
}

func when(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339Nano)
}
