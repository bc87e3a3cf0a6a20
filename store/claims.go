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
		text, backwards := claimsOf(owners, q).sql()
		list, err = claimTable.find(db.Raw(text.text, text.args...))
		list = inOrder(list, backwards)
		return err
	})
	return list, err
}

// claimsOf makes the statement of a query.
func claimsOf(owners []UUID, q loyalty.ClaimQuery) *unionQuery {
	if q.Page.Limit == 0 {
		q.Page.Limit = math.MaxInt32
	}
	return &unionQuery{
		table: "claims", columns: claimTable.names(), branches: owned(owners, "claimed_at"), page: pagerOf(q.Page),
		order: listOrder{at: "claimed_at", id: "id", descending: !q.OldestFirst},
	}
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

// ClaimByID finds a claim by the event that records it, with the customer whose
// claim it is; of a merged one with the one they became part of. It fails with
// loyalty.ErrClaimUnknown.
func (s claimStore) ClaimByID(ctx context.Context, id loyalty.ID) (claim loyalty.RewardClaim, customer loyalty.Customer, err error) {
	err = s.consistent(ctx, func(db *gorm.DB) error {
		found, err := claimTable.first(db.Where("id = ?", UUID(id)))
		if err != nil {
			return err
		}
		if found == nil {
			return loyalty.ErrClaimUnknown.With("claim", id.String())
		}
		claim = *found
		customer, err = survivor(db, UUID(claim.Customer))
		return err
	})
	return claim, customer, err
}
