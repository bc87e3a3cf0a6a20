package points

// Origin is what a lot was given for. It never changes, even if the lot passes to another customer.
type Origin uint8

// The origins, as they are stored.
const (
	Unknown    Origin = 0 // the lot has no recorded origin
	Purchase   Origin = 1 // a purchase, by the programme's basic rule
	Campaign   Origin = 2 // a campaign, also one that follows a purchase
	Challenge  Origin = 3
	Referral   Origin = 4
	Reward     Origin = 5 // a reward that gives points
	Activity   Origin = 6 // an event that carries points: a visit, a video, a quiz
	Correction Origin = 7 // a credit that was requested as such
	Import     Origin = 8 // taken over from another system
)

var originNames = [...]string{"unknown", "purchase", "campaign", "challenge", "referral", "reward",
	"activity", "correction", "import"}

func (o Origin) String() string {
	if int(o) < len(originNames) {
		return originNames[o]
	}
	return originNames[Unknown]
}
