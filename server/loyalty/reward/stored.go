package reward

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// RewardOf reads a stored reward, even an archived one, because old claims still refer to it.
func RewardOf(e loyalty.Entity) (*Reward, error) {
	r := &Reward{ID: e.ID, Custom: programme.CustomFields(e)}
	return r, programme.Decode(e, r)
}
