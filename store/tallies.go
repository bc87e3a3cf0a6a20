package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

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
