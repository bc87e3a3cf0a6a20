package store

import (
	"context"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Tallies reads counts that all customers share, by key. It leaves out keys that were never counted.
func (s claimStore) Tallies(ctx context.Context, keys []string) (map[string]int64, error) {
	counts := make(map[string]int64, len(keys))
	if len(keys) == 0 {
		return counts, nil
	}
	return counts, s.asks(ctx, tallyTable.rows(tallyTable.where("key IN ?", keys), func(t *loyalty.Tally) bool {
		counts[t.Key] = t.Count
		return false
	}))
}
