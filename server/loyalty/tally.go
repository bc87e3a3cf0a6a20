package loyalty

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
