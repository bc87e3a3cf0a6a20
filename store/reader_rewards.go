package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

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

// talliesAtOnce bounds the keys of one statement.
const talliesAtOnce = 500

// Tallies reads counts that all customers share, by key. One that was never counted
// is not among them.
func (s claimStore) Tallies(ctx context.Context, keys []string) (map[string]int64, error) {
	counts := make(map[string]int64, len(keys))
	err := s.consistent(ctx, func(db *gorm.DB) error {
		for len(keys) > 0 {
			n := min(talliesAtOnce, len(keys))
			err := tallyTable.each(db.Where("key IN ?", keys[:n]), func(t *loyalty.Tally) bool {
				counts[t.Key] = t.Count
				return false
			})
			if err != nil {
				return err
			}
			keys = keys[n:]
		}
		return nil
	})
	return counts, err
}
