package programme

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// module is the definition of a module: whether it is on in a fresh database, and the function that reads its
// configuration.
type module struct {
	on   bool
	read func(json.RawMessage) (any, error) // returns a value with compile; its error names the field
}

// compiler is a configuration that was read.
type compiler interface{ compile(*Programme) }

// modules lists the modules.
var modules = map[string]module{
	ModuleAutomation:           {true, readSwitch},
	ModuleChallenges:           {true, readSwitch},
	ModuleCheckoutAccept:       {false, readAccept},
	ModuleContests:             {false, readSwitch},
	ModuleCoupons:              {true, readSwitch},
	ModuleCustomEntities:       {false, readSwitch},
	ModuleCustomEvents:         {false, readSwitch},
	ModuleCustomerIDValidation: {false, readSwitch},
	ModuleCustomerLogin:        {false, readSwitch},
	ModuleEventsAPI:            {false, readEvents},
	ModuleFriendReferral:       {false, readReferral},
	ModuleIncentivizedPurchase: {true, readPurchase},
	ModuleLanguage:             {true, readLanguage},
	ModuleLeaderboard:          {true, readLeaderboard},
	ModuleOffers:               {true, readSwitch},
	ModulePendingEvents:        {false, readHolding},
	ModulePointsEconomy:        {true, readEconomy},
	ModulePrizeWheels:          {false, readSwitch},
	ModuleProfiling:            {false, readSwitch},
	ModuleQuizzes:              {false, readSwitch},
	ModuleRewards:              {true, readSwitch},
	ModuleStorefrontConnector:  {false, readSwitch},
	ModuleStores:               {true, readSwitch},
	ModuleTiers:                {true, readTiers},
	ModuleTreasureHunt:         {true, readSwitch},
	ModuleVisualSearch:         {false, readSwitch},
}

// moduleAliases are the specification's other spellings. Case, hyphens, blanks and a trailing word "module" do not
// matter.
var moduleAliases = map[string]string{
	"events_api_configuration": ModuleEventsAPI,
	"store":                    ModuleStores,
	"coupon":                   ModuleCoupons,
	"tier":                     ModuleTiers,
	"prizewheel":               ModulePrizeWheels,
	"prizewheels":              ModulePrizeWheels,
	"prize_wheel":              ModulePrizeWheels,
	"friends_referral":         ModuleFriendReferral,
	"visual_search_connector":  ModuleVisualSearch,
	"checkout_acceptance":      ModuleCheckoutAccept,
	"pending":                  ModulePendingEvents,
}

// exclusive lists modules that cannot be on together: both decide when a
// checkout is accepted.
var exclusive = [][2]string{{ModuleCheckoutAccept, ModulePendingEvents}}

// ModuleNames lists the modules in alphabetical order.
func ModuleNames() []string { return slices.Sorted(maps.Keys(modules)) }

// ModuleName returns the name of a module from any spelling of it. It fails with ErrModuleUnknown for a module that
// this build does not have.
func ModuleName(spelling string) (string, error) {
	name := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(spelling)))
	name = strings.TrimSuffix(name, "_module")
	if alias, ok := moduleAliases[name]; ok {
		name = alias
	}
	if _, ok := modules[name]; !ok {
		return "", loyalty.ErrModuleUnknown.With("module", spelling)
	}
	return name, nil
}

// CheckModule reads a module's state and returns it with every default of its configuration written
// out.
func CheckModule(m loyalty.ModuleState) (loyalty.ModuleState, compiler, error) {
	config, err := modules[m.Name].read(m.Config)
	if err != nil {
		return m, nil, err
	}
	if m.Config, err = json.Marshal(config); err != nil {
		return m, nil, fmt.Errorf("module %s: %w", m.Name, err)
	}
	return m, config.(compiler), nil
}

// ModuleStates returns every module of this build in alphabetical order, stored or by default, with
// complete configurations.
func ModuleStates(s loyalty.Snapshot) ([]loyalty.ModuleState, error) {
	var all []loyalty.ModuleState
	for _, name := range ModuleNames() {
		m, _, err := CheckModule(StoredModule(s, name))
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// StoredModule returns a module as the snapshot has it, otherwise as a fresh database has it.
func StoredModule(s loyalty.Snapshot, name string) loyalty.ModuleState {
	for _, m := range s.Modules {
		if m.Name == name {
			return m
		}
	}
	return loyalty.ModuleState{Name: name, Enabled: modules[name].on}
}

// Compile reads the stored configuration, strictly: the settings and every module of this build, with the defaults of a
// fresh database for what is not stored. A module that is off keeps its configuration but has no effect. It fails with
// an error of kind Invalid that names the field, or with ErrModulesExclusive.
func (g *Registry) Compile(s loyalty.Snapshot) (*Programme, error) {
	p := &Programme{registry: g, Version: s.Version, Settings: SettingsOrDefaults(s.Settings), On: map[string]bool{}}
	var err error
	if p.Location, err = CheckSettings(p.Settings); err != nil {
		return nil, err
	}

	p.fallBack()
	for _, name := range ModuleNames() {
		m, config, err := CheckModule(StoredModule(s, name))
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", name, err)
		}
		if m.Enabled {
			p.On[name] = true
		}
		// exchange rates are used even while tiers is off
		if m.Enabled || name == ModuleTiers {
			config.compile(p)
		}
	}

	if err := p.build(s.Entities); err != nil {
		return nil, err
	}
	if err := p.checkHolding(); err != nil {
		return nil, err
	}

	return p, exclude(s)
}

// fallBack sets the values for modules that are off: points never expire, one language, and a rounding for the shares
// of refunds.
func (p *Programme) fallBack() {
	economyConfig{}.compile(p)
	p.Purchase.Rounding = "floor"
	p.Language = LanguageChoice{Default: loyalty.Languages[0], Enabled: loyalty.Languages[:1]}
}

// exclude checks the stored states, so that a module which only another version of the program knows counts as well.
func exclude(s loyalty.Snapshot) error {
	for _, pair := range exclusive {
		if StoredModule(s, pair[0]).Enabled && StoredModule(s, pair[1]).Enabled {
			return loyalty.ErrModulesExclusive.With("module", pair[0]).With("other", pair[1])
		}
	}
	return nil
}
