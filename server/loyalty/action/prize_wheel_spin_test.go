package action_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestTheOddsAreTheWeights spins a wheel whose reward needs more loaded than its
// points do. A spin that drew again after loading would give the reward in a
// quarter of the spins, not in half of them. 400 spins leave these bounds, seven
// deviations on each side, once in 10^11 runs.
func TestTheOddsAreTheWeights(t *testing.T) {
	const spins, tolerance = 400, 70
	wheel := json.RawMessage(`{"name":{"en":"Wheel"},"options":[
		{"type":"reward","label":{"en":"A mug"},"weight":1,"reward":"mug"},{"type":"points","label":{"en":"One"},"weight":1,"points":1}]}`)
	mug := json.RawMessage(`{"title":{"en":"A mug"},"type":"physical","points":10,"stock":1000000}`)
	storetest.Each(t, func(t *testing.T, db *store.Store) {
		s := newStage(t, db, scenario{
			Modules:  map[string]json.RawMessage{"prize_wheels": json.RawMessage("true")},
			Entities: entities{"prize-wheels/wheel": {"daily": wheel}, "rewards/reward": {"mug": mug}},
			Given:    []given{{Customer: "ada"}},
		})

		var rewards int
		for range spins {
			o, err := s.Preview(s.ctx, loyalty.Submission{
				Customer: "ada", Action: "prize_wheel_spin", Data: json.RawMessage(`{"wheel":"daily"}`), Operation: true,
			})
			require.NoError(t, err)
			if o.Value.(game.SpinResult).Type == game.OptionReward {
				rewards++
			}
		}

		require.InDelta(t, spins/2, rewards, tolerance)
	})
}
