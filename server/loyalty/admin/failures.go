package admin

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Failures lists the last failed requests of all nodes, the newest first.
func (a *Admin) Failures(ctx context.Context, q loyalty.FailureQuery) ([]loyalty.FailedRequest, error) {
	q.Conditions = append([]loyalty.Condition{{Field: "at", Operator: loyalty.Gte, Values: []any{a.now().Add(-loyalty.FailureLife)}}}, q.Conditions...)
	return a.store.Failures(ctx, q)
}

// KeepFailures keeps failed requests and gives each an id.
func (a *Admin) KeepFailures(ctx context.Context, all []loyalty.FailedRequest) error {
	for i := range all {
		all[i].ID = a.nextID(all[i].At)
	}
	return a.store.AddFailures(ctx, all)
}

// ForgetFailures drops what is older than FailureLife or goes beyond MaxFailures.
func (a *Admin) ForgetFailures(ctx context.Context) error {
	return a.store.ForgetFailures(ctx, a.now().Add(-loyalty.FailureLife), loyalty.MaxFailures)
}
