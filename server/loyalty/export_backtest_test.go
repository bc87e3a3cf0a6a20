package loyalty

import (
	"context"
)

// Backtest runs a backtest from its beginning to its end, step by step; cut forgets
// after some steps what is not stored, as a restart does.
func (e *Engine) Backtest(ctx context.Context, store JobStore, plan BacktestPlan, cut int) (BulkOperation, error) {
	w := &bulkWork{BulkOperation: BulkOperation{Kind: BulkBacktest, Target: "c", Parameters: marshal(plan)}, Engine: e, Store: store}
	for n := 0; w.State != BulkDone; n++ {
		if err := backtest(ctx, w); err != nil {
			return w.BulkOperation, err
		}
		w.Version++
		if n < cut && w.State == BulkDone {
			w.State, w.memory = BulkProcessing, nil
		}
	}
	return w.BulkOperation, nil
}
