package rebuild

import (
	"fmt"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Account compares a customer's own row, even without events. It does not compare profile and names, which an opt-out
// deliberately removes from the journal.
func (f *Family) Account(c *loyalty.Customer) {
	p, a := f.rebuild.place(c.ID, "customer"), f.accounts[c.ID]
	a.row = true
	// A row is created with its customer's first event in the same transaction, so a row without any event bypassed the
	// engine.
	if !p.exists(a.told, true) {
		return
	}

	// A stored row names the last of a chain of merges, while the journal has each step of it.
	var into loyalty.ID
	if top, away := f.rebuild.survivor(c.ID); away > 0 {
		into = top
	}

	differ(p, "status", a.status, c.Status)
	differ(p, "merged_into", into, c.MergedInto)
	differ(p, "referrer", a.referrer, c.Profile.Referrer)
}

// Balance compares a customer's figures, and checks that new ids will follow the last event's.
func (f *Family) Balance(customer loyalty.ID, s points.Figures, last loyalty.ID) {
	p, a := f.rebuild.place(customer, "balance"), f.accounts[customer]
	a.balance = true
	if !p.exists(a.told, true) {
		return
	}

	j := a.figures
	differ(p, "score", j.Score, s.Score)
	differ(p, "spent", j.Spent, s.Spent)
	differ(p, "reserved", j.Reserved, s.Reserved)
	differ(p, "expired", j.Expired, s.Expired)
	differ(p, "pending", j.Pending, s.Pending)
	differ(p, "debt", j.Debt, s.Debt)
	// A later id in the row is no fault: its event may have been discarded. An earlier one is: the customer's next
	// event could get an id that sorts before one in the journal.
	if loyalty.CompareID(last, a.last) < 0 {
		differ(p, "last_event", a.last, last)
	}
}

// Lot compares a stored lot.
func (f *Family) Lot(s *loyalty.CustomerLot) {
	p, key := f.rebuild.place(s.Customer, "lot "+loyalty.ID(s.ID).String()), owned{s.Customer, s.ID}
	j := f.lots[key]
	// rows that are left at the end are missing in the database
	delete(f.lots, key)
	if !p.exists(j != nil, true) {
		return
	}

	// Amounts follow from the postings alone, dates and origin from the event that opened the lot.
	differ(p, "points", j.Points, s.Points)
	differ(p, "remaining", j.Remaining, s.Remaining)
	differ(p, "reserved", j.Reserved, s.Reserved)
	differ(p, "spent", j.Spent, s.Spent)
	differ(p, "expired", j.Expired, s.Expired)
	if !j.dated {
		p.differ("opened", "no event", "this lot") // its dates are unknown
		return
	}

	p.instant("earned_at", j.EarnedAt, s.EarnedAt)
	p.instant("expires_at", j.ExpiresAt, s.ExpiresAt)
	differ(p, "idle", j.Idle, s.Idle)
	differ(p, "transaction", j.Transaction, s.Transaction)
	if s.Origin != points.Unknown { // lots without a recorded origin are not compared
		differ(p, "origin", j.Origin, s.Origin)
	}
}

// Purchase compares a stored purchase: its figures, dates and lots, and the points of its lines. The goods are only in
// the rows of its events.
func (f *Family) Purchase(s *loyalty.Transaction) {
	// By name instead of customer: a purchase may have changed hands, and its name is unique.
	p, j := f.rebuild.place(s.Customer, "transaction "+s.Name), f.purchases[s.Name]
	delete(f.purchases, s.Name)
	if !p.exists(j != nil, true) {
		return
	}

	differ(p, "customer", j.customer, s.Customer)
	// refunds are taken off the total, never off the original total
	differ(p, "original_total", j.Total+j.Refunded, s.OriginalTotal)
	documents(p, &j.PurchaseState, &s.PurchaseState)
	documents(p, &j.PurchaseOrigin, &s.PurchaseOrigin)
	documents(p, &j.PurchaseUses, &s.Detail.PurchaseUses)
	documents(p, &j.opened, &s.PurchaseOpening)
	p.instant("updated_at", j.updatedAt, s.UpdatedAt)
	j.items(p, s.Detail.Items)
}

// items compares the points of the lines.
func (j *foldedPurchase) items(p place, lines []loyalty.Line) {
	differ(p, "items", j.Items, len(lines))
	for i := range lines {
		l := &lines[i]
		stored, field := loyalty.LineEffect{Event: l.Event, LineFigures: l.LineFigures}, "items["+fmt.Sprint(i)+"]"
		// a line is identified by its event, because its place may change with an update
		if told, known := j.lines[l.Event]; !known {
			p.differ(field, "no such line", string(loyalty.JSON(stored)))
		} else if told != stored {
			p.document(field, told, stored)
		}
	}
}

// Progress compares a stored progress.
func (f *Family) Progress(s *loyalty.Progress) {
	j := f.accounts[s.Customer].progress
	told, known := j[s.ProgressKey]
	known = known && told.Data != nil // an effect without data records that the row was removed
	delete(j, s.ProgressKey)
	p := f.rebuild.place(s.Customer, row(s.ProgressKey))
	if !p.exists(known, true) {
		return
	}
	documents(p, &told, s)
}

// row identifies the row of a progress in a difference, by kind and key.
func row(k loyalty.ProgressKey) string { return fmt.Sprintf("progress %d %s", k.Kind, k.Key) }

// Claim compares a stored claim.
func (f *Family) Claim(s *loyalty.RewardClaim) {
	p, j := f.rebuild.place(s.Customer, "claim "+s.ID.String()), f.claims[s.ID]
	delete(f.claims, s.ID)
	if !p.exists(j != nil, true) {
		return
	}
	documents(p, j, s)
	p.instant("updated_at", j.UpdatedAt, s.UpdatedAt)
}

// Close reports the rows that the journal has and the database lacks. Everything goes in order, so
// that two runs over the same database print the same report and can be compared.
func (f *Family) Close() {
	rb := f.rebuild
	for _, id := range slices.SortedFunc(maps.Keys(f.accounts), loyalty.CompareID) {
		a := f.accounts[id]
		rb.place(id, "customer").exists(a.told, a.told && a.row)
		rb.place(id, "balance").exists(a.told, a.told && a.balance)
		for _, key := range slices.SortedFunc(maps.Keys(a.progress), loyalty.CompareProgress) {
			rb.place(id, row(key)).exists(a.progress[key].Data != nil, false)
		}
		f.gifted(id, a)
	}

	for _, key := range slices.SortedFunc(maps.Keys(f.lots), func(a, b owned) int {
		if n := loyalty.CompareID(a.customer, b.customer); n != 0 {
			return n
		}
		return loyalty.CompareID(a.id, b.id)
	}) {
		rb.place(key.customer, "lot "+key.id.String()).exists(true, false)
	}

	for _, name := range slices.Sorted(maps.Keys(f.purchases)) {
		rb.place(f.purchases[name].customer, "transaction "+name).exists(true, false)
	}

	for _, id := range slices.SortedFunc(maps.Keys(f.claims), loyalty.CompareID) {
		rb.place(f.claims[id].Customer, "claim "+id.String()).exists(true, false)
	}
}
