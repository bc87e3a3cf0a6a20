package admin

import (
	"context"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
)

// BulkPoolFill is the kind of a bulk operation that adds codes to a pool; Target is the pool.
// Uploaded codes wait in the store, piece by piece; Done is the position in the list from which to
// continue.
const BulkPoolFill = "pool_fill"

// FillPiece is how many codes one transaction of a fill adds, some 10 ms of work. Other writers get their turn between
// two pieces.
const FillPiece = 125

// FillDraws is how many draws of a pattern in sequence may hit used codes before the pattern counts as spent.
const FillDraws = 1_000

// FillPlan is the request for a fill.
type FillPlan struct {
	Generate int `json:"generate,omitempty"` // 0: the codes were uploaded
}

// FillPool accepts the filling of a pool as AddCodes does, with any number of codes: it is stored
// and waits for the job bulk. It refuses what AddCodes refuses, except for codes that exist: each
// of them becomes a refused item, and all the others are added. If the pattern is spent, or codes
// cannot be added to the pool any more, the rest becomes one refused item.
func (a *Admin) FillPool(
	ctx context.Context, call Call, pool string, codes []string, generate int,
) (Done[loyalty.BulkOperation], error) {
	if err := checkCodes(codes, generate); err != nil {
		return Done[loyalty.BulkOperation]{}, err
	}

	o := loyalty.BulkOperation{
		ID: loyalty.NewID(a.now(), loyalty.ID{}), Kind: BulkPoolFill, Target: pool, State: loyalty.BulkQueued,
		Total: int64(len(codes) + generate),
		KeyID: call.KeyID, Parameters: loyalty.JSON(FillPlan{generate}),
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
			return Done[loyalty.BulkOperation]{Replayed: replayed}, err
		}
	}

	return change(ctx, a, call, func(r *adminRun) (loyalty.BulkOperation, error) {
		if _, err := a.filling(r, pool, generate > 0); err != nil {
			return o, err
		}
		o.CreatedAt = r.now
		begun, err := r.AddBulk(o, nil, "")
		if err != nil {
			return o, err
		}
		return begun, r.audit("bulk."+o.Kind, coupon.PoolType+"/"+pool, nil,
			map[string]any{"batch_id": o.ID, "total": o.Total})
	}, func(o loyalty.BulkOperation) any { return o })
}

// allowed looks up, before a change that needs preparation, whether the change was already made or would be refused,
// and returns that answer.
func (a *Admin) allowed(ctx context.Context, call Call, check func(*adminRun) error) (*loyalty.Answer, error) {
	var replayed *loyalty.Answer
	err := a.store.Change(ctx, func(tx loyalty.AdminTx) (err error) {
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
			err = loyalty.OutcomeError(err)
		}
	}

	return replayed, err
}

// keptAtOnce is how many bytes of codes one transaction stores.
const keptAtOnce = 1 << 20

// keep stores the codes of a fill that is about to begin, one piece at a time.
func (a *Admin) keep(ctx context.Context, batch loyalty.ID, codes []string) error {
	var some []loyalty.KeptCodes
	place, size := int64(0), 0
	for piece := range slices.Chunk(codes, FillPiece) {
		some = append(some, loyalty.KeptCodes{Place: place, Codes: piece})
		place += int64(len(piece))
		for _, code := range piece {
			size += len(code)
		}
		if size >= keptAtOnce || place == int64(len(codes)) {
			if err := a.store.KeepCodes(ctx, batch, a.now(), some); err != nil {
				return loyalty.OutcomeError(err)
			}
			some, size = nil, 0
		}
	}

	return nil
}
