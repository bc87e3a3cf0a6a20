// Package points is the arithmetic of the ledger: lots, postings, expiry. It knows no customer, no database and no
// clock; all points are whole numbers and all times are UTC.
package points

import (
	"errors"
	"time"
)

// Max bounds every figure, so that a balance is always a JSON number which a
// client in any language reads exactly (2^53 − 1).
const Max int64 = 1<<53 - 1

// The failures of a Book. The rules turn them into the errors of the contract.
var (
	ErrInsufficient = errors.New("not enough spendable points")
	ErrNotSpent     = errors.New("more than was spent")
	ErrNotReserved  = errors.New("more than is reserved")
	ErrOverflow     = errors.New("points out of range")
	ErrMissing      = errors.New("lots are missing: they do not add up to the figures")
)

// Account is one side of a posting. All accounts belong to one customer; their balances add up to
// zero at every instant, because a posting moves points from one to another.
type Account uint8

// The accounts of a customer. Issued and Promised are the programme's side: what it has given, and
// what it has offered without giving it yet.
const (
	Issued    Account = 1 // the programme; minus its balance is the score
	Available Account = 2 // the programme; minus its balance is the score
	Reserved  Account = 3 // points in lots, held for a purchase
	Spent     Account = 4
	Expired   Account = 5
	Debt      Account = 6 // minus its balance is what later credits pay first
	Promised  Account = 7 // the programme's side of Pending
	Pending   Account = 8 // points of purchases not accepted yet
)

// String returns the account's name in the documents.
func (a Account) String() string {
	names := [...]string{"", "issued", "available", "reserved", "spent", "expired", "debt", "promised", "pending"}
	if int(a) < len(names) {
		return names[a]
	}
	return "unknown"
}

// Figures are a customer's totals, in points. Score is everything ever earned.
type Figures struct {
	Score, Spent, Reserved, Expired, Pending, Debt int64
}

// Spendable is score − spent − reserved − expired; below zero it is a debt.
func (f Figures) Spendable() int64 { return f.Score - f.Spent - f.Reserved - f.Expired }

// Post applies one posting to the totals.
func (f *Figures) Post(from, to Account, n int64) {
	f.add(from, -n)
	f.add(to, n)
}

// add changes one of the figures. Issued and debt are what the programme gave and is owed, so for the customer they
// count with the opposite sign. The available points follow from the others.
func (f *Figures) add(a Account, n int64) {
	switch a {
	case Issued:
		f.Score -= n
	case Spent:
		f.Spent += n
	case Reserved:
		f.Reserved += n
	case Expired:
		f.Expired += n
	case Debt:
		f.Debt -= n
	case Pending:
		f.Pending += n
	}
}

// Fold adds postings up to figures, which a customer's figures must equal.
func Fold(postings []Posting) Figures {
	var f Figures
	for _, p := range postings {
		f.Post(p.From, p.To, p.Points)
	}
	return f
}

// ID identifies an event or the lot it created (a UUID version 7 in binary form).
type ID = [16]byte

// Posting moves points from one account to another, on an event. Lot is the lot it touches, zero for none (pending
// points, debt).
type Posting struct {
	Event    ID
	Seq      int
	From, To Account
	Lot      ID
	Points   int64 // always positive
}

// Change is the posting's effect on the spendable balance. Free points count as plus and owed points as minus, so a
// payment of debt, which moves points between the two, changes nothing.
func (p Posting) Change() (n int64) {
	if p.To == Available || p.To == Debt {
		n += p.Points
	}
	if p.From == Available || p.From == Debt {
		n -= p.Points
	}
	return n
}

// Lot is one credit and the present state of its points: Points = Remaining + Reserved + Spent + Expired + what was
// taken back.
type Lot struct {
	ID          ID     // the crediting event
	Transaction string // the purchase that earned it; empty: none
	Points      int64
	Remaining   int64
	Reserved    int64
	Spent       int64
	Expired     int64
	EarnedAt    time.Time
	ExpiresAt   time.Time // zero: never, or by inactivity
	Idle        Period    // set: expires this long after the customer's last activity
	Origin      Origin
}

// Gone is what was taken back from the lot for good: corrections, refunds,
// and the payment of debt.
func (l *Lot) Gone() int64 { return l.Points - l.Remaining - l.Reserved - l.Spent - l.Expired }

// Expiry is the instant at which what remains of the lot expires, in UTC; zero: never. The days and months of
// inactivity are counted in loc.
func (l *Lot) Expiry(lastActivity time.Time, loc *time.Location) time.Time {
	if l.Idle.IsZero() {
		return l.ExpiresAt
	}
	return l.Idle.From(lastActivity, loc)
}

// Total adds up portions.
func Total(portions []Portion) int64 {
	var n int64
	for _, p := range portions {
		n += p.Points
	}
	return n
}
