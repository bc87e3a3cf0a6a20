package programme

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Bounds of configured periods.
const (
	maxDays   = 36_500
	maxMonths = 1_200
	maxHeld   = 3_650 // days

	maxPointValue = 1_000_000 * money.Unit
)

// economyConfig is the configuration of points_economy as it is sent, stored
// and shown.
type economyConfig struct {
	Expiry    expiryConfig `json:"expiry"`
	Negative  string       `json:"negative"`
	Value     money.Amount `json:"point_value,omitempty"`
	Reminders Reminders    `json:"reminders"`
}

type expiryConfig struct {
	Policy string `json:"policy"`
	Days   int    `json:"days,omitempty"`
	Months int    `json:"months,omitempty"`
	Date   string `json:"date,omitempty"` // MM-DD
}

// readEconomy reads a configuration as strictly as it will be shown: each default is written out, so that a
// configuration that is read back and sent again changes nothing.
func readEconomy(raw json.RawMessage) (any, error) {
	c := economyConfig{Expiry: expiryConfig{Policy: points.ExpiryNone}, Negative: "allow"}
	o, expiry, reminders := openObject(raw, "config"), json.RawMessage(nil), json.RawMessage(nil)
	o.take("expiry", "object", &expiry)
	o.take("reminders", "object", &reminders)
	o.choice("negative", &c.Negative, "allow", "refuse")
	o.value("point_value", &c.Value)
	e := openObject(expiry, "config.expiry")
	e.choice("policy", &c.Expiry.Policy, points.ExpiryNone, points.ExpiryRolling, points.ExpiryCalendar,
		points.ExpiryLastActivity, points.ExpiryAnniversary)
	e.count("days", &c.Expiry.Days, 1, maxDays)
	e.count("months", &c.Expiry.Months, 1, maxMonths)
	e.take("date", "string", &c.Expiry.Date)
	c.Expiry.check(e)
	// a fault of the outer object goes first: the inner one may be its consequence
	if err := e.done(); err != nil && o.err == nil {
		return nil, err
	}

	var err error
	if c.Reminders, err = readReminders(reminders); err != nil && o.err == nil {
		return nil, err
	}

	return c, o.done()
}

// check checks the policy and its values together. A value that the policy would ignore is refused, because its sender
// expects an effect.
func (c expiryConfig) check(e *object) {
	period := c.Policy == points.ExpiryRolling || c.Policy == points.ExpiryLastActivity
	switch {
	case period && c.Days == 0 && c.Months == 0:
		e.fail("days", loyalty.ErrPropertyEmpty.Name, nil)
	case !period && c.Days != 0:
		e.refuse(NotWith(e.field("days"), "policy", c.Policy))
	case !period && c.Months != 0:
		e.refuse(NotWith(e.field("months"), "policy", c.Policy))
	case c.Policy != points.ExpiryCalendar && c.Date != "":
		e.refuse(NotWith(e.field("date"), "policy", c.Policy))
	case c.Policy == points.ExpiryCalendar && c.Date == "":
		e.fail("date", loyalty.ErrPropertyEmpty.Name, nil)
	}

	if _, _, err := points.ParseDay(c.Date); c.Date != "" && err != nil {
		e.fail("date", "bad_format", map[string]any{"format": "MM-DD"})
	}
}

// compile turns the configuration into what rules read. It cannot fail: faults were refused when it was read.
func (c economyConfig) compile(p *Programme) {
	month, day, _ := points.ParseDay(c.Expiry.Date) // checked when it was read; empty gives zero
	p.Economy = Economy{
		Expiry: points.Policy{
			Kind: c.Expiry.Policy, Period: points.Period{Months: c.Expiry.Months, Days: c.Expiry.Days}, Month: month, Day: day,
		},
		NegativeRefuse: c.Negative == "refuse", PointValue: c.Value,
	}
	p.Reminders = c.Reminders
}

// The consequences of a code that a checkout cannot use.
const (
	refuseInvalid = "refuse"
	recordInvalid = "record"
)

// purchaseConfig is the configuration of incentivized_purchase.
type purchaseConfig struct {
	Rate          money.Rate            `json:"rate"`
	CurrencyRates map[string]money.Rate `json:"currency_rates"`
	Rounding      string                `json:"rounding"`
	InvalidCodes  string                `json:"invalid_codes"`
}

// readPurchase defaults to one point for a unit of any currency that has no rate of its own.
func readPurchase(raw json.RawMessage) (any, error) {
	one, err := money.ParseRate("1")
	if err != nil {
		return nil, fmt.Errorf("rate of one: %w", err)
	}
	c := purchaseConfig{Rate: one, CurrencyRates: map[string]money.Rate{}, Rounding: string(money.Floor),
		InvalidCodes: refuseInvalid}
	o := openObject(raw, "config")
	o.rate("rate", &c.Rate)
	o.rates("currency_rates", &c.CurrencyRates)
	o.choice("rounding", &c.Rounding, string(money.Floor), string(money.Round), string(money.Ceil))
	o.choice("invalid_codes", &c.InvalidCodes, refuseInvalid, recordInvalid)
	return c, o.done()
}

func (c purchaseConfig) compile(p *Programme) {
	p.Purchase = Purchase{
		Rate: c.Rate, CurrencyRates: ratesByKey(c.CurrencyRates), Rounding: money.Rounding(c.Rounding),
		RecordInvalid: c.InvalidCodes == recordInvalid,
	}
}

// acceptConfig is the configuration of checkout_accept. Pending days have no
// effect while the type is manual.
type acceptConfig struct {
	Type        string `json:"type"`
	PendingDays *int   `json:"pending_days,omitempty"`
}

func readAccept(raw json.RawMessage) (any, error) {
	c := acceptConfig{Type: AcceptManual}
	o := openObject(raw, "config")
	o.choice("type", &c.Type, AcceptManual, AcceptAuto, AcceptReject)
	days := -1
	o.count("pending_days", &days, 0, maxDays)
	switch {
	case days < 0 && c.Type != AcceptManual:
		o.fail("pending_days", loyalty.ErrPropertyEmpty.Name, nil)
	// refused instead of ignored: its sender expects that purchases are accepted automatically
	case days >= 0 && c.Type == AcceptManual:
		o.refuse(NotWith("config.pending_days", "type", AcceptManual))
	case days >= 0:
		c.PendingDays = &days
	}

	return c, o.done()
}

func (c acceptConfig) compile(p *Programme) {
	p.Accept = Acceptance{Type: c.Type}
	if c.PendingDays != nil {
		p.Accept.PendingDays = *c.PendingDays
	}
}

// languageConfig is the configuration of language.
type languageConfig struct {
	Default string   `json:"default"`
	Enabled []string `json:"enabled"`
}

// readLanguage requires that the default is one of the enabled languages.
func readLanguage(raw json.RawMessage) (any, error) {
	c := languageConfig{Default: loyalty.Languages[0], Enabled: slices.Clone(loyalty.Languages)}
	o := openObject(raw, "config")
	if o.take("default", "string", &c.Default) {
		o.language("default", c.Default)
	}

	if o.take("enabled", "array of strings", &c.Enabled) {
		for i, l := range c.Enabled {
			o.language(fmt.Sprintf("enabled[%d]", i), l)
		}
		if slices.Sort(c.Enabled); len(slices.Compact(slices.Clone(c.Enabled))) != len(c.Enabled) {
			o.fail("enabled", "not_unique", nil)
		}
	}

	o.oneOf("default", c.Default, c.Enabled)
	return c, o.done()
}

func (c languageConfig) compile(p *Programme) {
	p.Language = LanguageChoice(c)
}

// tiersConfig is the configuration of tiers.
type tiersConfig struct {
	ExchangeRates map[string]money.Rate `json:"exchange_rates"`
}

// readTiers reads exchange rates, by which purchases in several currencies add up to one
// figure.
func readTiers(raw json.RawMessage) (any, error) {
	c := tiersConfig{ExchangeRates: map[string]money.Rate{}}
	o := openObject(raw, "config")
	o.rates("exchange_rates", &c.ExchangeRates)
	for _, currency := range slices.Sorted(maps.Keys(c.ExchangeRates)) {
		if c.ExchangeRates[currency].Sign() == 0 { // no amount could be converted into it
			o.fail("exchange_rates."+currency, "too_small", map[string]any{"limit": 0})
		}
	}
	return c, o.done()
}

func (c tiersConfig) compile(p *Programme) { p.ExchangeRates = ratesByKey(c.ExchangeRates) }

// eventsConfig is the configuration of events_api.
type eventsConfig struct {
	SuppressPII bool `json:"suppress_pii"`
}

// readEvents reads whether answers leave personal data out.
func readEvents(raw json.RawMessage) (any, error) {
	c := eventsConfig{}
	o := openObject(raw, "config")
	o.flag("suppress_pii", &c.SuppressPII)
	return c, o.done()
}

func (c eventsConfig) compile(p *Programme) { p.SuppressPII = c.SuppressPII }

// leaderboardConfig is the configuration of leaderboard.
type leaderboardConfig struct {
	ShowIDs bool `json:"show_ids"`
}

// readLeaderboard reads whether boards name customers; they do by default.
func readLeaderboard(raw json.RawMessage) (any, error) {
	c := leaderboardConfig{ShowIDs: true}
	o := openObject(raw, "config")
	o.flag("show_ids", &c.ShowIDs)
	return c, o.done()
}

func (c leaderboardConfig) compile(p *Programme) { p.HideIDs = !c.ShowIDs }

// switchConfig is the configuration of a module that is only on or off.
type switchConfig struct{}

// readSwitch refuses any property: a module that is only on or off has none.
func readSwitch(raw json.RawMessage) (any, error) {
	return switchConfig{}, openObject(raw, "config").done()
}

func (switchConfig) compile(*Programme) {}

// Bounds and defaults of the settings.
const (
	maxWindow     = 900 * time.Second
	defaultWindow = 300 * time.Second
)

// defaultSettings are those of a fresh database: euros, UTC, ±300 s.
var defaultSettings = loyalty.Settings{Currency: "EUR", TimeZone: "UTC", AcceptanceWindow: defaultWindow}

// isUpper reports whether a currency is written as ISO 4217 does.
func isUpper(s string) bool {
	for _, r := range s {
		if r < 'A' || r > 'Z' {
			return false
		}
	}
	return true
}
