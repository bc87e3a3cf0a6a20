package job

import (
	"context"
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// WorkBulk is the job bulk without its lease, for tests of what two nodes do at once
// that each think it is theirs.
func (j *Jobs) WorkBulk(ctx context.Context) (done, failed int64, why []string, err error) {
	s := &shift{jobs: j, name: "bulk"}
	err = workBulk(ctx, j, s)
	return s.done, s.bad, s.why, err
}

// AddBulkSteps adds a kind of bulk operation that works by steps, until remove.
func AddBulkSteps(name string, step func(o *loyalty.BulkOperation) error) (remove func()) {
	bulkKinds[name] = bulkKind{step: func(_ context.Context, w *bulkWork) error { return step(&w.BulkOperation) }}
	return func() { delete(bulkKinds, name) }
}

// AddBulkTask adds a kind that does something to each customer, until remove.
func AddBulkTask(name string, task func(r *engine.Run) error) (remove func()) {
	bulkKinds[name] = bulkKind{item: func(e *engine.Engine, _ *loyalty.BulkOperation, _ *loyalty.BulkItem) *engine.Ticket {
		return e.Task(task)
	}}
	return func() { delete(bulkKinds, name) }
}

// Counter is the progress of a test's steps.
func Counter(n int64) json.RawMessage { return loyalty.JSON(map[string]int64{"n": n}) }

// Backtest runs a backtest from its beginning to its end, step by step; cut forgets
// after some steps what is not stored, as a restart does.
func Backtest(e *engine.Engine, ctx context.Context, store loyalty.JobStore, plan campaign.BacktestPlan, cut int) (loyalty.BulkOperation, error) {
	w := &bulkWork{BulkOperation: loyalty.BulkOperation{Kind: campaign.BulkBacktest, Target: "c", Parameters: loyalty.JSON(plan)}, Engine: e, Store: store}
	for n := 0; w.State != loyalty.BulkDone; n++ {
		if err := backtest(ctx, w); err != nil {
			return w.BulkOperation, err
		}
		w.Version++
		if n < cut && w.State == loyalty.BulkDone {
			w.State, w.memory = loyalty.BulkProcessing, nil
		}
	}
	return w.BulkOperation, nil
}

// Turn is one look of the background at a job, for tests that turn the clock
// themselves: it does the job if it is due, and says how long to sleep then.
func (j *Jobs) Turn(ctx context.Context, name string) time.Duration { return j.turn(ctx, name, false) }
