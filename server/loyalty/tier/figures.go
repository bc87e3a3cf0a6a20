package tier

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// settling is how long other nodes may still use the previous version of a structure that was just saved. Figures made
// from a journal in that time are made once more.
const settling = time.Minute

// of identifies what the figures are made of.
func (s *Structure) of(loc *time.Location) string {
	w := s.Window
	span := strconv.Itoa(w.Days) + "d" + strconv.Itoa(w.Months) + "m" + w.Anchor
	of := []string{s.Base, w.Kind, span, loc.String()}
	if s.Base == BaseSpend {
		of = append(of, s.exchange.Form()) // another rate counts every purchase anew
	}
	return strings.Join(of, " ")
}

// counts reports whether the structure keeps figures of its own: for a score without a window it
// uses the customer's.
func (s *Structure) counts() bool {
	return s.Base == BaseSpend || (s.Base == BasePoints && s.Window.Kind != calendar.WindowNone)
}

// fresh reports whether figures belong to the structure as it is now.
func (s *Structure) fresh(f *TierFigures, now time.Time, loc *time.Location) bool {
	stable := s.ChangedAt.Add(settling)
	return f.Of == s.of(loc) && (f.Built.Before(s.ChangedAt) || !f.Built.Before(stable) || now.Before(stable))
}

// Rebuild makes the figures of a structure from a customer's journal, whose entries may come in any
// order.
func (s *Structure) Rebuild(past []loyalty.PastEntry, v TierView) TierFigures {
	f := TierFigures{Of: s.of(v.Location)}
	l := tierLedger{structure: s, view: v}
	past = slices.Clone(past)
	slices.SortFunc(past, func(a, b loyalty.PastEntry) int { return loyalty.CompareID(a.Event, b.Event) })
	for _, p := range past {
		l.count(&f, p)
	}
	return f
}

// tierLedger follows a journal in the order in which it was recorded.
type tierLedger struct {
	structure *Structure
	view      TierView         // whose zone and enrolment it uses
	spent     map[string]int64 // what each purchase has counted so far, by transaction_id
	claimed   map[string]bool  // purchases that were claimed from a guest
}

// count adds an entry to the figures, unless it was counted before, and reports whether that changed them. It follows
// purchases even through entries that were counted, because the change by a later entry depends on the total before it.
func (l *tierLedger) count(f *TierFigures, p loyalty.PastEntry) bool {
	n := p.Score
	if l.structure.Base == BaseSpend {
		n = l.spend(p)
	}
	if loyalty.CompareID(p.Event, f.Through) <= 0 {
		return false
	}

	f.Through = p.Event
	if n == 0 || !l.structure.counts() {
		return false
	}

	if l.structure.Window.Kind == calendar.WindowNone {
		f.Total = add(f.Total, n)
		return true
	}

	d, open := l.bucket(p)
	if !open {
		return false
	}
	if f.Buckets == nil {
		f.Buckets = map[calendar.Day]int64{}
	}
	if f.Buckets[d] = add(f.Buckets[d], n); f.Buckets[d] == 0 {
		delete(f.Buckets, d)
	}

	return true
}

// spend is the change by an entry to accepted totals less refunds.
func (l *tierLedger) spend(p loyalty.PastEntry) int64 {
	if p.Effect == nil {
		return 0
	}
	if l.spent == nil {
		l.spent = map[string]int64{}
	}

	if p.Effect.Claimed {
		if l.claimed == nil {
			l.claimed = map[string]bool{}
		}
		l.claimed[p.Transaction] = true
	}

	if p.Effect.State == loyalty.NoTransaction && l.claimed[p.Transaction] {
		return 0 // guest and claimer are one customer by now, so the purchase is still theirs
	}

	before := l.spent[p.Transaction]
	// the difference from what it counted so far, because updates and refunds record new totals,
	// not steps
	l.spent[p.Transaction] = l.structure.counted(p.Effect.State, int64(p.Effect.Total), p.Currency)
	return l.spent[p.Transaction] - before
}

// counted is what a purchase adds to the money spent, in the structure's currency.
func (s *Structure) counted(state loyalty.TransactionState, total int64, currency string) int64 {
	if state == loyalty.Accepted || state == loyalty.Refunded {
		return s.exchange.Value(total, currency)
	}
	return 0
}

// bucket returns where an entry belongs: the day it is dated, or the window with that day; open is
// false if that window was closed when the entry was recorded.
func (l *tierLedger) bucket(p loyalty.PastEntry) (d calendar.Day, open bool) {
	loc, w := l.view.Location, l.structure.Window
	d = calendar.DayOf(p.At, loc)
	if !w.Split() {
		return d, true
	}
	enrolled := calendar.DayOf(l.view.Enrolled, loc)
	start, next := w.Bounds(d, enrolled)
	return start, p.Booked.IsZero() || calendar.DayOf(p.Booked, loc) < next
}

// entry is an event of this run, or of the batch before it, in the form that the journal will have.
func entry(r *engine.Run, e *loyalty.Event) loyalty.PastEntry {
	p := loyalty.PastEntry{Event: e.ID, At: e.At, Transaction: e.Transaction}
	if e.Effects != nil {
		p.Effect, p.Currency = e.Effects.Transaction, paidIn(r, e.Transaction)
		p.Booked = loyalty.Deref(e.Effects.Booked)
	}
	for posting := range r.History().Postings() {
		if posting.Event == e.ID {
			p.Score += points.Fold([]points.Posting{posting}).Score
		}
	}
	return p
}

// paidIn returns the currency of a purchase that this run or its batch has loaded or taken over.
func paidIn(r *engine.Run, transaction string) string {
	if t := r.Bought(transaction); t != nil {
		return t.Currency()
	}
	return ""
}

// tierState returns the customer's state in a structure with everything counted that happened so
// far, and the last event that changed the figures; nil if they are as stored.
func tierState(r *engine.Run, s *Structure) (st TierState, moved *loyalty.Event, err error) {
	known, err := r.Progress(loyalty.ProgressTier, s.ID, &st)
	if err != nil || !s.counts() {
		return st, nil, err
	}

	v := ViewOf(r)
	l := tierLedger{structure: s, view: v}
	if known && s.fresh(&st.TierFigures, r.Now, v.Location) {
		l.spent = spentBefore(r, s)
	} else if l, err = rebuildTier(r, s, &st.TierFigures); err != nil {
		return st, nil, err
	} else {
		moved = lastEvent(r)
	}

	for _, e := range r.Events() {
		if e.Customer == r.Customer.ID && l.count(&st.TierFigures, entry(r, e)) {
			moved = e
		}
	}

	return st, moved, nil
}

// spentBefore is what the loaded purchases counted before this run.
func spentBefore(r *engine.Run, s *Structure) map[string]int64 {
	if s.Base != BaseSpend {
		return nil
	}
	spent := map[string]int64{}
	for name, t := range r.History().Purchases() {
		spent[name] = s.counted(t.State, int64(t.Total), t.Currency())
	}
	return spent
}

// rebuildTier makes the figures from the journal and from what the batch adds to it. The returned ledger continues with
// the events of this run.
func rebuildTier(r *engine.Run, s *Structure, f *TierFigures) (tierLedger, error) {
	if err := r.Require(loyalty.CustomerNeeds{Past: true}); err != nil {
		return tierLedger{}, err
	}

	v := ViewOf(r)
	*f = TierFigures{Of: s.of(v.Location), Built: r.Now}
	l := tierLedger{structure: s, view: v}
	past := r.History().Past()
	for _, e := range r.History().Events() {
		past = append(past, entry(r, e))
	}

	for _, p := range past {
		l.count(f, p)
	}

	return l, nil
}

// lastEvent returns the last event of this customer in the submission; nil if there is none.
func lastEvent(r *engine.Run) *loyalty.Event {
	for _, e := range slices.Backward(r.Events()) {
		if e.Customer == r.Customer.ID {
			return e
		}
	}
	return nil
}
