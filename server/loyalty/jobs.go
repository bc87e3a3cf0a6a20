package loyalty

import (
	"context"
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// JobRow is one job in the job table. Several nodes share it: who does the job
// now holds the row by a lease, which ends by itself where its owner is gone.
type JobRow struct {
	Name       string
	NextAt     time.Time // it is due from then on
	Owner      string    // who does it now; empty: no node
	LeaseUntil time.Time // of Owner
	StartedAt  time.Time // of the last run; zero: it never ran
	FinishedAt time.Time // of the last run that came to its end
	Done       int64     // items of the last run, or of the one under way
	Failed     int64
	Result     string // why the last run failed; empty: it did not
	Runs       int64  // that came to their end
	// State is what a run leaves to the next one, such as how far it came when
	// it was killed: a document of the job's own; nil: nothing.
	State json.RawMessage
}

// JobStore keeps the job table (jobs). Every instant is the caller's: its clock
// is injected, the database's own is not asked.
type JobStore interface {
	BoardStore
	StatisticsStore
	RemindableStore
	// Jobs lists the rows by name. A job that never was taken has none.
	Jobs(ctx context.Context) ([]JobRow, error)
	// SwapJob puts after in the place of before, in one statement: the row is
	// written only if its owner, lease_until, next_at and runs still are those of
	// before. before nil: the row is inserted, unless there is one. false: another node
	// else was faster, and nothing was written. What is told of it is written with it.
	SwapJob(ctx context.Context, before *JobRow, after JobRow, told ...Notice) (bool, error)
	// CustomersAfter lists customers that are neither merged nor opted out by
	// their id, the first one after the given one, limit at most.
	CustomersAfter(ctx context.Context, after ID, limit int) ([]ID, error)
	// ExtendJournal makes the partitions of the months to come.
	ExtendJournal(ctx context.Context) error
	// ForgetAnswers deletes the stored answers that are older than an instant.
	ForgetAnswers(ctx context.Context, before time.Time) error
	AnchorStore
	BulkStore
	PastStore
	// ForgetDeliveries drops what is old of webhooks: attempts, deliveries that were sent,
	// skipped or given up, the names of customers who left; and what removed webhooks left. It
	// says how many rows.
	ForgetDeliveries(ctx context.Context, now time.Time) (int64, error)
}

// Remindable is what reminders look at of a customer.
type Remindable struct {
	Customer ID
	// Born is their date of birth, YYYY-MM-DD; empty: it is not known.
	Born         string
	CreatedAt    time.Time
	LastActivity time.Time
	Score        int64
	Lots         []points.Lot         // with free points
	Coupons      map[string]time.Time // claimed codes that end, and when
	Progress     map[ProgressKey]json.RawMessage
}

// RemindableStore reads who may have to be reminded.
type RemindableStore interface {
	// Remindable reads the next active and suspended customers after one, by id.
	Remindable(ctx context.Context, after ID, limit int) ([]Remindable, error)
}
