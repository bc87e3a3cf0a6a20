package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// workBulk does a piece of each open operation in turn, so that a short one need not wait for a long one, until none is
// left. It includes operations that are begun meanwhile.
func workBulk(ctx context.Context, j *Jobs, s *shift) error {
	hands := map[loyalty.ID]*bulkWork{}
	for ctx.Err() == nil {
		open, err := j.store.OpenBulk(ctx)
		if err != nil {
			return err
		}

		left := false
		for _, o := range open {
			w := hands[o.ID]
			if w == nil {
				w = &bulkWork{Engine: j.engine, Store: j.store}
				hands[o.ID] = w
			}

			if w.passed || ctx.Err() != nil {
				continue
			}

			w.BulkOperation, left = o, true
			if err := w.piece(ctx, s); err != nil {
				// the other operations go on; the next run of the job tries it again
				w.passed = true
				s.count(0, fmt.Errorf("bulk operation %s: %w", o.ID, err))
			}
		}

		if !left {
			now := j.engine.Now()
			return errors.Join(j.store.ForgetCodes(ctx, now.Add(-keepLife)), j.store.ForgetBulk(ctx, now.Add(-loyalty.BulkLife)),
				j.store.ForgetStaged(ctx, now.Add(-loyalty.ImportLife)))
		}
	}

	return ctx.Err()
}

// piece does the next piece of the operation.
func (w *bulkWork) piece(ctx context.Context, s *shift) error {
	switch kind, known := bulkKinds[w.Kind]; {
	case !known:
		return fmt.Errorf("this version of the program does not know the kind %s", w.Kind)
	case kind.step != nil:
		return w.advance(ctx, s, kind.step)
	case kind.write != nil:
		return w.transact(ctx, s, kind.write)
	default:
		return w.chunk(ctx, s, kind.item)
	}
}

// advance does a step and saves its result. If another node was faster, the other node's step counts. The step may take
// long and runs outside of any transaction; its result is saved only if the operation still has the version that it
// began with.
func (w *bulkWork) advance(ctx context.Context, s *shift, step func(context.Context, *bulkWork) error) error {
	before := w.Done
	w.State = loyalty.BulkProcessing
	if err := step(ctx, w); err != nil {
		return err
	}
	if w.State == loyalty.BulkDone {
		w.FinishedAt = w.Engine.Now()
	}
	saved, err := w.Store.SaveBulk(ctx, w.BulkOperation)
	if saved {
		s.count(int(w.Done - before))
	}
	return err
}

// transact does the next piece of an operation that writes. If another node was faster, nothing is done. The piece and
// the operation's own row are one transaction, so that a kill leaves no piece half done or done twice.
func (w *bulkWork) transact(
	ctx context.Context, s *shift, write func(loyalty.AdminTx, *bulkWork) ([]loyalty.BulkItem, error),
) error {
	found := w.BulkOperation
	err := w.Store.Change(ctx, func(tx loyalty.AdminTx) error {
		stored, err := tx.Bulk(found.ID)
		if err != nil || stored.Version != found.Version {
			return err
		}

		w.BulkOperation, w.now, w.fault = stored, w.Engine.Now(), nil
		w.State = loyalty.BulkProcessing
		refused, err := write(tx, w)
		if err != nil {
			return err
		}
		if w.State == loyalty.BulkDone {
			w.FinishedAt = w.now
		}

		return tx.SaveBulk(w.BulkOperation, refused)
	})
	if err != nil {
		return err
	}

	if w.fault != nil {
		s.count(int(w.Done-found.Done), fmt.Errorf("bulk operation %s: %w", w.ID, w.fault))
	} else {
		s.count(int(w.Done - found.Done))
	}

	return nil
}

// chunk does the next items in one transaction.
func (w *bulkWork) chunk(
	ctx context.Context, s *shift, item func(*engine.Engine, *loyalty.BulkOperation, *loyalty.BulkItem) *engine.Ticket,
) error {
	return w.Engine.InBackground(ctx, func(most int) (int, error) { return w.some(ctx, s, item, most) })
}

// some does at most the given number of the next items, and returns how many it did.
func (w *bulkWork) some(
	ctx context.Context, s *shift,
	item func(*engine.Engine, *loyalty.BulkOperation, *loyalty.BulkItem) *engine.Ticket, most int,
) (int, error) {
	items, err := w.Store.BulkItems(ctx, w.ID, w.after, most)
	switch {
	case err != nil:
		return 0, err
	case len(items) == 0 && w.after > 0: // another node has done those before, or has left some
		w.after = 0
		return 0, nil
	case len(items) == 0:
		return 0, errors.New("it is not done and has no items left")
	}

	tickets := make([]*engine.Ticket, len(items))
	for i := range items {
		tickets[i] = item(w.Engine, &w.BulkOperation, &items[i])
		tickets[i].Item(items[i])
	}

	w.after = items[len(items)-1].Seq
	done, faults, err := w.Engine.WorkItems(ctx, tickets)
	s.count(done, faults...)
	return len(items), err
}

// claimTicket claims the operation's reward, by all the rules of a single claim.
func claimTicket(e *engine.Engine, o *loyalty.BulkOperation, _ *loyalty.BulkItem) *engine.Ticket {
	return e.Prepare(loyalty.Submission{Operation: true, Sender: o.KeyID, Action: "reward_claim",
		Data: loyalty.JSON(map[string]string{"reward": o.Target})})
}

// joinTicket puts a customer on the operation's list, leaveTicket takes them off it.
func joinTicket(e *engine.Engine, o *loyalty.BulkOperation, _ *loyalty.BulkItem) *engine.Ticket {
	return engine.JoinTicket(e, o)
}

func leaveTicket(e *engine.Engine, o *loyalty.BulkOperation, _ *loyalty.BulkItem) *engine.Ticket {
	return engine.LeaveTicket(e, o)
}

// importTicket imports one row of a file. A row without data belonged to a customer who has opted out since: it becomes
// a ticket without a name, which finds no customer.
func importTicket(e *engine.Engine, o *loyalty.BulkOperation, i *loyalty.BulkItem) *engine.Ticket {
	var row loyalty.ImportRow
	if json.Unmarshal(i.Data, &row) != nil || row.List != "" {
		return engine.JoinTicket(e, &loyalty.BulkOperation{ID: o.ID, Target: row.List})
	}
	return e.Prepare(loyalty.Submission{Operation: true, Sender: o.KeyID, Imported: true, Customer: i.Customer,
		Action: row.Action, Data: row.Data})
}
