package loyalty

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Rebuild folds the journal's recorded effects into a scratch copy of the
// programme's state and compares the copy with what is stored. It reruns no rule:
// what an event did is in its postings and effects, so rules that changed since
// and persons that were forgotten do not matter.
//
// Customers go through one family at a time (Family). Coupons and counts belong
// to nobody: they are collected on the way (memory grows with the coupons that
// any event touched) and compared in the end.
type Rebuild struct {
	merged  map[ID]ID     // into whom
	moved   map[string]ID // purchases that changed hands, to whom
	coupons map[ID]CouponEffect
	tallies map[string]int64
	report  func(Difference)
}

// Difference is one place where the journal and the stored state disagree.
type Difference struct {
	Customer ID     // zero where none is concerned
	What     string // such as "lot 0197…" or "coupon SPRING-1"
	Field    string // such as remaining
	Journal  string // what the events add up to
	Stored   string
}

// NewRebuild begins a rebuild. merged and moved are read from the journal before:
// who was merged into whom, and which purchases changed hands.
func NewRebuild(merged map[ID]ID, moved map[string]ID, report func(Difference)) *Rebuild {
	return &Rebuild{merged: merged, moved: moved, coupons: map[ID]CouponEffect{}, tallies: map[string]int64{}, report: report}
}

// Family is a customer with everybody who was merged into them: their part of the
// journal, and their rows as they are stored.
type Family struct {
	Customers    []Customer // the survivor first
	Events       []Event
	Postings     []CustomerPosting
	Lots         []CustomerLot
	Transactions []Transaction
	Progress     []Progress
	Claims       []RewardClaim
}

// copied is the scratch copy of one family.
type copied struct {
	status    map[ID]Status
	figures   map[ID]*points.Figures
	lots      map[owned]*points.Lot
	purchases map[string]*TransactionEffect
	progress  map[ID]map[ProgressKey]ProgressEffect
	claims    map[ID]ClaimEffect
	events    map[ID]*Event
}

// owned names a lot of a customer: a merge opens lots under their old ids.
type owned struct{ customer, id ID }

// Family folds one family's journal and compares it with its rows.
func (rb *Rebuild) Family(f *Family) {
	c := &copied{
		status: map[ID]Status{}, figures: map[ID]*points.Figures{}, lots: map[owned]*points.Lot{},
		purchases: map[string]*TransactionEffect{},
		progress:  map[ID]map[ProgressKey]ProgressEffect{}, claims: map[ID]ClaimEffect{}, events: map[ID]*Event{},
	}
	slices.SortFunc(f.Events, f.order)
	for i := range f.Events {
		c.events[f.Events[i].ID] = &f.Events[i]
		rb.fold(c, &f.Events[i])
	}
	c.end(f.Events)
	for _, p := range f.Postings {
		c.post(p)
	}
	rb.compare(c, f)
}

// order sorts events as they happened: by id, and where two customers' ids are of
// one millisecond, those of who was merged first.
func (f *Family) order(a, b Event) int {
	if x, _ := parts(a.ID); a.Customer != b.Customer {
		if y, _ := parts(b.ID); x == y {
			return b2i(a.Customer == f.Customers[0].ID) - b2i(b.Customer == f.Customers[0].ID)
		}
	}
	return CompareID(a.ID, b.ID)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// end is what merges left of those who were merged.
func (c *copied) end(events []Event) {
	for i := range events {
		if x := events[i].Effects; x != nil && x.MergedFrom != nil {
			c.status[*x.MergedFrom] = Merged
			delete(c.progress, *x.MergedFrom)
		}
	}
}

// fold applies one event's effects.
func (rb *Rebuild) fold(c *copied, e *Event) {
	x := e.Effects
	if x == nil {
		return
	}
	if x.Status != "" {
		c.status[e.Customer] = x.Status
	}
	if x.Transaction != nil && rb.holds(e.Customer, e.Transaction) {
		c.purchases[e.Transaction] = x.Transaction
	}
	for i := range x.Purchases {
		if p := &x.Purchases[i]; rb.holds(e.Customer, p.Name) {
			c.purchases[p.Name] = p
		}
	}
	for _, p := range x.Progress {
		if c.progress[e.Customer] == nil {
			c.progress[e.Customer] = map[ProgressKey]ProgressEffect{}
		}
		c.progress[e.Customer][ProgressKey{p.Kind, p.Key}] = p
	}
	for _, claim := range x.Claims {
		c.claims[claim.ID] = claim
	}
	for _, t := range x.Tallies {
		rb.tallies[t.Key] += t.N
	}
	for _, coupon := range x.Coupons {
		if coupon.Version >= rb.coupons[coupon.ID].Version {
			rb.coupons[coupon.ID] = coupon
		}
	}
}

// holds says whether a purchase is still the customer's who wrote an event of it.
func (rb *Rebuild) holds(customer ID, transaction string) bool {
	holder, moved := rb.moved[transaction]
	return !moved || rb.survivor(holder) == rb.survivor(customer)
}

func (rb *Rebuild) survivor(id ID) ID {
	if into, ok := rb.merged[id]; ok {
		return into
	}
	return id
}

// post applies one posting to figures and lots.
func (c *copied) post(p CustomerPosting) {
	f := c.figures[p.Customer]
	if f == nil {
		f = &points.Figures{}
		c.figures[p.Customer] = f
	}
	f.Post(p.From, p.To, p.Points)
	if p.Lot == (points.ID{}) {
		return
	}
	key := owned{p.Customer, p.Lot}
	l := c.lots[key]
	if l == nil {
		l = &points.Lot{ID: p.Lot}
		c.date(l)
		c.lots[key] = l
	}
	if p.From == points.Issued && p.To == points.Available {
		l.Points += p.Points
	}
	l.Move(p.From, p.To, p.Points)
}

// date gives a lot the dates that the event which opened it tells.
func (c *copied) date(l *points.Lot) {
	e := c.events[ID(l.ID)]
	if e == nil {
		return
	}
	l.EarnedAt, l.ExpiresAt, l.Transaction = e.At, e.ExpDate, e.Transaction
	if e.Effects == nil || e.Effects.Lot == nil {
		return
	}
	told := e.Effects.Lot
	if !told.Idle.IsZero() {
		l.Idle, l.ExpiresAt = told.Idle, time.Time{}
	}
	if told.EarnedAt != nil {
		l.EarnedAt = *told.EarnedAt
	}
	if told.Purchase != nil {
		l.Transaction = *told.Purchase
	}
}

// differ reports one disagreement, if it is one.
func (rb *Rebuild) differ(customer ID, what, field string, journal, stored any) {
	if j, s := fmt.Sprint(journal), fmt.Sprint(stored); j != s {
		rb.report(Difference{Customer: customer, What: what, Field: field, Journal: j, Stored: s})
	}
}

func (rb *Rebuild) compare(c *copied, f *Family) {
	for i := range f.Customers {
		who := &f.Customers[i]
		rb.differ(who.ID, "customer", "status", c.status[who.ID], who.Status)
		rb.figures(who, c.figures[who.ID])
	}
	rb.lots(c, f)
	rb.purchases(c, f)
	rb.progress(c, f)
	rb.claims(c, f)
}

func (rb *Rebuild) figures(who *Customer, folded *points.Figures) {
	j, s := deref(folded), who.Figures
	for _, n := range []struct {
		name            string
		journal, stored int64
	}{
		{"score", j.Score, s.Score}, {"spent", j.Spent, s.Spent}, {"reserved", j.Reserved, s.Reserved},
		{"expired", j.Expired, s.Expired}, {"pending", j.Pending, s.Pending}, {"debt", j.Debt, s.Debt},
	} {
		rb.differ(who.ID, "figures", n.name, n.journal, n.stored)
	}
}

func (rb *Rebuild) lots(c *copied, f *Family) {
	stored := map[owned]points.Lot{}
	for _, l := range f.Lots {
		stored[owned{l.Customer, ID(l.ID)}] = l.Lot
	}
	for _, key := range union(c.lots, stored, func(a, b owned) int {
		if n := CompareID(a.customer, b.customer); n != 0 {
			return n
		}
		return CompareID(a.id, b.id)
	}) {
		what := "lot " + key.id.String()
		j, known := c.lots[key]
		s, kept := stored[key]
		if !known || !kept {
			rb.differ(key.customer, what, "exists", known, kept)
			continue
		}
		rb.differ(key.customer, what, "points", lotText(*j), lotText(s))
	}
}

// lotText writes all that is compared of a lot.
func lotText(l points.Lot) string {
	return fmt.Sprintf("points %d, remaining %d, reserved %d, spent %d, expired %d, earned_at %s, expires_at %s, idle %v, transaction %q",
		l.Points, l.Remaining, l.Reserved, l.Spent, l.Expired, when(l.EarnedAt), when(l.ExpiresAt), l.Idle, l.Transaction)
}

func when(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func (rb *Rebuild) purchases(c *copied, f *Family) {
	stored := map[string]Transaction{}
	for _, t := range f.Transactions {
		stored[t.Name] = t
	}
	for _, name := range union(c.purchases, stored, strings.Compare) {
		what := "transaction " + name
		j, known := c.purchases[name]
		s, kept := stored[name]
		if !known || !kept {
			rb.differ(f.Customers[0].ID, what, "exists", known, kept)
			continue
		}
		rb.differ(s.Customer, what, "state", j.State, s.State)
		rb.differ(s.Customer, what, "total", j.Total, int64(s.Total))
		rb.differ(s.Customer, what, "refunded", j.Refunded, int64(s.Refunded))
		rb.differ(s.Customer, what, "earned", j.Earned, s.Earned)
		rb.differ(s.Customer, what, "burned", j.Burned, s.Burned)
		rb.differ(s.Customer, what, "auto_accept", when(deref(j.AutoAccept)), when(s.AutoAccept))
	}
}

func (rb *Rebuild) progress(c *copied, f *Family) {
	stored := map[ID]map[ProgressKey]Progress{}
	for _, p := range f.Progress {
		if stored[p.Customer] == nil {
			stored[p.Customer] = map[ProgressKey]Progress{}
		}
		stored[p.Customer][p.ProgressKey] = p
	}
	for _, who := range f.Customers {
		for _, key := range union(c.progress[who.ID], stored[who.ID], compareProgress) {
			j, s := c.progress[who.ID][key], stored[who.ID][key]
			what := fmt.Sprintf("progress %d %s", key.Kind, key.Key)
			rb.differ(who.ID, what, "data", string(bytes.TrimSpace(j.Data)), string(bytes.TrimSpace(s.Data)))
			rb.differ(who.ID, what, "due_at", when(deref(j.DueAt)), when(s.DueAt))
		}
	}
}

func (rb *Rebuild) claims(c *copied, f *Family) {
	stored := map[ID]RewardClaim{}
	for _, claim := range f.Claims {
		stored[claim.ID] = claim
	}
	for _, id := range union(c.claims, stored, CompareID) {
		what := "claim " + id.String()
		j, known := c.claims[id]
		s, kept := stored[id]
		if !known || !kept {
			rb.differ(f.Customers[0].ID, what, "exists", known, kept)
			continue
		}
		rb.differ(s.Customer, what, "fields",
			fmt.Sprint(j.Reward, j.State, j.Points, j.Award, j.Coupon, when(j.ClaimedAt), j.Burn),
			fmt.Sprint(s.Reward, s.State, s.Points, s.Award, s.Coupon, when(s.ClaimedAt), s.Burn))
	}
}

// Coupon compares one stored coupon. One that no event tells of is a code of a
// pool which nobody had yet.
func (rb *Rebuild) Coupon(s *Coupon) {
	what := "coupon " + s.Code
	j, known := rb.coupons[s.ID]
	delete(rb.coupons, s.ID)
	if !known {
		rb.differ(s.Customer, what, "state", CouponCreated, s.State)
		return
	}
	rb.differ(s.Customer, what, "fields", couponText(rb, j), couponText(rb, effectOf(s)))
}

func couponText(rb *Rebuild, c CouponEffect) string {
	c.Customer, c.Version = rb.survivor(c.Customer), 0
	return string(marshal(c))
}

// Tally compares one stored count.
func (rb *Rebuild) Tally(t Tally) {
	rb.differ(ID{}, "count "+t.Key, "count", rb.tallies[t.Key], t.Count)
	delete(rb.tallies, t.Key)
}

// Finish reports what the journal tells of and the database does not have. It
// comes after all families, coupons and counts.
func (rb *Rebuild) Finish() {
	for _, id := range slices.SortedFunc(maps.Keys(rb.coupons), CompareID) {
		rb.differ(rb.coupons[id].Customer, "coupon "+rb.coupons[id].Code, "exists", true, false)
	}
	for _, key := range slices.Sorted(maps.Keys(rb.tallies)) {
		rb.differ(ID{}, "count "+key, "count", rb.tallies[key], 0)
	}
}

// union lists the keys of two maps in order.
func union[K comparable, A, B any](a map[K]A, b map[K]B, order func(K, K) int) []K {
	keys := slices.Collect(maps.Keys(a))
	for k := range b {
		if _, both := a[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, order)
	return keys
}
