package store

import (
	"context"
	"math"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// claimStore reads what was claimed of rewards, and what campaigns gave.
type claimStore struct{ *database }

// Claims lists what a customer and those merged into them claimed or received, the
// newest first unless the query says otherwise.
func (s claimStore) Claims(ctx context.Context, q loyalty.ClaimQuery) ([]loyalty.RewardClaim, error) {
	var list []loyalty.RewardClaim
	err := s.consistent(ctx, func(db *gorm.DB) error {
		owners, err := accounts(db, q.Customer)
		if err != nil {
			return err
		}
		text, backwards := claimsOf(owners, q).read()
		list, err = claimTable.find(db.Raw(text.text, text.args...))
		list = inOrder(list, backwards)
		return err
	})
	return list, err
}

// claimsOf words a query.
func claimsOf(owners []UUID, q loyalty.ClaimQuery) *merged {
	if q.Page.Limit == 0 {
		q.Page.Limit = math.MaxInt32
	}
	return &merged{
		table: "claims", columns: claimTable.names(), branches: owned(owners, "claimed_at"), page: q.Page,
		order: listOrder{at: "claimed_at", id: "id", descending: !q.OldestFirst},
	}
}

// accounts lists customers and everybody who was merged into them: their rows stay
// under the ids they had.
func accounts(db *gorm.DB, customers ...loyalty.ID) ([]UUID, error) {
	owners := make([]UUID, len(customers))
	for i, id := range customers {
		owners[i] = UUID(id)
	}
	var sources []UUID
	err := among(db.Table("customers"), "merged_into", owners).Pluck("id", &sources).Error
	return append(owners, sources...), err
}

// among is a condition on a list of values, as an equality where there is one: only
// so an index gives the rows in the order of its further columns.
func among[T any](db *gorm.DB, column string, values []T) *gorm.DB {
	if len(values) == 1 {
		return db.Where(column+" = ?", values[0])
	}
	return db.Where(column+" IN ?", values)
}

// RewardClaim finds a claim by the event that records it, among those of a
// customer and of the customers merged into them. It fails with
// loyalty.ErrClaimNotFound.
func (s claimStore) RewardClaim(ctx context.Context, customer, event loyalty.ID) (loyalty.RewardClaim, error) {
	var claim *loyalty.RewardClaim
	err := s.consistent(ctx, func(db *gorm.DB) error {
		owners := []UUID{}
		if err := db.Table("customers").Where("merged_into = ?", UUID(customer)).Pluck("id", &owners).Error; err != nil {
			return err
		}
		owners = append(owners, UUID(customer))
		var err error
		claim, err = claimTable.first(db.Where("customer_id IN ? AND id = ?", owners, UUID(event)))
		return err
	})
	switch {
	case err != nil:
		return loyalty.RewardClaim{}, err
	case claim == nil:
		return loyalty.RewardClaim{}, loyalty.ErrClaimNotFound.With("event", event.String())
	}
	return *claim, nil
}
