// Package programme is the compiled configuration: modules, settings, the registry of the types of entities, and what
// several features read (segments, shops, currencies, custom attributes and actions). A Programme never changes; an
// event sees one from beginning to end. What a feature computes from its own entities it keeps here in an EntityType or
// a Slot, so that no feature is named in this package.
package programme

import (
	"maps"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The modules.
const (
	ModuleAutomation           = "automation"
	ModuleChallenges           = "challenges"
	ModuleCheckoutAccept       = "checkout_accept"
	ModuleContests             = "contests"
	ModuleCoupons              = "coupons"
	ModuleCustomEntities       = "custom_entities"
	ModuleCustomEvents         = "custom_events"
	ModuleCustomerIDValidation = "customer_id_validation"
	ModuleCustomerLogin        = "customer_login"
	ModuleEventsAPI            = "events_api"
	ModuleFriendReferral       = "friend_referral"
	ModuleIncentivizedPurchase = "incentivized_purchase"
	ModuleLanguage             = "language"
	ModuleLeaderboard          = "leaderboard"
	ModuleOffers               = "offers"
	ModulePendingEvents        = "pending_events"
	ModulePointsEconomy        = "points_economy"
	ModulePrizeWheels          = "prize_wheels"
	ModuleProfiling            = "profiling"
	ModuleQuizzes              = "quizzes"
	ModuleRewards              = "rewards"
	ModuleStorefrontConnector  = "storefront_connector"
	ModuleStores               = "stores"
	ModuleTiers                = "tiers"
	ModuleTreasureHunt         = "treasure_hunt"
	ModuleVisualSearch         = "visual_search"
)

// Programme is the compiled configuration at one version. It never changes: a change makes a new one, and an event sees
// one programme from beginning to end.
type Programme struct {
	Version  int64
	Settings loyalty.Settings
	Location *time.Location // of Settings.TimeZone
	On       map[string]bool

	Economy   Economy
	Reminders Reminders // points_economy
	Purchase  Purchase
	// ExchangeRates are units of the programme's currency for one unit of another, for every comparison or sum of
	// money. They are part of the module tiers, and apply while it is off as well.
	ExchangeRates currencyRates
	Accept        Acceptance
	Language      LanguageChoice

	SuppressPII bool // events_api: answers name no customer
	HideIDs     bool // leaderboard: boards show no customer's id

	Holding  Holding  // pending_events
	Referral Referral // friend_referral

	Actions    map[string]*CustomAction              // declared ones, by name
	Attributes map[string][]*loyalty.CustomAttribute // by the type that has them, such as rewards/reward
	OwnTypes   map[string]bool                       // custom/<id>: the types that attributes declare, archived ones too

	registry *Registry
	compiled map[any]any            // by EntityType and Slot; without archived entities
	declared map[string]declaration // by action
}

// Economy is the configuration of points_economy. With the module off, points
// never expire and corrections may take a balance below zero.
type Economy struct {
	Expiry         points.Policy
	NegativeRefuse bool // point_sub and refunds may not take the balance below zero
	// PointValue is what one point is worth, in the programme's currency; 0: not set. No rule reads it.
	PointValue money.Amount
}

// Purchase is the configuration of incentivized_purchase.
type Purchase struct {
	Rate          money.Rate // points for one unit of the programme's currency
	CurrencyRates currencyRates
	Rounding      money.Rounding
	// RecordInvalid makes a checkout continue without the codes that it cannot use, with warnings; otherwise such a
	// code refuses the checkout.
	RecordInvalid bool
}

// RateFor returns what one unit of a currency earns, in points, and false if the currency has no rate and earns
// nothing. No currency is the programme's.
func (p *Programme) RateFor(currency string) (money.Rate, bool) {
	if r, ok := p.Purchase.CurrencyRates[p.currency(currency)]; ok {
		return r, true
	}
	return p.Purchase.Rate, p.currency(currency) == p.currency("")
}

// Acceptance is the configuration of checkout_accept.
type Acceptance struct {
	Type        string // manual, accept or reject
	PendingDays int
}

// The types of Acceptance.
const (
	AcceptManual = "manual"
	AcceptAuto   = "accept"
	AcceptReject = "reject"
)

// LanguageChoice is the configuration of language.
type LanguageChoice struct {
	Default string   // ISO 639-1
	Enabled []string // Default included
}

// Accepting returns the programme without the modules that make purchases wait.
func (p *Programme) Accepting() *Programme {
	c := *p
	c.On, c.Holding = maps.Clone(p.On), Holding{}
	c.On[ModuleCheckoutAccept] = false
	return &c
}
