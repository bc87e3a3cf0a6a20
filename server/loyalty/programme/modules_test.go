package programme

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

func programmeOf(t *testing.T, name string, enabled bool, config string) *Programme {
	t.Helper()
	p, err := NewRegistry([]string{"point_add", "checkout", "visit"}).Compile(loyalty.Snapshot{Version: 7, Modules: []loyalty.ModuleState{{Name: name, Enabled: enabled, Config: json.RawMessage(config)}}})
	require.NoError(t, err)
	return p
}

func TestFreshProgramme(t *testing.T) {
	p, err := NewRegistry([]string{"point_add", "checkout", "visit"}).Compile(loyalty.Snapshot{})
	require.NoError(t, err)
	require.Equal(t, map[string]bool{
		ModulePointsEconomy: true, ModuleIncentivizedPurchase: true, ModuleLanguage: true, ModuleStores: true,
		ModuleCoupons: true, ModuleRewards: true, ModuleOffers: true, ModuleTiers: true, ModuleChallenges: true,
		ModuleTreasureHunt: true, ModuleAutomation: true, ModuleLeaderboard: true,
	}, p.On)

	require.Equal(t, defaultSettings, p.Settings)
	require.Equal(t, time.UTC, p.Location)
	require.Equal(t, points.ExpiryNone, p.Economy.Expiry.Kind)
	require.False(t, p.Economy.NegativeRefuse)
	require.Equal(t, "1", rateOf(t, p, "EUR"))
	require.Equal(t, money.Floor, p.Purchase.Rounding)
	require.Equal(t, LanguageChoice{Default: "en", Enabled: []string{"en", "es", "fr", "hu"}}, p.Language)
	require.False(t, p.SuppressPII)
	states, err := ModuleStates(loyalty.Snapshot{})
	require.NoError(t, err)
	require.Len(t, states, len(ModuleNames()))
	require.Len(t, states, 26)
	purchase := slices.IndexFunc(states, func(m loyalty.ModuleState) bool { return m.Name == ModuleIncentivizedPurchase })
	require.JSONEq(t, `{"rate":1,"currency_rates":{},"rounding":"floor","invalid_codes":"refuse"}`, string(states[purchase].Config))
}

// rateOf is what one unit of a currency earns.
func rateOf(t *testing.T, p *Programme, currency string) string {
	rate, known := p.RateFor(currency)
	require.True(t, known)
	return rate.String()
}

func TestConfigurations(t *testing.T) {
	p := programmeOf(t, ModulePointsEconomy, true, `{"expiry":{"policy":"rolling","months":12,"days":3},"negative":"refuse","point_value":0.0125}`)
	require.Equal(t, Economy{points.Policy{Kind: "rolling", Period: points.Period{Months: 12, Days: 3}}, true, 125}, p.Economy)

	p = programmeOf(t, ModulePointsEconomy, true, `{"expiry":{"policy":"calendar","date":"02-29"}}`)
	require.Equal(t, points.Policy{Kind: "calendar", Month: time.February, Day: 29}, p.Economy.Expiry)

	p = programmeOf(t, ModuleIncentivizedPurchase, true, `{"rate":0.1,"currency_rates":{"HUF":0.0025},"rounding":"ceil"}`)
	require.Equal(t, "0.1", rateOf(t, p, "EUR"))
	require.Equal(t, "0.0025", rateOf(t, p, "HUF"))
	require.Equal(t, "0.1", rateOf(t, p, ""), "no currency is the programme's")
	require.Equal(t, "0.0025", rateOf(t, p, " huf"))
	_, known := p.RateFor("USD")
	require.False(t, known)
	require.Equal(t, money.Ceil, p.Purchase.Rounding)

	p = programmeOf(t, ModuleCheckoutAccept, true, `{"type":"accept","pending_days":0}`)
	require.Equal(t, Acceptance{AcceptAuto, 0}, p.Accept)
	require.True(t, p.On[ModuleCheckoutAccept])
	require.Equal(t, 36_500, programmeOf(t, ModuleCheckoutAccept, true, `{"type":"reject","pending_days":36500}`).Accept.PendingDays)

	p = programmeOf(t, ModuleLanguage, true, `{"default":"hu","enabled":["hu","en"]}`)
	require.Equal(t, LanguageChoice{"hu", []string{"en", "hu"}}, p.Language)

	require.True(t, programmeOf(t, ModuleEventsAPI, true, `{"suppress_pii":true}`).SuppressPII)
	require.EqualValues(t, 7, p.Version)
}

func TestModuleThatIsOffHasNoEffect(t *testing.T) {
	p := programmeOf(t, ModulePointsEconomy, false, `{"expiry":{"policy":"rolling","days":1},"negative":"refuse"}`)
	require.Equal(t, Economy{}, p.Economy)
	p = programmeOf(t, ModuleLanguage, false, `{"default":"hu"}`)
	require.Equal(t, LanguageChoice{"en", []string{"en"}}, p.Language)
	require.False(t, programmeOf(t, ModuleEventsAPI, false, `{"suppress_pii":true}`).SuppressPII)
	require.Equal(t, Acceptance{}, programmeOf(t, ModuleCheckoutAccept, false, `{"type":"reject","pending_days":3}`).Accept)
}

func TestConfigurationFaults(t *testing.T) {
	for _, c := range []struct{ module, config, field, name string }{
		{ModulePointsEconomy, `[]`, "config", "must_be_type"},
		{ModulePointsEconomy, `{`, "config", "must_be_type"},
		{ModulePointsEconomy, `{"expires":{}}`, "config.expires", "property_unknown"},
		{ModulePointsEconomy, `{"negative":"no"}`, "config.negative", "must_be_one_of"},
		{ModulePointsEconomy, `{"negative":"allow","negative":"refuse"}`, "config.negative", "not_unique"},
		{ModulePointsEconomy, `{"expiry":"none"}`, "config.expiry", "must_be_type"},
		{ModulePointsEconomy, `{"expiry":{"policy":"weekly"}}`, "config.expiry.policy", "must_be_one_of"},
		{ModulePointsEconomy, `{"expiry":{"policy":"rolling"}}`, "config.expiry.days", "property_empty"},
		{ModulePointsEconomy, `{"expiry":{"policy":"rolling","days":-1}}`, "config.expiry.days", "too_small"},
		{ModulePointsEconomy, `{"expiry":{"policy":"rolling","days":1.5}}`, "config.expiry.days", "must_be_type"},
		{ModulePointsEconomy, `{"expiry":{"policy":"rolling","days":36501}}`, "config.expiry.days", "too_large"},
		{ModulePointsEconomy, `{"expiry":{"policy":"rolling","months":1201}}`, "config.expiry.months", "too_large"},
		{ModulePointsEconomy, `{"expiry":{"policy":"none","days":1}}`, "config.expiry.days", "not_with_value"},
		{ModulePointsEconomy, `{"expiry":{"policy":"anniversary","months":1}}`, "config.expiry.months", "not_with_value"},
		{ModulePointsEconomy, `{"expiry":{"policy":"rolling","days":1,"date":"01-31"}}`, "config.expiry.date", "not_with_value"},
		{ModulePointsEconomy, `{"expiry":{"policy":"calendar"}}`, "config.expiry.date", "property_empty"},
		{ModulePointsEconomy, `{"expiry":{"policy":"calendar","date":"02-30"}}`, "config.expiry.date", "bad_format"},
		{ModulePointsEconomy, `{"expiry":{"policy":"none","day":1}}`, "config.expiry.day", "property_unknown"},
		{ModulePointsEconomy, `{"reminders":[]}`, "config.reminders", "must_be_type"},
		{ModulePointsEconomy, `{"reminders":{"points":[0]}}`, "config.reminders.points", "too_small"},
		{ModulePointsEconomy, `{"reminders":{"coupons":[3651]}}`, "config.reminders.coupons", "too_large"},
		{ModulePointsEconomy, `{"reminders":{"tiers":[7,7]}}`, "config.reminders.tiers", "not_unique"},
		{ModulePointsEconomy, `{"reminders":{"challenges":[1,2,3,4,5,6,7,8,9,10,11]}}`, "config.reminders.challenges", "too_many"},
		{ModulePointsEconomy, `{"reminders":{"inactivity":7}}`, "config.reminders.inactivity", "must_be_type"},
		{ModulePointsEconomy, `{"reminders":{"weddings":[7]}}`, "config.reminders.weddings", "property_unknown"},
		{ModuleIncentivizedPurchase, `{"rate":"1"}`, "config.rate", "must_be_type"},
		{ModuleIncentivizedPurchase, `{"rate":-0.5}`, "config.rate", "too_small"},
		{ModuleIncentivizedPurchase, `{"rate":1000001}`, "config.rate", "too_large"},
		{ModuleIncentivizedPurchase, `{"rate":1e30}`, "config.rate", "too_large"},
		{ModuleIncentivizedPurchase, `{"currency_rates":{"HUF":-1}}`, "config.currency_rates.HUF", "too_small"},
		{ModuleTiers, `{"exchange_rates":{"HUF":0}}`, "config.exchange_rates.HUF", "too_small"},
		{ModuleTiers, `{"exchange_rates":{"HUF":"x"}}`, "config.exchange_rates", "must_be_type"},
		{ModuleIncentivizedPurchase, `{"currency_rates":{"":1}}`, "config.currency_rates", "property_invalid"},
		{ModuleIncentivizedPurchase, `{"currency_rates":{"HUF":"x"}}`, "config.currency_rates", "must_be_type"},
		{ModuleIncentivizedPurchase, `{"rounding":"down"}`, "config.rounding", "must_be_one_of"},
		{ModuleIncentivizedPurchase, `{"invalid_codes":"ignore"}`, "config.invalid_codes", "must_be_one_of"},
		{ModuleCheckoutAccept, `{"type":"auto"}`, "config.type", "must_be_one_of"},
		{ModuleCheckoutAccept, `{"type":"accept","pending_days":36501}`, "config.pending_days", "too_large"},
		{ModuleCheckoutAccept, `{"type":"accept"}`, "config.pending_days", "property_empty"},
		{ModuleCheckoutAccept, `{"type":"reject","pending_days":null}`, "config.pending_days", "property_empty"},
		{ModuleCheckoutAccept, `{"pending_days":0}`, "config.pending_days", "not_with_value"},
		{ModuleCheckoutAccept, `{"type":"manual","pending_days":14}`, "config.pending_days", "not_with_value"},
		{ModulePointsEconomy, `{"expiry":{"policy":"rolling","days":0}}`, "config.expiry.days", "too_small"},
		{ModuleCheckoutAccept, `{"type":"reject","pending_days":-1}`, "config.pending_days", "too_small"},
		{ModuleLanguage, `{"default":"de"}`, "config.default", "must_be_one_of"},
		{ModuleLanguage, `{"default":"xx","enabled":["xx"]}`, "config.default", "bad_format"},
		{ModuleLanguage, `{"default":"DE","enabled":["de"]}`, "config.default", "bad_format"},
		{ModuleLanguage, `{"enabled":["en","deu"]}`, "config.enabled[1]", "bad_format"},
		{ModuleLanguage, `{"enabled":["en","en"]}`, "config.enabled", "not_unique"},
		{ModuleLanguage, `{"default":"hu","enabled":["en"]}`, "config.default", "must_be_one_of"},
		{ModuleLanguage, `{"enabled":[]}`, "config.default", "must_be_one_of"},
		{ModuleEventsAPI, `{"suppress_pii":"true"}`, "config.suppress_pii", "must_be_type"},
		{ModuleStores, `{"list":[]}`, "config.list", "property_unknown"},
		{ModuleStorefrontConnector, `{"x":1}`, "config.x", "property_unknown"},
	} {
		t.Run(c.module+c.config, func(t *testing.T) {
			_, err := NewRegistry([]string{"point_add", "checkout", "visit"}).Compile(loyalty.Snapshot{Modules: []loyalty.ModuleState{{Name: c.module, Enabled: false, Config: json.RawMessage(c.config)}}})
			requireFault(t, err, c.field, c.name)
		})
	}
}

func requireFault(t *testing.T, err error, field, name string) {
	t.Helper()
	var e *loyalty.Error
	require.True(t, errors.As(err, &e), "%v", err)
	require.Equal(t, loyalty.Invalid, e.Kind)
	require.Len(t, e.Details, 1)
	require.Equal(t, field, e.Details[0].Field)
	require.Equal(t, name, e.Details[0].Name)
	require.Equal(t, name, e.Name)
}

func TestSettingsFaults(t *testing.T) {
	for _, c := range []struct {
		settings    loyalty.Settings
		field, name string
	}{
		{loyalty.Settings{Currency: "eur"}, "currency", "bad_format"},
		{loyalty.Settings{Currency: "EURO"}, "currency", "bad_format"},
		{loyalty.Settings{TimeZone: "Mars/Olympus"}, "time_zone", "bad_format"},
		{loyalty.Settings{TimeZone: "Local"}, "time_zone", "bad_format"},
		{loyalty.Settings{TimeZone: "../etc/passwd"}, "time_zone", "bad_format"},
		{loyalty.Settings{AcceptanceWindow: -time.Second}, "acceptance_window_seconds", "too_small"},
		{loyalty.Settings{AcceptanceWindow: time.Millisecond}, "acceptance_window_seconds", "too_small"},
		{loyalty.Settings{AcceptanceWindow: 901 * time.Second}, "acceptance_window_seconds", "too_large"},
	} {
		_, err := NewRegistry([]string{"point_add", "checkout", "visit"}).Compile(loyalty.Snapshot{Settings: c.settings})
		requireFault(t, err, c.field, c.name)
	}

	p, err := NewRegistry([]string{"point_add", "checkout", "visit"}).Compile(loyalty.Snapshot{Settings: loyalty.Settings{Currency: "HUF", TimeZone: "Europe/Budapest", AcceptanceWindow: 900 * time.Second}})
	require.NoError(t, err)
	require.Equal(t, "Europe/Budapest", p.Location.String())
}

func TestExclusiveModules(t *testing.T) {
	both := []loyalty.ModuleState{{Name: ModuleCheckoutAccept, Enabled: true, Config: nil}, {Name: "pending_events", Enabled: true, Config: nil}}
	_, err := NewRegistry([]string{"point_add", "checkout", "visit"}).Compile(loyalty.Snapshot{Modules: both})
	require.ErrorIs(t, err, loyalty.ErrModulesExclusive)
	require.Equal(t, map[string]any{"module": "checkout_accept", "other": "pending_events"}, loyalty.AsError(err).Args)
	both[1].Enabled = false
	_, err = NewRegistry([]string{"point_add", "checkout", "visit"}).Compile(loyalty.Snapshot{Modules: both})
	require.NoError(t, err)
}

func TestModuleNames(t *testing.T) {
	for spelling, name := range map[string]string{
		"stores": ModuleStores, "store": ModuleStores, "Store module": ModuleStores, "checkout-accept": ModuleCheckoutAccept,
		"checkout_accept module": ModuleCheckoutAccept, "storefront connector": ModuleStorefrontConnector,
		"Events API configuration module": ModuleEventsAPI, "incentivized purchase": ModuleIncentivizedPurchase,
		"Points-Economy": ModulePointsEconomy, "language": ModuleLanguage,
		"prizewheel module": ModulePrizeWheels, "prizewheels": ModulePrizeWheels, "friends referral": ModuleFriendReferral,
		"tier module": ModuleTiers, "coupon": ModuleCoupons, "visual-search connector": ModuleVisualSearch, "pending events": ModulePendingEvents,
		"customer ID validation module": ModuleCustomerIDValidation, "customer login module": ModuleCustomerLogin,
	} {
		got, err := ModuleName(spelling)
		require.NoError(t, err, spelling)
		require.Equal(t, name, got)
	}

	for _, unknown := range []string{"", "module", "wheel", "points"} {
		_, err := ModuleName(unknown)
		require.ErrorIs(t, err, loyalty.ErrModuleUnknown, unknown)
	}
}

// What a configuration is shown as reads back to the same, for every
// configuration that is accepted at all.
func TestShownConfigurationReadsBack(t *testing.T) {
	texts := []string{"none", "rolling", "calendar", "last_activity", "anniversary", "refuse", "floor", "ceil", "accept", "hu", "12-31", ""}
	names := []string{"expiry", "policy", "days", "months", "date", "negative", "rate", "currency_rates", "rounding", "invalid_codes", "type",
		"pending_days", "default", "enabled", "suppress_pii"}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(
			rapid.Map(rapid.SampledFrom(texts), func(s string) any { return s }),
			rapid.Map(rapid.IntRange(-1, 40_000), func(n int) any { return n }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom(names), rapid.SampledFrom([]any{"rolling", 3, "12-31", 0.5}), 0, 3),
				func(m map[string]any) any { return m }),
		)

		raw, err := json.Marshal(rapid.MapOfN(rapid.SampledFrom(names), value, 0, 3).Draw(t, "config"))
		require.NoError(t, err)
		name := rapid.SampledFrom(ModuleNames()).Draw(t, "module")
		m, _, err := CheckModule(loyalty.ModuleState{Name: name, Config: raw})
		if err != nil {
			require.True(t, strings.HasPrefix(loyalty.AsError(err).Details[0].Field, "config"))
			return
		}

		again, _, err := CheckModule(m)
		require.NoError(t, err)
		require.JSONEq(t, string(m.Config), string(again.Config))
	})
}

func FuzzModuleConfig(f *testing.F) {
	f.Add(`{"expiry":{"policy":"calendar","date":"02-29"}}`)
	f.Add(`{"rate":1e25,"currency_rates":{"HUF":0.1}}`)
	f.Add(`{"type":"accept","pending_days":1}`)
	f.Add(`{"enabled":["en"],"default":"en"}`)

	f.Fuzz(func(t *testing.T, config string) {
		for _, name := range ModuleNames() {
			m, _, err := CheckModule(loyalty.ModuleState{Name: name, Config: json.RawMessage(config)})
			if err != nil {
				require.Equal(t, loyalty.Invalid, loyalty.AsError(err).Kind)
				continue
			}
			_, _, err = CheckModule(m)
			require.NoError(t, err)
		}
	})
}

// TestReminderSettings: what customers are reminded of, by default and as it was sent.
func TestReminderSettings(t *testing.T) {
	require.Equal(t, defaultReminders(), programmeOf(t, ModulePointsEconomy, true, `{}`).Reminders)
	p := programmeOf(t, ModulePointsEconomy, true, `{"reminders":{"points":[],"tiers":[1,3650],"birthday":false}}`)
	require.Equal(t, Reminders{Points: []int{}, Tiers: []int{1, 3650}, Coupons: []int{7}, Challenges: []int{3}, Inactivity: []int{}, Anniversary: true}, p.Reminders)
	nothing := programmeOf(t, ModulePointsEconomy, true, `{"reminders":{"points":[],"tiers":[],"coupons":[],"challenges":[],"birthday":false,"anniversary":false}}`).Reminders
	require.True(t, nothing.None())
}
