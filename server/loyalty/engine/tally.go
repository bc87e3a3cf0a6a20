package engine

import (
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Tally reads a count; one that was never counted is 0.
func (r *Run) Tally(key string) (int64, error) {
	if n, ok := r.work.tallies[key]; ok {
		return n, nil
	}
	if err := r.Require(loyalty.CustomerNeeds{Tallies: []string{key}}); err != nil {
		return 0, err
	}
	return r.batch.tallies[key], nil
}

// Count moves a tally by n in the name of an event.
func (r *Run) Count(e *loyalty.Event, key string, n int64) error {
	before, err := r.Tally(key)
	if err != nil {
		return err
	}
	if r.work.tallies == nil {
		r.work.tallies = map[string]int64{}
	}
	r.work.tallies[key] = before + n
	e.Tell().Tallies = append(e.Tell().Tallies, loyalty.TallyEffect{Key: key, N: n})
	return nil
}

// writeTallies adds the counts that changed to the batch's writes.
func (b *batch) writeTallies() {
	for _, key := range slices.Sorted(maps.Keys(b.tallies)) {
		after := b.tallies[key]
		switch before, known := b.loaded.Tallies[key]; {
		case !known && after != 0:
			b.writes.NewTallies = append(b.writes.NewTallies, loyalty.Tally{Key: key, Count: after})
		case known && before != after:
			b.writes.Tallies = append(b.writes.Tallies, loyalty.Changed[loyalty.Tally]{Before: loyalty.Tally{Key: key, Count: before}, After: loyalty.Tally{Key: key, Count: after}})
		}
	}
}
