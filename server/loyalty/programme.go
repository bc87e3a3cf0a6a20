package loyalty

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// The modules of this build. A module that is not listed does not exist yet:
// its attributes and actions answer that it is off.
const (
	ModuleCheckoutAccept       = "checkout_accept"
	ModuleEventsAPI            = "events_api"
	ModuleIncentivizedPurchase = "incentivized_purchase"
	ModuleLanguage             = "language"
	ModulePointsEconomy        = "points_economy"
	ModuleStorefrontConnector  = "storefront_connector"
	ModuleStores               = "stores"
)

// Programme is the compiled configuration at one version. It never changes: a
// change makes a new one, and an event sees one programme from end to end.
type Programme struct {
	Version  int64
	Settings Settings
	Location *time.Location // of Settings.TimeZone
	On       map[string]bool

	Economy  Economy
	Purchase Purchase
	Accept   Acceptance
	Language LanguageChoice

	SuppressPII bool // events_api: answers name no customer
}

// Economy is the configuration of points_economy. With the module off, points
// never expire and corrections may take a balance below zero.
type Economy struct {
	Expiry         points.Policy
	NegativeRefuse bool // point_sub and refunds may not take the balance below zero
}

// Purchase is the configuration of incentivized_purchase.
type Purchase struct {
	Rate          money.Rate // points per currency unit
	CurrencyRates map[string]money.Rate
	Rounding      money.Rounding
}

// RateFor is the rate of a currency; the programme's own where it has none.
func (p Purchase) RateFor(currency string) money.Rate {
	if r, ok := p.CurrencyRates[currency]; ok {
		return r
	}
	return p.Rate
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
