package job

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

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
