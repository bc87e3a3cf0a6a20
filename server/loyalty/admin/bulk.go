package admin

import (
	"context"
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// BeginBulk accepts a bulk operation: it is stored with all its items, or not at all, and waits for
// the job bulk. It fails as the check of its kind does, with ErrRewardNotFound (160320) for a
// missing reward, ErrEntityNotFound or ErrEntityArchived for a list; and with ErrBulkMany. An
// operation on no customers is finished at once.
func (a *Admin) BeginBulk(ctx context.Context, call Call, q loyalty.BulkRequest) (Done[loyalty.BulkOperation], error) {
	if err := check(&q); err != nil {
		return Done[loyalty.BulkOperation]{}, err
	}

	return change(ctx, a, call, func(r *adminRun) (loyalty.BulkOperation, error) {
		o := loyalty.BulkOperation{
			ID: loyalty.NewID(r.now, loyalty.ID{}), Kind: q.Kind, Target: q.Target, State: loyalty.BulkQueued, Total: q.Total,
			CreatedAt: r.now, KeyID: call.KeyID, Parameters: q.Parameters,
		}

		if check := bulkChecks[q.Kind]; check != nil {
			if err := check(a, r, q.Target); err != nil {
				return o, err
			}
		}

		if q.List != "" {
			if err := checkBulkList(a, r, q.List); err != nil {
				return o, loyalty.AtField(err, "list_id")
			}
		}

		if err := room(r, &q); err != nil {
			return o, err
		}

		o, err := r.AddBulk(o, once(q.Customers), q.List)
		if err != nil {
			return o, err
		}

		return o, r.audit("bulk."+o.Kind, o.Target, nil, map[string]any{"batch_id": o.ID, "total": o.Total})
	}, func(o loyalty.BulkOperation) any { return o })
}

// BeginImport accepts the import of everything that was staged.
func (a *Admin) BeginImport(ctx context.Context, call Call, i loyalty.Import) (loyalty.BulkOperation, error) {
	done, err := change(ctx, a, call, func(r *adminRun) (loyalty.BulkOperation, error) {
		o, err := r.AddBulk(loyalty.BulkOperation{
			ID: i.ID, Kind: loyalty.BulkImport, State: loyalty.BulkQueued, Total: i.Total, CreatedAt: r.now, KeyID: call.KeyID,
		}, nil, "")
		if err != nil {
			return o, err
		}
		return o, r.audit("bulk."+o.Kind, i.ID.String(), nil,
			map[string]any{"batch_id": o.ID, "total": o.Total, "digest": i.Digest})
	}, func(o loyalty.BulkOperation) any { return o })
	return done.Value, err
}

// bulkChecks are the kinds that work on customers. Each check decides, inside the transaction that
// begins the operation, whether its target can be worked on; for other kinds the caller has
// checked.
var bulkChecks = map[string]func(a *Admin, r *adminRun, target string) error{
	loyalty.BulkRewardClaim: checkBulkReward,
	loyalty.BulkListAdd:     checkBulkList,
	loyalty.BulkListRemove:  checkBulkList,
}

// check validates what the request shows by itself.
func check(q *loyalty.BulkRequest) error {
	switch {
	case bulkChecks[q.Kind] == nil: // it works on no customers
		return nil
	case len(q.Customers) == 0 && q.List == "":
		return programme.Fault("customers", loyalty.ErrPropertyEmpty.Name, nil)
	case len(q.Customers) > 0 && q.List != "":
		return programme.Fault("list_id", "not_together", map[string]any{"other": "customers"})
	}
	return nil
}

// room refuses an operation if too many of its kind are open.
func room(r *adminRun, q *loyalty.BulkRequest) error {
	if q.Most == 0 {
		return nil
	}
	open, err := r.OpenBulks(q.Kind)
	if err == nil && open >= q.Most {
		err = loyalty.ErrBulkMany.With("limit", q.Most)
	}
	return err
}

// once removes duplicates.
func once(names []string) []string {
	seen := make(map[string]bool, len(names))
	kept := make([]string, 0, len(names))
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			kept = append(kept, name)
		}
	}
	return kept
}

// checkBulkReward refuses a reward that its own operation would not let a customer claim either.
func checkBulkReward(a *Admin, r *adminRun, reward string) error {
	_, err := a.found(r, EntityChange{Type: loyalty.RewardType, ID: reward})
	if errors.Is(err, loyalty.ErrEntityNotFound) || errors.Is(err, loyalty.ErrEntityArchived) {
		return loyalty.ErrRewardNotFound
	}
	return err
}

// checkBulkList refuses a customer list that does not exist or is archived.
func checkBulkList(a *Admin, r *adminRun, list string) error {
	_, err := a.found(r, EntityChange{Type: loyalty.CustomerListType, ID: list})
	return err
}
