package job

import (
	"context"
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
)

// trial is a running backtest, kept in memory from step to step. If it is lost, the backtest begins again.
type trial struct {
	*campaign.Backtest
	plan    campaign.BacktestPlan
	after   loyalty.Cursor
	done    int64
	total   int64
	version int64 // of the operation after the last step
}

// backtestPiece is how long one step reads, and backtestChunk how many events it has in memory.
const (
	backtestPiece = time.Second
	backtestChunk = 256
)

// backtest is the step of the bulk operation.
func backtest(ctx context.Context, w *bulkWork) error {
	t, _ := w.memory.(*trial)
	if t == nil || t.version != w.Version {
		var err error
		if t, err = w.beginBacktest(ctx); err != nil {
			return err
		}
		w.memory = t
	}

	more, began := t.Fault == nil, time.Now()
	for more && time.Since(began) < backtestPiece {
		var err error
		if more, err = t.read(ctx, w); err != nil {
			w.memory = nil
			return err
		}
	}

	if !more {
		w.State, t.done = loyalty.BulkDone, t.total
	}

	w.Done, w.Total, w.Progress = t.done, t.total, loyalty.JSON(t.BacktestFigures)
	t.version = w.Version + 1
	return nil
}

// beginBacktest compiles the campaign by the present programme, which it may no longer fit.
func (w *bulkWork) beginBacktest(ctx context.Context) (*trial, error) {
	t := &trial{}
	if err := json.Unmarshal(w.Parameters, &t.plan); err != nil {
		return nil, err
	}
	p := w.Engine.Programme()
	c, err := campaign.Draft(p, w.Target, t.plan.Campaign)
	t.Backtest = campaign.NewBacktest(p, c)
	if err != nil {
		t.Fault = loyalty.StoredError(err)
		return t, nil
	}
	t.total, err = w.Store.CountPast(ctx, t.query(0))
	return t, err
}

func (t *trial) query(limit int) loyalty.PastQuery {
	q := loyalty.PastQuery{Actions: []string{"merge"}, From: t.plan.From, Before: t.plan.To, After: t.after, Limit: limit}
	for _, action := range t.Campaign.PastActions() {
		if action != "merge" {
			q.Actions = append(q.Actions, action)
		}
	}
	return q
}

// read evaluates the next events; false: there are no more.
func (t *trial) read(ctx context.Context, w *bulkWork) (more bool, err error) {
	q := t.query(backtestChunk)
	events, err := w.Store.PastEvents(ctx, q)
	if err != nil || len(events) == 0 {
		return false, err
	}

	chances, err := campaign.Chances(ctx, w.Engine, t.Campaign, events)
	if err != nil {
		return false, err
	}

	for _, x := range chances {
		t.Take(x)
	}

	last := &events[len(events)-1]
	t.after, t.done = loyalty.Cursor{At: last.RecordedAt, ID: last.ID}, t.done+int64(len(events))
	t.total = max(t.total, t.done)
	return len(events) == q.Limit, nil
}
