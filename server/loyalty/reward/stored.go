package reward

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// RewardOf reads a reward as it is stored, also one that is archived: claims name it
// for ever.
func RewardOf(e loyalty.Entity) (*Reward, error) {
	r := &Reward{ID: e.ID, Custom: programme.CustomFields(e)}
	return r, programme.Decode(e, r)
}
