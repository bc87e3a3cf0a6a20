package tier

import (
	"encoding/json"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Ending is when a customer will lose a tier if nothing happens until then.
type Ending struct {
	Structure, Tier string
	At              time.Time
}

// Endings returns the endings of a customer's tiers, in the order of the structures; of returns the stored state of
// one. A structure whose figures must first be counted anew has none.
func Endings(p *programme.Programme, v TierView, of func(structure string) json.RawMessage) (list []Ending, err error) {
	for _, s := range ladders.Of(p) {
		var st TierState
		data := of(s.ID)
		if data == nil {
			continue
		}
		if err := json.Unmarshal(data, &st); err != nil {
			return nil, err
		}
		if s.counts() && !s.fresh(&st.TierFigures, v.At, v.Location) {
			continue
		}
		if at := s.ends(&st, v); !at.IsZero() {
			list = append(list, Ending{s.ID, st.Tier, at})
		}
	}

	return list, nil
}
