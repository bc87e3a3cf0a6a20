package rebuild

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Family is the scratch copy of a customer and of all customers merged into them. It must be given, in this order: all
// of their postings, in any order; their events, each customer's in the order of ids, and those of a merged customer
// before those of their target (Rebuild.Families), because a merged customer has no more events; and their stored rows.
// Then it must be closed.
type Family struct {
	rebuild   *Rebuild
	accounts  map[loyalty.ID]*foldedAccount
	lots      map[owned]*foldedLot
	purchases map[string]*foldedPurchase
	claims    map[loyalty.ID]*loyalty.RewardClaim
}

// owned identifies a lot of a customer: a merge opens lots under their old ids.
type owned struct{ customer, id loyalty.ID }

type foldedAccount struct {
	told     bool // by an event
	status   loyalty.Status
	referrer loyalty.ID
	figures  points.Figures
	last     loyalty.ID // event
	progress map[loyalty.ProgressKey]loyalty.Progress
	met      []string        // of given, those with a stored row
	given    map[string]bool // campaigns that gave something to them or to customers merged into them
	// rows that were compared already
	row, balance bool
}

type foldedLot struct {
	points.Lot
	dated bool // by the event that opened it
}

type foldedPurchase struct {
	loyalty.TransactionEffect
	customer  loyalty.ID // of the row
	opened    loyalty.PurchaseOpening
	updatedAt time.Time
	lines     map[loyalty.ID]loyalty.LineEffect
}

// Family begins the scratch copy of a family, whose members must be in the order of Families, or of
// a single customer.
func (rb *Rebuild) Family(members ...loyalty.ID) *Family {
	f := &Family{
		rebuild: rb, accounts: make(map[loyalty.ID]*foldedAccount, len(members)), lots: map[owned]*foldedLot{},
		purchases: map[string]*foldedPurchase{}, claims: map[loyalty.ID]*loyalty.RewardClaim{},
	}
	for _, id := range members {
		f.accounts[id] = &foldedAccount{}
	}
	return f
}

// Post folds one posting into figures and lots.
func (f *Family) Post(p loyalty.CustomerPosting) {
	f.accounts[p.Customer].figures.Post(p.From, p.To, p.Points)
	if p.Lot == (points.ID{}) {
		return
	}

	key := owned{p.Customer, p.Lot}
	// A lot begins with the first posting that names it, in any order: Event adds its dates later.
	l := f.lots[key]
	if l == nil {
		l = &foldedLot{Lot: points.Lot{ID: p.Lot}}
		f.lots[key] = l
	}

	if p.From == points.Issued && p.To == points.Available { // only issued points make a lot larger
		l.Points += p.Points
	}

	l.Move(p.From, p.To, p.Points)
}

// Event folds one event's effects.
func (f *Family) Event(e *loyalty.Event) {
	a := f.accounts[e.Customer]
	a.told = true
	if loyalty.CompareID(e.ID, a.last) > 0 {
		a.last = e.ID
	}

	f.date(e)
	if x := e.Effects; x != nil {
		f.account(a, x)
		f.purchase(e, x)
		for i := range x.Claims {
			claim := &x.Claims[i]
			claim.UpdatedAt, f.claims[claim.ID] = e.RecordedAt, claim
		}
		for _, t := range x.Tallies {
			// an effect has the count that was added; all other effects have the resulting state
			f.rebuild.tallies[t.Key] += t.Count
		}
		f.rebuild.gave(e, a)
		for i := range x.Coupons {
			f.rebuild.coupon(&x.Coupons[i])
		}
	}

	f.item(e)
}

// account folds the effects of an event on its customer. Each effect is the state after the event, so that the last one
// counts.
func (f *Family) account(a *foldedAccount, x *loyalty.Effects) {
	if x.Status != "" {
		a.status = x.Status
	}
	if x.Referrer != nil {
		a.referrer = *x.Referrer
	}

	for _, p := range x.Progress {
		if a.progress == nil {
			a.progress = map[loyalty.ProgressKey]loyalty.Progress{}
		}
		a.progress[p.ProgressKey] = p
	}

	if x.MergedFrom == nil {
		return
	}

	if source := f.accounts[*x.MergedFrom]; source != nil {
		// the source's progress moved with the merge, in the effects of the target's event
		source.told, source.status, source.progress = true, loyalty.Merged, nil
		for campaign := range source.given {
			a.gives(campaign)
		}
	}
}

// date gives an event's lots the dates that it records. Another member may have the lot by now: a merge opens it there
// under its old id, with its old dates.
func (f *Family) date(e *loyalty.Event) {
	for id := range f.accounts {
		l := f.lots[owned{id, e.ID}]
		if l == nil {
			continue
		}
		l.dated = true
		l.told(e)
		l.Origin = l.given(e)
	}
}

// told copies the dates and the purchase.
func (l *foldedLot) told(e *loyalty.Event) {
	l.EarnedAt, l.ExpiresAt, l.Transaction = e.At, e.ExpDate, e.Transaction
	if e.Effects == nil || e.Effects.Lot == nil {
		return
	}

	told := e.Effects.Lot
	// A lot that expires after a period of inactivity has no date of its own while the customer is active.
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

// follows are the actions that alone determine the origin of their points.
var follows = map[string]points.Origin{
	"challenge": points.Challenge, "referral_bonus": points.Referral, "reward_claim": points.Reward,
	"balance_import": points.Import,
}

// given returns the lot's origin, once its purchase is known. A point_add that follows from another event is a
// campaign's, or moves a lot to the customer who claims a purchase; then it records the lot's origin.
func (l *foldedLot) given(e *loyalty.Event) points.Origin {
	origin, named := follows[e.Action]
	switch {
	case e.Effects != nil && e.Effects.Lot != nil && e.Effects.Lot.Origin != points.Unknown:
		return e.Effects.Lot.Origin
	case named:
		return origin
	case e.Action == "point_add" && e.Parent == (loyalty.ID{}):
		return points.Correction
	case e.Action == "point_add":
		return points.Campaign
	case l.Transaction != "":
		return points.Purchase
	}

	return points.Activity
}

// purchase folds the state of purchases after an event.
func (f *Family) purchase(e *loyalty.Event, x *loyalty.Effects) {
	if x.Transaction != nil {
		f.bought(e, e.Transaction, x.Transaction)
	}
	for i := range x.Purchases {
		f.bought(e, x.Purchases[i].Name, &x.Purchases[i])
	}
}

// bought folds the state of one purchase. A purchase that changed hands begins anew with the event that brought it to
// its present customer, which records how it was opened.
func (f *Family) bought(e *loyalty.Event, name string, x *loyalty.TransactionEffect) {
	if x.State == loyalty.NoTransaction || !f.rebuild.holds(e, name) {
		return
	}

	p := f.purchases[name]
	if p == nil || x.Opened != nil {
		p = &foldedPurchase{customer: e.Customer,
			opened: loyalty.PurchaseOpening{Checkout: e.ID, CreatedAt: e.RecordedAt, CheckoutDate: e.At},
			lines:  map[loyalty.ID]loyalty.LineEffect{}}
		f.purchases[name] = p
	}

	if x.Opened != nil {
		p.opened = *x.Opened
	}

	p.TransactionEffect, p.updatedAt = *x, e.RecordedAt
	for _, l := range x.Lines {
		p.lines[l.Event] = l
	}
}

// holds reports whether a purchase still belongs to the customer of one of its events. A purchase that changed hands is
// no longer the guest's; if both customers have been merged since, only events after the change count.
func (rb *Rebuild) holds(e *loyalty.Event, transaction string) bool {
	claim, moved := rb.claimed[transaction]
	if !moved {
		return true
	}
	holder, _ := rb.survivor(rb.holders[transaction])
	writer, _ := rb.survivor(e.Customer)
	return holder == writer && loyalty.CompareID(e.ID, claim) >= 0
}

// item folds the row of a line.
func (f *Family) item(e *loyalty.Event) {
	if p := f.purchases[e.Transaction]; p != nil && loyalty.ItemActions[e.Action] && e.Points != nil &&
		f.rebuild.holds(e, e.Transaction) {
		p.lines[e.ID] = loyalty.LineEffect{Event: e.ID, LineFigures: loyalty.LineFigures{Points: *e.Points}}
	}
}
