package store

import (
	"context"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The reads that replicas answer. A read that names one customer, coupon, claim or operation is current; a list over
// all customers, a count or an export is recent. All other reads go to the primary: keys, users and settings, stored
// answers, jobs, the tail and its followers.

var (
	_ loyalty.Reader       = (*Replicated)(nil)
	_ loyalty.ExportReader = (*Replicated)(nil)
	_ loyalty.AdminStore   = (*Replicated)(nil)
	_ loyalty.Store        = (*Replicated)(nil)
)

// Within is the Store's. Loads that only look, as for a view of a customer, come from a replica if possible.
func (s *Replicated) Within(ctx context.Context, needs loyalty.Needs, work func(*loyalty.Loaded) (*loyalty.Writes, error)) error {
	if !needs.Reading {
		return s.Store.Within(ctx, needs, work)
	}

	var refused error // error of work
	_, err := answer(ctx, s, current, func(ctx context.Context, from *Store) (struct{}, error) {
		err := from.Within(ctx, needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			var w *loyalty.Writes
			w, refused = work(l)
			return w, refused
		})
		if refused != nil && errors.Is(err, refused) {
			return struct{}{}, nil
		}
		return struct{}{}, err
	})
	if err == nil {
		err = refused
	}

	return err
}

// Customer is the Store's.
func (s *Replicated) Customer(ctx context.Context, ref string) (loyalty.Customer, error) {
	return forward(ctx, s, current, (*Store).Customer, ref)
}

// Customers is the Store's.
func (s *Replicated) Customers(ctx context.Context, q loyalty.CustomerQuery) ([]loyalty.Customer, error) {
	return forward(ctx, s, recent, (*Store).Customers, q)
}

// CountCustomers is the Store's.
func (s *Replicated) CountCustomers(ctx context.Context, q loyalty.CustomerQuery) (int64, error) {
	return forward(ctx, s, recent, (*Store).CountCustomers, q)
}

// CustomerIDs is the Store's.
func (s *Replicated) CustomerIDs(ctx context.Context, refs []string) (map[string]loyalty.ID, error) {
	return forward(ctx, s, current, (*Store).CustomerIDs, refs)
}

// CustomerNames is the Store's.
func (s *Replicated) CustomerNames(ctx context.Context, ids []loyalty.ID) (map[loyalty.ID]string, error) {
	return forward(ctx, s, current, (*Store).CustomerNames, ids)
}

// TierStandings is the Store's.
func (s *Replicated) TierStandings(ctx context.Context, structure string, after loyalty.ID, limit int) ([]loyalty.TierStanding, error) {
	return answer(ctx, s, recent, func(ctx context.Context, from *Store) ([]loyalty.TierStanding, error) {
		return from.TierStandings(ctx, structure, after, limit)
	})
}

// Statement is the Store's.
func (s *Replicated) Statement(ctx context.Context, customer loyalty.ID, ref string) (loyalty.Statement, error) {
	return answer(ctx, s, current, func(ctx context.Context, from *Store) (loyalty.Statement, error) {
		return from.Statement(ctx, customer, ref)
	})
}

// StatementAt is the Store's.
func (s *Replicated) StatementAt(ctx context.Context, customer loyalty.ID, at time.Time) (loyalty.Statement, error) {
	return answer(ctx, s, current, func(ctx context.Context, from *Store) (loyalty.Statement, error) {
		return from.StatementAt(ctx, customer, at)
	})
}

// UsedLots is the Store's.
func (s *Replicated) UsedLots(ctx context.Context, customer loyalty.ID, at time.Time) ([]points.Lot, error) {
	return answer(ctx, s, current, func(ctx context.Context, from *Store) ([]points.Lot, error) {
		return from.UsedLots(ctx, customer, at)
	})
}

// Events is the Store's.
func (s *Replicated) Events(ctx context.Context, q loyalty.EventQuery) (loyalty.EventPage, error) {
	how := ofOne(q.Ref != "" || q.Customer != loyalty.ID{})
	return forward(ctx, s, how, (*Store).Events, q)
}

// Transactions is the Store's.
func (s *Replicated) Transactions(ctx context.Context, q loyalty.TransactionQuery) (loyalty.TransactionPage, error) {
	return forward(ctx, s, current, (*Store).Transactions, q)
}

// Coupon is the Store's.
func (s *Replicated) Coupon(ctx context.Context, code string) (loyalty.Coupon, loyalty.Person, error) {
	found, err := answer(ctx, s, current, func(ctx context.Context, from *Store) (found loyalty.HeldCoupon, err error) {
		found.Coupon, found.Holder, err = from.Coupon(ctx, code)
		return found, err
	})
	return found.Coupon, found.Holder, err
}

// Coupons is the Store's.
func (s *Replicated) Coupons(ctx context.Context, q loyalty.CouponQuery) (loyalty.CouponPage, error) {
	how := ofOne(q.Ref != "" || q.Holder != loyalty.ID{})
	return forward(ctx, s, how, (*Store).Coupons, q)
}

// CouponRecord is the Store's.
func (s *Replicated) CouponRecord(ctx context.Context, code string, moves int) (loyalty.CouponRecord, error) {
	return answer(ctx, s, current, func(ctx context.Context, from *Store) (loyalty.CouponRecord, error) {
		return from.CouponRecord(ctx, code, moves)
	})
}

// CouponUsage is the Store's.
func (s *Replicated) CouponUsage(ctx context.Context, q loyalty.CouponUsageQuery) ([]loyalty.CouponUsage, error) {
	return forward(ctx, s, recent, (*Store).CouponUsage, q)
}

// PoolStock is the Store's.
func (s *Replicated) PoolStock(ctx context.Context, pools []string, at time.Time) (map[string]loyalty.PoolStock, error) {
	return answer(ctx, s, current, func(ctx context.Context, from *Store) (map[string]loyalty.PoolStock, error) {
		return from.PoolStock(ctx, pools, at)
	})
}

// RewardClaim is the Store's.
func (s *Replicated) RewardClaim(ctx context.Context, customer, event loyalty.ID) (loyalty.RewardClaim, error) {
	return answer(ctx, s, current, func(ctx context.Context, from *Store) (loyalty.RewardClaim, error) {
		return from.RewardClaim(ctx, customer, event)
	})
}

// Claims is the Store's.
func (s *Replicated) Claims(ctx context.Context, q loyalty.ClaimQuery) (loyalty.ClaimPage, error) {
	return forward(ctx, s, current, (*Store).Claims, q)
}

// claimed is a claim with its customer.
type claimed struct {
	claim loyalty.RewardClaim
	of    loyalty.Customer
}

// ClaimByID is the Store's.
func (s *Replicated) ClaimByID(ctx context.Context, id loyalty.ID) (loyalty.RewardClaim, loyalty.Customer, error) {
	found, err := answer(ctx, s, current, func(ctx context.Context, from *Store) (found claimed, err error) {
		found.claim, found.of, err = from.ClaimByID(ctx, id)
		return found, err
	})
	return found.claim, found.of, err
}

// Tallies is the Store's.
func (s *Replicated) Tallies(ctx context.Context, keys []string) (map[string]int64, error) {
	return forward(ctx, s, current, (*Store).Tallies, keys)
}

// CampaignTotals is the Store's.
func (s *Replicated) CampaignTotals(ctx context.Context, campaigns []string) (map[string]loyalty.CampaignTotals, error) {
	return forward(ctx, s, recent, (*Store).CampaignTotals, campaigns)
}

// BulkOperation is the Store's.
func (s *Replicated) BulkOperation(ctx context.Context, batch loyalty.ID, kinds ...string) (loyalty.BulkOperation, error) {
	return answer(ctx, s, current, func(ctx context.Context, from *Store) (loyalty.BulkOperation, error) {
		return from.BulkOperation(ctx, batch, kinds...)
	})
}

// BulkErrors is the Store's.
func (s *Replicated) BulkErrors(ctx context.Context, batch loyalty.ID, q loyalty.BulkPage) ([]loyalty.BulkItem, error) {
	return answer(ctx, s, current, func(ctx context.Context, from *Store) ([]loyalty.BulkItem, error) {
		return from.BulkErrors(ctx, batch, q)
	})
}
