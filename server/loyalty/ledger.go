package loyalty

import (
	"context"
	"math/big"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// LedgerVerdict is the result of a check of the ledger.
type LedgerVerdict string

// The verdicts. A check that could not be made is a failed verification, not a
// passed one.
const (
	LedgerHeld      LedgerVerdict = "held"
	LedgerBroken    LedgerVerdict = "broken"
	LedgerUnchecked LedgerVerdict = "could not check"
)

// LedgerFinding is one place where an invariant does not hold.
type LedgerFinding struct {
	Customer ID     // zero where no customer is concerned
	Name     string // the caller's identifier, where the customer exists
	Row      string // the event, lot or transaction at fault
	Detail   string // what is wrong, with the figures
}

// LedgerCheck is the result of one check of an invariant.
type LedgerCheck struct {
	Invariant string // I1, I2, …
	Title     string // the claim
	Verdict   LedgerVerdict
	Broken    int64           // how many places do not hold
	Findings  []LedgerFinding // the first of them
	Err       error           // why it could not be checked
}

// LedgerVerification is the result of all checks: how many invariants have each verdict.
type LedgerVerification struct {
	ID                      ID // of a stored verification
	At                      time.Time
	Actor                   string // who asked for it, as in AuditEntry; empty: not recorded
	ActorKind               ActorKind
	Held, Broken, Unchecked int
	BrokenIDs, UncheckedIDs []string // I1, I2, …
}

// Count adds a check.
func (v *LedgerVerification) Count(c LedgerCheck) {
	switch c.Verdict {
	case LedgerHeld:
		v.Held++
	case LedgerBroken:
		v.Broken++
		v.BrokenIDs = append(v.BrokenIDs, c.Invariant)
	default:
		v.Unchecked++
		v.UncheckedIDs = append(v.UncheckedIDs, c.Invariant)
	}
}

// LedgerReader reads the points of all customers at once.
type LedgerReader interface {
	// VerifyLedger proves the invariants on one instant of the database. It reads everything and reports each check,
	// including checks that could not be made.
	VerifyLedger(ctx context.Context, report func(LedgerCheck))
	// Outstanding sums up the open lots, in one pass over them, and the figures of all customers, on one instant.
	Outstanding(ctx context.Context) (LedgerTotals, []LotGroup, error)
}

// LedgerTotals are the figures of all customers together. One balance is bounded by points.Max; the sum of all may
// exceed 64 bits.
type LedgerTotals struct {
	Score, Spent, Reserved, Expired, Pending, Debt big.Int
}

// Spendable returns score − spent − reserved − expired, as of one customer.
func (t *LedgerTotals) Spendable() *big.Int {
	n := new(big.Int).Sub(&t.Score, &t.Spent)
	return n.Sub(n.Sub(n, &t.Reserved), &t.Expired)
}

// LotGroup is open lots of one origin that expire within the same quarter of an hour, in which no day of any time zone
// begins or ends.
type LotGroup struct {
	ExpiresAt    time.Time     // in that quarter; zero: never, or by Idle
	Idle         points.Period // set: this long after LastActivity
	LastActivity time.Time
	Origin       points.Origin
	Points       big.Int // free or reserved
	Lots         int64   // number of lots
}

// Liability is the points that a programme owes its customers.
type Liability struct {
	At          time.Time
	Totals      LedgerTotals
	Outstanding big.Int // free or reserved points
	Months      []*LiabilityMonth
	Origins     []*LiabilityOrigin // those with points, the most first
}

// LiabilityOrigin are the points that have one origin.
type LiabilityOrigin struct {
	Origin points.Origin
	Points big.Int
	Lots   int64
}

// LiabilityMonth are the points that expire in one month.
type LiabilityMonth struct {
	Month   string // YYYY-MM in the programme's time zone; empty: never
	Points  big.Int
	Lots    int64
	Origins []*LiabilityOrigin // the most first
}

// Chain is the chain of hashes over a customer's journal. The store keeps and extends it; no rule reads it.
type Chain struct {
	Head []byte // 32 bytes; nil: nothing is chained yet
	From ID     // the first event in it; zero: the customer's first
}

// Anchor is one digest over the heads of all customers' chains. It is taken each hour and written to the log, where an
// owner of the database cannot change it.
type Anchor struct {
	Number    int64 // grows by one
	At        time.Time
	Customers int64 // with a chain
	Digest    [32]byte
}

// AnchorStore keeps the anchors.
type AnchorStore interface {
	// Anchor records the heads of all chains and returns their digest.
	Anchor(ctx context.Context, now time.Time) (Anchor, error)
}

// KeptProofs is how many verifications of the ledger are kept.
const KeptProofs = 1000
