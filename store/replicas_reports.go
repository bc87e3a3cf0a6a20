package store

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Exports and reports are all recent.

// Feed is the Store's; a caller that waits for new events asks the Store itself.
func (s *Replicated) Feed(ctx context.Context, q loyalty.FeedQuery) (loyalty.FeedPart, error) {
	return forward(ctx, s, recent, (*Store).Feed, q)
}

// SamePerson is the Store's.
func (s *Replicated) SamePerson(ctx context.Context, customer loyalty.ID) ([]loyalty.ID, error) {
	return forward(ctx, s, recent, (*Store).SamePerson, customer)
}

// ExportCustomers is the Store's.
func (s *Replicated) ExportCustomers(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.Customer], error) {
	return forward(ctx, s, recent, (*Store).ExportCustomers, q)
}

// ExportLots is the Store's.
func (s *Replicated) ExportLots(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.CustomerLot], error) {
	return forward(ctx, s, recent, (*Store).ExportLots, q)
}

// ExportPurchases is the Store's.
func (s *Replicated) ExportPurchases(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.Transaction], error) {
	return forward(ctx, s, recent, (*Store).ExportPurchases, q)
}

// ExportCoupons is the Store's.
func (s *Replicated) ExportCoupons(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.Coupon], error) {
	return forward(ctx, s, recent, (*Store).ExportCoupons, q)
}

// ExportClaims is the Store's.
func (s *Replicated) ExportClaims(ctx context.Context, q loyalty.ExportQuery) (loyalty.ExportPart[loyalty.RewardClaim], error) {
	return forward(ctx, s, recent, (*Store).ExportClaims, q)
}

// outstanding is the answer of Outstanding.
type outstanding struct {
	totals loyalty.LedgerTotals
	lots   []loyalty.LotGroup
}

// Outstanding is the Store's.
func (s *Replicated) Outstanding(ctx context.Context) (loyalty.LedgerTotals, []loyalty.LotGroup, error) {
	found, err := answer(ctx, s, recent, func(ctx context.Context, from *Store) (found outstanding, err error) {
		found.totals, found.lots, err = from.Outstanding(ctx)
		return found, err
	})
	return found.totals, found.lots, err
}

// AuditLog is the Store's.
func (s *Replicated) AuditLog(ctx context.Context, q loyalty.AuditQuery) ([]loyalty.AuditEntry, error) {
	return forward(ctx, s, recent, (*Store).AuditLog, q)
}
