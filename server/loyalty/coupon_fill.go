package loyalty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// BulkPoolFill is the kind of a bulk operation that adds codes to a pool; Target is
// the pool. Of an upload the codes wait in the store, piece by piece; Done says which
// place of the list comes next.
const BulkPoolFill = "pool_fill"

// poolType is the type of entity that a pool is.
const poolType = "coupons/pool"

// fillPiece is how many codes one transaction of a fill adds. Everybody else gets
// their turn between two of them.
const fillPiece = 1_000

// keepLife is how long codes are kept for a fill that is not there: it is being
// begun, or its begin was cut off.
const keepLife = time.Hour

// KeptCodes is a piece of an upload that waits to be added.
type KeptCodes struct {
	Place int64 // of the first of them in the list, from 0
	Codes []string
}

// fillPlan is what a fill is asked for.
type fillPlan struct {
	Generate int `json:"generate,omitempty"` // 0: the codes are kept
}

// fillProgress is what a fill keeps from piece to piece.
type fillProgress struct {
	Last ID `json:"last"` // the id of the last code
}

// FillPool takes on to fill a pool as AddCodes does, with any number of codes: it is
// stored and waits for the job bulk. What AddCodes refuses is refused here too, but
// for codes that exist: each of them is an item that the operation refuses, and all
// the others are added. So is the rest, as one item, when the pattern has no more
// codes, or codes cannot be added to the pool any more.
func (a *Admin) FillPool(ctx context.Context, call Call, pool string, codes []string, generate int) (Done[BulkOperation], error) {
	if err := checkCodes(codes, generate); err != nil {
		return Done[BulkOperation]{}, err
	}
	o := BulkOperation{
		ID: NewID(a.now(), ID{}), Kind: BulkPoolFill, Target: pool, State: BulkQueued, Total: int64(len(codes) + generate),
		KeyID: call.KeyID, Parameters: marshal(fillPlan{generate}),
	}
	if len(codes) > 0 {
		replayed, err := a.allowed(ctx, call, func(r *adminRun) error {
			_, err := a.filling(r, pool, false)
			return err
		})
		if err == nil && replayed == nil {
			err = a.keep(ctx, o.ID, codes)
		}
		if err != nil || replayed != nil {
			return Done[BulkOperation]{Replayed: replayed}, err
		}
	}
	return change(ctx, a, call, func(r *adminRun) (BulkOperation, error) {
		if _, err := a.filling(r, pool, generate > 0); err != nil {
			return o, err
		}
		o.CreatedAt = r.now
		begun, err := r.AddBulk(o, nil, "")
		if err != nil {
			return o, err
		}
		return begun, r.audit("bulk."+o.Kind, poolType+"/"+pool, nil, map[string]any{"batch_id": o.ID, "total": o.Total})
	}, func(o BulkOperation) any { return o })
}

// allowed finds out, before a change that needs preparation, whether it was made
// already, or is refused; then that is the answer.
func (a *Admin) allowed(ctx context.Context, call Call, check func(*adminRun) error) (*Answer, error) {
	var replayed *Answer
	err := a.store.Change(ctx, func(tx AdminTx) (err error) {
		r := a.run(tx, call)
		if replayed, err = r.earlier(); err != nil || replayed != nil {
			return err
		}
		if r.Snapshot, err = tx.Snapshot(a.registry.SnapshotTypes()); err != nil {
			return err
		}
		return check(r)
	})
	if err != nil {
		if replayed, err = a.refused(ctx, call, err); err != nil {
			err = outcomeError(err)
		}
	}
	return replayed, err
}

// keptAtOnce is how many bytes of codes one transaction keeps.
const keptAtOnce = 1 << 20

// keep stores the codes of a fill that is about to begin, some at a time.
func (a *Admin) keep(ctx context.Context, batch ID, codes []string) error {
	var some []KeptCodes
	place, size := int64(0), 0
	for piece := range slices.Chunk(codes, fillPiece) {
		some = append(some, KeptCodes{place, piece})
		place += int64(len(piece))
		for _, code := range piece {
			size += len(code)
		}
		if size >= keptAtOnce || place == int64(len(codes)) {
			if err := a.store.KeepCodes(ctx, batch, a.now(), some); err != nil {
				return outcomeError(err)
			}
			some, size = nil, 0
		}
	}
	return nil
}

// fillPool adds the next codes of a fill.
func fillPool(tx AdminTx, w *bulkWork) ([]BulkItem, error) {
	var plan fillPlan
	var at fillProgress
	if err := json.Unmarshal(w.Parameters, &plan); err != nil {
		return nil, err
	}
	if w.Progress != nil {
		if err := json.Unmarshal(w.Progress, &at); err != nil {
			return nil, err
		}
	}
	refused, err := w.fill(tx, plan, &at)
	var known *Error
	switch {
	case err == nil:
	case !errors.As(err, &known) || known.Kind == Unavailable: // of the database: it is tried again
		return nil, err
	default:
		if known.Kind == Internal {
			w.fault = err
		}
		refused = []BulkItem{w.rest(err, plan.Generate > 0)}
	}
	for i := range refused {
		w.Errors += refused[i].Count
	}
	w.Progress = marshal(at)
	if w.Done < w.Total {
		return refused, nil
	}
	w.State = BulkDone
	return refused, tx.Audit(AuditEntry{
		ID: NewID(w.now, ID{}), At: w.now, KeyID: w.KeyID, Action: "coupon_pool.add_codes", Target: poolType + "/" + w.Target,
		After: marshal(map[string]any{"added": w.Done - w.Errors, "source": sourceOf(plan.Generate), "batch_id": w.ID}),
	})
}

// fill adds one piece and moves Done on. A refusal ends the fill, and so does a fault
// of ours, if it is an Error.
func (w *bulkWork) fill(tx AdminTx, plan fillPlan, at *fillProgress) ([]BulkItem, error) {
	p, err := w.programme(tx)
	if err != nil {
		return nil, errors.New("the programme: " + err.Error()) // no Error any more: the fill is not at fault, and is tried again
	}
	f, err := newFilling(p, tx, w.Target, plan.Generate > 0, w.now)
	if err != nil {
		return nil, err
	}
	f.asked, f.last = w.CreatedAt, at.Last
	defer func() { at.Last = f.last }()
	if plan.Generate == 0 {
		return w.fillKept(f)
	}
	added, err := f.draw(int(min(w.Total-w.Done, fillPiece)), fillPiece)
	if err == nil && added == 0 {
		err = f.spent()
	}
	w.Done += int64(added)
	return nil, err
}

// fillKept adds the next piece of an upload.
func (w *bulkWork) fillKept(f *filling) ([]BulkItem, error) {
	codes, err := f.tx.TakeCodes(w.ID, w.Done)
	switch {
	case err != nil:
		return nil, err
	case len(codes) == 0:
		return nil, ErrInternal.Because(fmt.Errorf("no codes are kept from place %d on", w.Done))
	}
	taken, err := f.tx.AddCoupons(f.blanks(codes))
	if err != nil {
		return nil, err
	}
	slices.Sort(taken)
	var refused []BulkItem
	for i, code := range codes {
		if _, lost := slices.BinarySearch(taken, code); lost {
			place := int(w.Done) + i
			refused = append(refused, w.refuse(place, code, 1, ErrCouponExists.With("code", code).At(codePlace(place))))
		}
	}
	w.Done += int64(len(codes))
	return refused, nil
}

// rest refuses all that is left.
func (w *bulkWork) rest(err error, generate bool) BulkItem {
	place := int(w.Done)
	w.Done = w.Total
	if !generate && len(AsError(err).Details) == 0 {
		err = at(err, codePlace(place))
	}
	return w.refuse(place, "", w.Total-int64(place), err)
}

func (w *bulkWork) refuse(place int, code string, count int64, err error) BulkItem {
	return BulkItem{BulkKey: BulkKey{w.ID, int64(place) + 1}, Code: code, Count: count, Error: storedError(err), DoneAt: w.now}
}

// programme is the programme at the version that the transaction has locked.
func (w *bulkWork) programme(tx AdminTx) (*Programme, error) {
	p := w.Engine.Programme()
	if p.Version == tx.Version() {
		return p, nil
	}
	s, err := tx.Snapshot(p.Registry().SnapshotTypes())
	if err != nil {
		return nil, err
	}
	return p.Registry().Compile(s)
}
