package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// keepLife is how long uploaded codes without an operation are kept: its begin may be in progress, or was cut off.
const keepLife = time.Hour

// fillProgress is what a fill keeps from piece to piece.
type fillProgress struct {
	Last loyalty.ID `json:"last"` // the id of the last code
}

// fillPool adds the next codes of a fill.
func fillPool(tx loyalty.AdminTx, w *bulkWork) ([]loyalty.BulkItem, error) {
	var plan admin.FillPlan
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
	var known *loyalty.Error
	switch {
	case err == nil:
	case !errors.As(err, &known) || known.Kind == loyalty.Unavailable: // a fault of the database, so it is tried again
		return nil, err
	default:
		// reported as the job's failure as well, because the fault is this program's and not the caller's
		if known.Kind == loyalty.Internal {
			w.fault = err
		}
		refused = []loyalty.BulkItem{w.rest(err, plan.Generate > 0)}
	}

	for i := range refused {
		w.Errors += refused[i].Count
	}

	w.Progress = loyalty.JSON(at)
	if w.Done < w.Total {
		return refused, nil
	}

	w.State = loyalty.BulkDone
	actor, kind := loyalty.ActorOf(w.KeyID)
	return refused, tx.Audit(loyalty.AuditEntry{
		ID: loyalty.NewID(w.now, loyalty.ID{}), At: w.now, Actor: actor, ActorKind: kind, Action: "coupon_pool.add_codes",
		Target: coupon.PoolType + "/" + w.Target,
		After: loyalty.JSON(map[string]any{"added": w.Done - w.Errors,
			"source": admin.SourceOf(plan.Generate), "batch_id": w.ID}),
	})
}

// fill adds one piece and moves Done on. A refusal ends the fill, and so does a fault of this program, if it is an
// Error. The pool may have been archived or changed between two pieces, so it is read anew for each.
func (w *bulkWork) fill(tx loyalty.AdminTx, plan admin.FillPlan, at *fillProgress) ([]loyalty.BulkItem, error) {
	p, err := w.programme(tx)
	if err != nil {
		// not an Error any more, so that the fill is tried again: it is not at fault
		return nil, errors.New("the programme: " + err.Error())
	}

	f, err := admin.NewFilling(p, tx, w.Target, plan.Generate > 0, w.now)
	if err != nil {
		return nil, err
	}

	f.Asked, f.Last = w.CreatedAt, at.Last
	defer func() { at.Last = f.Last }()
	if plan.Generate == 0 {
		return w.fillKept(f)
	}

	added, err := f.Draw(int(min(w.Total-w.Done, admin.FillPiece)), admin.FillDraws)
	if err == nil && added == 0 {
		err = f.Spent()
	}

	w.Done += int64(added)
	return nil, err
}

// fillKept adds the next piece of an upload.
func (w *bulkWork) fillKept(f *admin.Filling) ([]loyalty.BulkItem, error) {
	codes, err := f.Tx.TakeCodes(w.ID, w.Done)
	switch {
	case err != nil:
		return nil, err
	case len(codes) == 0:
		return nil, loyalty.ErrInternal.Because(fmt.Errorf("no codes are kept from place %d on", w.Done))
	}

	taken, err := f.Tx.AddCoupons(f.Blanks(codes))
	if err != nil {
		return nil, err
	}

	// the database returns the codes that it had already; a check beforehand could be out of date
	slices.Sort(taken)
	var refused []loyalty.BulkItem
	for i, code := range codes {
		if _, lost := slices.BinarySearch(taken, code); lost {
			place := int(w.Done) + i
			refused = append(refused,
				w.refuse(place, code, 1, loyalty.ErrCouponExists.With("code", code).At(admin.CodePlace(place))))
		}
	}

	w.Done += int64(len(codes))
	return refused, nil
}

// rest refuses the rest of the fill.
func (w *bulkWork) rest(err error, generate bool) loyalty.BulkItem {
	place := int(w.Done)
	w.Done = w.Total
	if !generate && len(loyalty.AsError(err).Details) == 0 {
		err = loyalty.AtField(err, admin.CodePlace(place))
	}
	return w.refuse(place, "", w.Total-int64(place), err)
}

func (w *bulkWork) refuse(place int, code string, count int64, err error) loyalty.BulkItem {
	return loyalty.BulkItem{BulkKey: loyalty.BulkKey{Batch: w.ID, Seq: int64(place) + 1}, Code: code, Count: count,
		Error: loyalty.StoredError(err), DoneAt: w.now}
}

// programme is the programme at the version that the transaction has locked. This node's copy may be older, because it
// follows changes some moments later; a piece must be made by the one in force.
func (w *bulkWork) programme(tx loyalty.AdminTx) (*programme.Programme, error) {
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
