package loyalty

import (
	"maps"
	"slices"
)

// Tally is a count that all customers share, such as how often a reward was
// claimed in all.
type Tally struct {
	Key   string
	Count int64
}

// The keys of tallies: what is counted, then the entity's id.
const (
	TallyReward   = "reward/"   // claims that stand
	TallyCampaign = "campaign/" // times it gave
	TallyOffer    = "offer/"    // redemptions that stand
)

// Tally reads a count; one that was never counted is 0.
func (r *Run) Tally(key string) (int64, error) {
	if n, ok := r.work.tallies[key]; ok {
		return n, nil
	}
	if err := r.require(CustomerNeeds{Tallies: []string{key}}); err != nil {
		return 0, err
	}
	return r.batch.tallies[key], nil
}

// Count moves a tally by n in the name of an event.
func (r *Run) Count(e *Event, key string, n int64) error {
	before, err := r.Tally(key)
	if err != nil {
		return err
	}
	if r.work.tallies == nil {
		r.work.tallies = map[string]int64{}
	}
	r.work.tallies[key] = before + n
	e.effects().Tallies = append(e.effects().Tallies, TallyEffect{key, n})
	return nil
}

// writeTallies adds the counts that changed to the batch's writes.
func (b *batch) writeTallies() {
	for _, key := range slices.Sorted(maps.Keys(b.tallies)) {
		after := b.tallies[key]
		switch before, known := b.loaded.Tallies[key]; {
		case !known && after != 0:
			b.writes.NewTallies = append(b.writes.NewTallies, Tally{key, after})
		case known && before != after:
			b.writes.Tallies = append(b.writes.Tallies, Changed[Tally]{Tally{key, before}, Tally{key, after}})
		}
	}
}
