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
		var rows []claimRow
		if err := db.Where("id = ?", UUID(id)).Limit(1).Find(&rows).Error; err != nil {
			return err
		}
		if len(rows) == 0 {
			return loyalty.ErrClaimUnknown.With("claim", id.String())
		}
		claim = claimOf(&rows[0])
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
			var rows []struct {
				Key   string
				Count int64
			}
			if err := db.Table("tallies").Where("key IN ?", keys[:n]).Find(&rows).Error; err != nil {
				return err
			}
			for _, row := range rows {
				counts[row.Key] = row.Count
			}
			keys = keys[n:]
		}
		return nil
	})
	return counts, err
}
