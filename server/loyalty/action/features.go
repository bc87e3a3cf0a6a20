package action

import "github.com/loyalty-platform/loyalty/server/loyalty"

// Kinds lists the types of entities, each after those that it can name.
func Kinds() []loyalty.EntityKind {
	return []loyalty.EntityKind{
		loyalty.PlainEntityType{Type: loyalty.CustomerListType},
		loyalty.PlainEntityType{Type: loyalty.ProductType},
		loyalty.Attributes,
		loyalty.CustomActions,
		loyalty.Shops,
		loyalty.Segments,
		loyalty.Pools,
		loyalty.Rewards,
		loyalty.Offers,
		loyalty.Structures,
		loyalty.Tiers,
		loyalty.Challenges,
		loyalty.Contests,
		loyalty.Wheels,
		loyalty.Quizzes,
		loyalty.Treasures,
		loyalty.Flows,
		loyalty.Campaigns,
	}
}

// Features lists the parts of the rules in the order in which they run. Coupons of a
// checkout are redeemed before all of them, by the checkout itself. Campaigns come
// before what reacts to their gifts, so that a purchase is rewarded by the tier it was
// made in; then challenges; then tiers, which look at everything the round brought; then
// the bonus for a referral. A rejected purchase gives back in the same order.
func Features() []loyalty.Feature {
	return []loyalty.Feature{
		loyalty.PurchaseFeature,
		loyalty.PendingFeature,
		loyalty.CouponFeature,
		loyalty.RewardFeature,
		loyalty.OfferFeature,
		loyalty.CampaignFeature,
		loyalty.ChallengeFeature,
		loyalty.TierFeature,
		loyalty.ReferralFeature,
		loyalty.ContestFeature,
		loyalty.WheelFeature,
		loyalty.TreasureFeature,
		loyalty.QuizFeature,
		loyalty.FlowFeature,
	}
}

// Registry is what this build of the program knows.
func Registry() *loyalty.Registry {
	var actions []string
	for _, rule := range All() {
		actions = append(actions, rule.Meta().Name)
	}
	return loyalty.NewRegistry(actions, Kinds()...)
}
