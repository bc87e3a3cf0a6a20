package loyalty

import (
	"context"
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// JobRow is one job in the job table, which several nodes share. The node that does the job holds the row by a lease,
// which ends by itself if the node is gone.
type JobRow struct {
	Name       string
	NextAt     time.Time // it is due from this instant
	Owner      string    // the node that does it now; empty: none
	LeaseUntil time.Time // of Owner
	StartedAt  time.Time // of the last run; zero: it never ran
	FinishedAt time.Time // of the last run that ended
	Done       int64     // items of the last run, or of the present one
	Failed     int64
	Result     string // why the last run failed; empty: it did not
	Runs       int64  // runs that ended
	// State is what a run leaves to the next one, such as its position when it was killed, in the job's own format;
	// nil: nothing.
	State json.RawMessage
}

// JobStore keeps the job table (jobs). Every instant comes from the caller, whose clock is injected; the database's
// clock is not used.
type JobStore interface {
	BoardStore
	StatisticsStore
	RemindableStore
	// Jobs lists the rows by name. A job that was never taken has none.
	Jobs(ctx context.Context) ([]JobRow, error)
	// SwapJob replaces before by after in one statement: the row is written only if its owner, lease_until, next_at and
	// runs are still those of before. With before nil the row is inserted, unless there is one. false: another node was
	// faster, and nothing was written. The notices are written with the row.
	SwapJob(ctx context.Context, before *JobRow, after JobRow, told ...Notice) (bool, error)
	// CustomersAfter lists at most limit customers that are neither merged nor opted out, by id, after the given one.
	CustomersAfter(ctx context.Context, after ID, limit int) ([]ID, error)
	// ExtendJournal creates the partitions of the coming months.
	ExtendJournal(ctx context.Context) error
	// ForgetAnswers deletes the stored answers that are older than an instant.
	ForgetAnswers(ctx context.Context, before time.Time) error
	AnchorStore
	BulkStore
	PastStore
	// ForgetDeliveries deletes old rows of webhooks: attempts, deliveries that were sent, skipped or given up, the
	// names of customers who left, and the remains of removed webhooks. It returns the number of rows.
	ForgetDeliveries(ctx context.Context, now time.Time) (int64, error)
}

// Remindable is what reminders read of a customer.
type Remindable struct {
	Customer ID
	// Born is their date of birth, YYYY-MM-DD; empty: unknown.
	Born         string
	CreatedAt    time.Time
	LastActivity time.Time
	Score        int64
	Lots         []points.Lot         // with free points
	Coupons      map[string]time.Time // claimed codes that expire, and when
	Progress     map[ProgressKey]json.RawMessage
}

// RemindableStore reads customers that may have to be reminded.
type RemindableStore interface {
	// Remindable reads the next active and suspended customers after one, by id.
	Remindable(ctx context.Context, after ID, limit int) ([]Remindable, error)
}
