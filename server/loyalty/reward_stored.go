package loyalty

// RewardOf reads a reward as it is stored, also one that is archived: claims name it
// for ever.
func RewardOf(e Entity) (*Reward, error) {
	r := &Reward{ID: e.ID, Custom: customOf(e)}
	return r, decodeEntity(e, r)
}
