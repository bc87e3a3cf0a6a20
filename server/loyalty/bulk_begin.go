package loyalty

import (
	"context"
	"errors"
)

// BeginBulk takes a bulk operation on: it is stored with all its items, or not at
// all, and waits for the job bulk. It fails as the kind's check does:
// ErrRewardNotFound (160320) for a reward that is not there, ErrEntityNotFound and
// ErrEntityArchived for a list. An operation on nobody is done at once.
func (a *Admin) BeginBulk(ctx context.Context, call Call, q BulkRequest) (Done[BulkOperation], error) {
	if err := q.check(); err != nil {
		return Done[BulkOperation]{}, err
	}
	return change(ctx, a, call, func(r *adminRun) (BulkOperation, error) {
		o := BulkOperation{
			ID: NewID(r.now, ID{}), Kind: q.Kind, Target: q.Target, State: BulkQueued, Total: q.Total,
			CreatedAt: r.now, KeyID: call.KeyID, Parameters: q.Parameters,
		}
		if check := bulkChecks[q.Kind]; check != nil {
			if err := check(a, r, q.Target); err != nil {
				return o, err
			}
		}
		if q.List != "" {
			if err := checkBulkList(a, r, q.List); err != nil {
				return o, at(err, "list_id")
			}
		}
		o, err := r.AddBulk(o, once(q.Customers), q.List)
		if err != nil {
			return o, err
		}
		return o, r.audit("bulk."+o.Kind, o.Target, nil, map[string]any{"batch_id": o.ID, "total": o.Total})
	}, func(o BulkOperation) any { return o })
}

// bulkChecks are the kinds that work on customers. Each decides, inside the transaction
// that begins the operation, whether its target can be worked on; of other kinds the
// caller made sure.
var bulkChecks = map[string]func(a *Admin, r *adminRun, target string) error{
	BulkRewardClaim: checkBulkReward,
	BulkListAdd:     checkBulkList,
	BulkListRemove:  checkBulkList,
}

// check decides what the request alone can tell.
func (q *BulkRequest) check() error {
	switch {
	case bulkChecks[q.Kind] == nil: // it works on no customers
		return nil
	case len(q.Customers) == 0 && q.List == "":
		return fieldFault("customers", ErrPropertyEmpty.Name, nil)
	case len(q.Customers) > 0 && q.List != "":
		return fieldFault("list_id", "not_together", map[string]any{"other": "customers"})
	}
	return nil
}

// once leaves out what is repeated.
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

// checkBulkReward refuses a reward that nobody could claim by its own operation
// either.
func checkBulkReward(a *Admin, r *adminRun, reward string) error {
	_, err := a.found(r, EntityChange{Type: "rewards/reward", ID: reward})
	if errors.Is(err, ErrEntityNotFound) || errors.Is(err, ErrEntityArchived) {
		return ErrRewardNotFound
	}
	return err
}

// checkBulkList refuses a customer list that is not there or archived.
func checkBulkList(a *Admin, r *adminRun, list string) error {
	_, err := a.found(r, EntityChange{Type: CustomerListType, ID: list})
	return err
}
