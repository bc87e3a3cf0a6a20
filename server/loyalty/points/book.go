package points

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// Book is a customer's points while an event is decided: the figures, the loaded lots, and the postings made since.
// Every change goes through move, so figures, lots and postings can never disagree.
//
// Invariant: there is debt only while no free lot remains. Settle restores it after each event. A negative balance is
// debt.
type Book struct {
	Figures      Figures
	LastActivity time.Time
	Zone         *time.Location // in which days of inactivity are counted
	Postings     []Posting
	lots         []*Lot
	seq          map[ID]int
	lapsed       map[ID]time.Time // see Lapse
}

// NewBook opens a book over figures and the loaded lots, which are changed in place.
func NewBook(f Figures, lastActivity time.Time, zone *time.Location, lots []*Lot) *Book {
	return &Book{Figures: f, LastActivity: lastActivity, Zone: zone, lots: lots}
}

// Lots returns every lot of the book, in no particular order.
func (b *Book) Lots() []*Lot { return b.lots }

// Lot returns a lot of the book; nil if there is none with that id.
func (b *Book) Lot(id ID) *Lot {
	for _, l := range b.lots {
		if l.ID == id {
			return l
		}
	}
	return nil
}

// Credit opens a lot with the points that an event earns. The lot is named after the event and has
// the dates and the purchase given in l. It fails with ErrOverflow.
func (b *Book) Credit(event ID, n int64, l Lot) (*Lot, error) {
	if !b.fits(n) {
		return nil, ErrOverflow
	}
	lot := l
	lot.ID, lot.Points = event, n
	b.lots = append(b.lots, &lot)
	b.move(event, Issued, Available, &lot, n)
	return &lot, nil
}

// Take removes points for good (a correction), from free lots in spending order; what they cannot cover becomes debt.
func (b *Book) Take(event ID, n int64) error {
	return b.take(event, n, b.free())
}

// TakeBack removes the points that a purchase earned: from its own lots first, then from those of its points that had
// expired (which also lowers expired), then from other lots; what no lot covers becomes debt. Its own lots come first
// so that the points of other purchases, with other dates, stay as they are. first are the lots to begin with, in
// order, even if the purchase did not earn them.
func (b *Book) TakeBack(event ID, transaction string, n int64, first ...ID) error {
	if b.Figures.Spendable() < n-Max {
		return ErrOverflow
	}
	own := b.own(transaction, first)
	for _, l := range own {
		n -= b.move(event, Available, Issued, l, min(n, l.Remaining))
	}
	for _, l := range own {
		n -= b.move(event, Expired, Issued, l, min(n, l.Expired))
	}
	return b.take(event, n, b.free())
}

func (b *Book) take(event ID, n int64, lots []*Lot) error {
	// The balance has a lower bound, and with it debt and score, which are never lower.
	if n < 0 || b.Figures.Spendable() < n-Max {
		return ErrOverflow
	}
	for _, l := range lots {
		n -= b.move(event, Available, Issued, l, min(n, l.Remaining))
	}
	b.move(event, Debt, Issued, nil, n)
	return nil
}

// own returns the lots that a purchase earned, beginning with first.
func (b *Book) own(transaction string, first []ID) []*Lot {
	places := make(map[ID]int, len(first)) // below 0, which all others have
	for i, id := range first {
		places[id] = i - len(first)
	}

	var own []*Lot
	for _, l := range b.lots {
		if places[l.ID] < 0 || (l.Transaction == transaction && transaction != "") {
			own = append(own, l)
		}
	}

	slices.SortFunc(own, func(x, y *Lot) int {
		if c := cmp.Compare(places[x.ID], places[y.ID]); c != 0 {
			return c
		}
		return b.before(x, y)
	})

	return own
}

// Spend takes points from free lots in spending order and returns the portions. It fails with
// ErrInsufficient if they are more than the spendable balance.
func (b *Book) Spend(event ID, n int64) ([]Portion, error) {
	return b.draw(event, Spent, n)
}

// Reserve holds points of free lots in spending order and returns the portions. Held points do not expire. It fails
// with ErrInsufficient.
func (b *Book) Reserve(event ID, n int64) ([]Portion, error) {
	return b.draw(event, Reserved, n)
}

// draw takes points from the free lots in spending order. The figures are checked first: with debt,
// the lots may add up to more than what may be spent.
func (b *Book) draw(event ID, to Account, n int64) ([]Portion, error) {
	if n > b.Figures.Spendable() {
		return nil, ErrInsufficient
	}

	var drawn []Portion
	for _, l := range b.free() {
		if n == 0 {
			break
		}
		if k := b.move(event, Available, to, l, min(n, l.Remaining)); k > 0 {
			drawn = append(drawn, Portion{l.ID, k})
			n -= k
		}
	}

	if n > 0 { // the loaded lots do not add up to the figures
		return nil, ErrInsufficient
	}

	return drawn, nil
}

// Unspend gives spent points back to the lots they came from, the last in spending order first: the points that were
// spent first expire first, and are given back only if there are no others. It fails with ErrNotSpent if n exceeds the
// points that were spent.
func (b *Book) Unspend(event ID, n int64) error {
	if n > b.Figures.Spent {
		return ErrNotSpent
	}
	if b.unspend(event, n) < n {
		return ErrNotSpent
	}
	return nil
}

// unspend frees up to n spent points of any lots, the last in spending order first, and returns how many.
func (b *Book) unspend(event ID, n int64) (freed int64) {
	if n == 0 {
		return 0
	}
	spent := slices.Clone(b.lots)
	slices.SortFunc(spent, func(x, y *Lot) int { return b.before(y, x) })
	for _, l := range spent {
		freed += b.move(event, Spent, Available, l, min(n-freed, l.Spent))
	}
	return freed
}

// Restore gives n spent points back to the lots of a burn and returns what is left of the burn. It fails with
// ErrNotSpent. A lot records only how many of its points are spent, not on what. If Unspend has taken points of these
// lots that were spent on something else, other lots give the same number back, in the order of Unspend.
func (b *Book) Restore(event ID, burn []Portion, n int64) ([]Portion, error) {
	left, n := b.giveBack(event, Spent, burn, n)
	if other := b.unspend(event, n); other < n {
		return nil, ErrNotSpent
	}
	return without(left, n), nil
}

// Restorable is how much of a burn Restore can give back, which is never more than is spent: points that Unspend has
// returned are not given back a second time.
func (b *Book) Restorable(burn []Portion) int64 {
	return min(Total(burn), b.Figures.Spent)
}

// without removes n points from the end of what is left of a burn.
func without(burn []Portion, n int64) []Portion {
	for i := len(burn) - 1; i >= 0 && n > 0; i-- {
		k := min(n, burn[i].Points)
		burn[i].Points -= k
		n -= k
	}
	return slices.DeleteFunc(burn, func(p Portion) bool { return p.Points == 0 })
}

// Release frees n reserved points of a hold and returns what is left of it. It fails with
// ErrNotReserved.
func (b *Book) Release(event ID, hold []Portion, n int64) ([]Portion, error) {
	left, n := b.giveBack(event, Reserved, hold, n)
	if n > 0 {
		return nil, ErrNotReserved
	}
	return without(left, 0), nil
}

// giveBack frees n points of portions, the last first, and returns what is left of them and of n. It skips a portion
// whose lot no longer has the points.
func (b *Book) giveBack(event ID, from Account, portions []Portion, n int64) ([]Portion, int64) {
	left := slices.Clone(portions)
	for i := len(left) - 1; i >= 0 && n > 0; i-- {
		lot := b.Lot(left[i].Lot)
		if lot == nil {
			continue
		}
		k := b.move(event, from, Available, lot, min(n, left[i].Points, lot.held(from)))
		left[i].Points -= k
		n -= k
	}
	return left, n
}

// Capture spends what a hold reserved. It fails with ErrNotReserved.
func (b *Book) Capture(event ID, hold []Portion) error {
	for _, p := range hold {
		lot := b.Lot(p.Lot)
		if lot == nil || lot.Reserved < p.Points {
			return ErrNotReserved
		}
		b.move(event, Reserved, Spent, lot, p.Points)
	}
	return nil
}

// Promise records the points of a purchase that is not accepted yet. They are outside the score. It fails with
// ErrOverflow.
func (b *Book) Promise(event ID, n int64) error {
	if !b.fits(n) || b.Figures.Pending > Max-n {
		return ErrOverflow
	}
	b.move(event, Promised, Pending, nil, n)
	return nil
}

// fits reports whether n more points can be given or promised. Both count, so that accepting promised points never
// fails.
func (b *Book) fits(n int64) bool {
	return n >= 0 && b.Figures.Score+b.Figures.Pending <= Max-n
}

// Withdraw undoes a promise: the purchase was accepted, rejected or changed.
func (b *Book) Withdraw(event ID, n int64) { b.move(event, Pending, Promised, nil, n) }

// Lapse begins an activity of the customer, after due effects were settled. The activity does not revive lots that
// inactivity had ended before: points that such a lot gets back by it expire at once.
func (b *Book) Lapse(now time.Time) {
	for _, l := range b.lots {
		if l.Idle.IsZero() || l.Remaining > 0 {
			continue
		}
		if at := b.Expiry(l); !at.After(now) {
			if b.lapsed == nil {
				b.lapsed = map[ID]time.Time{}
			}
			b.lapsed[l.ID] = at
		}
	}
}

// Expiry is the instant at which what remains of a lot expires; zero: never.
func (b *Book) Expiry(l *Lot) time.Time {
	if at, lapsed := b.lapsed[l.ID]; lapsed {
		return at
	}
	return l.Expiry(b.LastActivity, b.Zone)
}

// Expiring are the free points of a lot whose time has come.
type Expiring struct {
	*Lot
	At time.Time
}

// Due returns what has expired at now, in the order of its instants. A lot some of whose points expired by inactivity
// stays expired, even if the customer was active since: points that it gets back expire now.
func (b *Book) Due(now time.Time) []Expiring {
	var due []Expiring
	for _, l := range b.free() {
		at := b.Expiry(l)
		if at.After(now) && !l.Idle.IsZero() && l.Expired > 0 {
			at = now
		}
		if !at.IsZero() && !at.After(now) {
			due = append(due, Expiring{l, at})
		}
	}
	slices.SortStableFunc(due, func(x, y Expiring) int { return x.At.Compare(y.At) })
	return due
}

// Expire expires what remains of a lot and returns how much that was.
func (b *Book) Expire(event ID, l *Lot) int64 {
	return b.move(event, Available, Expired, l, l.Remaining)
}

// Settle pays debt from free lots, in spending order, on the event that brought the points.
func (b *Book) Settle(event ID) {
	if b.Figures.Debt == 0 {
		return
	}
	for _, l := range b.free() {
		b.move(event, Available, Debt, l, min(b.Figures.Debt, l.Remaining))
	}
}

// NextExpiry is the earliest instant at which a loaded lot's free points
// expire; zero when none does.
func (b *Book) NextExpiry() time.Time {
	var next time.Time
	for _, l := range b.free() {
		at := b.Expiry(l)
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// free returns the lots with points to spend, in spending order.
func (b *Book) free() []*Lot {
	var free []*Lot
	for _, l := range b.lots {
		if l.Remaining > 0 {
			free = append(free, l)
		}
	}
	slices.SortFunc(free, b.before)
	return free
}

func (b *Book) before(x, y *Lot) int { return SpendingOrder(x, y, b.LastActivity, b.Zone) }

// SpendingOrder compares two lots: by expiry, those without one last; then by the time of earning;
// then by event id.
func SpendingOrder(x, y *Lot, lastActivity time.Time, loc *time.Location) int {
	if c := byExpiry(x, y, lastActivity, loc); c != 0 {
		return c
	}
	if c := x.EarnedAt.Compare(y.EarnedAt); c != 0 {
		return c
	}
	return bytes.Compare(x.ID[:], y.ID[:])
}

func byExpiry(x, y *Lot, lastActivity time.Time, loc *time.Location) int {
	if !x.Idle.IsZero() && x.Idle == y.Idle {
		return 0 // they expire together: no calendar arithmetic for each pair of them
	}
	ex, ey := x.Expiry(lastActivity, loc), y.Expiry(lastActivity, loc)
	if ex.IsZero() != ey.IsZero() {
		if ex.IsZero() {
			return 1
		}
		return -1
	}
	return ex.Compare(ey)
}

// move is the only place where points change. It returns n.
func (b *Book) move(event ID, from, to Account, l *Lot, n int64) int64 {
	if n <= 0 {
		return 0
	}
	p := Posting{Event: event, Seq: b.next(event), From: from, To: to, Points: n}
	if l != nil {
		p.Lot = l.ID
		l.Move(from, to, n)
	}
	b.Postings = append(b.Postings, p)
	b.Figures.Post(from, to, n)
	return n
}

// held returns how many points of the lot were spent or are reserved.
func (l *Lot) held(a Account) int64 {
	if a == Spent {
		return l.Spent
	}
	return l.Reserved
}

// Move applies one posting to the lot.
func (l *Lot) Move(from, to Account, n int64) {
	l.add(from, -n)
	l.add(to, n)
}

// add changes the lot's count of an account. Issued, debt and pending points belong to no lot: promised or owed points
// have no dates yet.
func (l *Lot) add(a Account, n int64) {
	switch a {
	case Available:
		l.Remaining += n
	case Reserved:
		l.Reserved += n
	case Spent:
		l.Spent += n
	case Expired:
		l.Expired += n
	}
}

// next numbers the postings of one event from 0.
func (b *Book) next(event ID) int {
	if b.seq == nil {
		b.seq = map[ID]int{}
	}
	n := b.seq[event]
	b.seq[event] = n + 1
	return n
}
