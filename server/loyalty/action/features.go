package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/offer"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/purchase"
	"github.com/loyalty-platform/loyalty/server/loyalty/referral"
	"github.com/loyalty-platform/loyalty/server/loyalty/reminder"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// entityKinds lists the types of entities, each after those that it can name.
func entityKinds() []programme.EntityKind {
	return []programme.EntityKind{
		programme.PlainEntityType{Type: loyalty.CustomerListType},
		programme.PlainEntityType{Type: loyalty.ProductType},
		programme.Attributes,
		programme.CustomActions,
		programme.Shops,
		programme.Segments,
		coupon.Pools,
		reward.Rewards,
		offer.Offers,
		tier.Structures,
		tier.Tiers,
		challenge.Challenges,
		game.Contests,
		game.Wheels,
		game.Quizzes,
		game.Treasures,
		game.Flows,
		campaign.Campaigns,
	}
}

// Features lists the parts of the rules in the order in which they run. The coupons of a checkout are redeemed before
// all of them, by the checkout itself. Campaigns come before the features that react to their gifts, so that a purchase
// is rewarded by the tier it was made in. Then come challenges, then tiers, which look at everything the round brought,
// and then the bonus for a referral. A rejected purchase gives back in the same order.
func Features() []engine.Feature {
	return []engine.Feature{
		purchase.PurchaseFeature,
		purchase.PendingFeature,
		coupon.CouponFeature,
		reward.RewardFeature,
		offer.OfferFeature,
		campaign.CampaignFeature,
		challenge.ChallengeFeature,
		tier.TierFeature,
		referral.ReferralFeature,
		reminder.Feature,
		game.ContestFeature,
		game.WheelFeature,
		game.TreasureFeature,
		game.QuizFeature,
		game.FlowFeature,
	}
}

// Registry is the entity types and actions of this build of the program.
func Registry() *programme.Registry {
	var actions []string
	// conditions, challenges and campaigns may name any action that this build knows
	for _, rule := range All() {
		actions = append(actions, rule.Meta().Name)
	}
	return programme.NewRegistry(actions, entityKinds()...)
}
