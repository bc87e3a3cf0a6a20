package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// programmeDocument is the demo's programme: settings, modules, and entities by type and id, in the format of the
// Entities API. A date such as "+20d" is relative to the demo's day.
//
//go:embed programme.json
var programmeDocument []byte

// The number of codes in the demo's pools.
const (
	generated = 2_000
	uploaded  = 300
)

// Programme is programmeDocument, read.
type Programme struct {
	Settings struct {
		Currency string `json:"currency"`
		TimeZone string `json:"time_zone"`
	} `json:"settings"`
	Modules map[string]struct {
		Enabled bool            `json:"enabled"`
		Config  json.RawMessage `json:"config"`
	} `json:"modules"`
	Entities map[string]map[string]json.RawMessage `json:"entities"`
}

// relativeDay is a date relative to the demo's day.
var relativeDay = regexp.MustCompile(`"([+-]\d{1,4})d"`)

// Read reads the programme with its dates counted from now.
func Read(now time.Time) (p Programme, err error) {
	document := relativeDay.ReplaceAllFunc(programmeDocument, func(found []byte) []byte {
		days, _ := strconv.Atoi(string(relativeDay.FindSubmatch(found)[1])) // digits, by the expression
		return []byte(strconv.Quote(now.AddDate(0, 0, days).Format(time.DateOnly)))
	})
	if err := json.Unmarshal(document, &p); err != nil {
		return p, fmt.Errorf("the demo's programme: %w", err)
	}
	return p, nil
}

// changes are the creations of all entities, each after the entities that it can refer to.
func (p Programme) changes() (all []admin.EntityChange) {
	// a test checks them against their schemas
	as := func(fields json.RawMessage) (json.RawMessage, error) { return fields, nil }
	for _, kind := range action.Registry().EntityTypes() {
		for _, id := range slices.Sorted(maps.Keys(p.Entities[kind])) {
			all = append(all, admin.EntityChange{Method: admin.MethodCreate, Type: kind, ID: id,
				Data: p.Entities[kind][id], Check: as})
		}
	}
	return all
}

// Found sets up the programme in an empty database, as an administrator would.
func (p Programme) Found(ctx context.Context, office *admin.Admin, dice *rand.Rand) error {
	call := admin.Call{KeyID: admin.CommandLine}
	settings := admin.SettingsChange{Currency: &p.Settings.Currency, TimeZone: &p.Settings.TimeZone}
	if _, err := office.SetSettings(ctx, call, settings); err != nil {
		return fmt.Errorf("settings: %w", err)
	}

	for _, name := range slices.Sorted(maps.Keys(p.Modules)) {
		m := p.Modules[name]
		if _, err := office.SetModule(ctx, call, name,
			admin.ModuleChange{Enabled: &m.Enabled, Config: m.Config}); err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
	}

	if _, err := office.ChangeEntities(ctx, call, p.changes(), false); err != nil {
		return fmt.Errorf("entities: %w", err)
	}
	if _, err := office.AddCodes(ctx, call, "coffee-codes", nil, generated); err != nil {
		return fmt.Errorf("pool coffee-codes: %w", err)
	}
	if _, err := office.AddCodes(ctx, call, "thanks-codes", thanksCodes(dice), 0); err != nil {
		return fmt.Errorf("pool thanks-codes: %w", err)
	}

	return nil
}

// thanksCodes are codes as another system would have printed them.
func thanksCodes(dice *rand.Rand) []string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	codes := map[string]bool{}
	for len(codes) < uploaded {
		code := []byte("THANKS-")
		for range 8 {
			code = append(code, letters[dice.IntN(len(letters))])
		}
		codes[string(code)] = true
	}
	return slices.Sorted(maps.Keys(codes))
}

// Product is a product with its price in hundredths of a euro.
type Product struct {
	id, name, category string
	price              int
}

// Products are the products of the programme, by id.
func (p Programme) Products() ([]Product, error) {
	var all []Product
	kind := p.Entities[loyalty.ProductType]
	for _, id := range slices.Sorted(maps.Keys(kind)) {
		var fields struct {
			Name     string  `json:"name"`
			Category string  `json:"category"`
			Price    float64 `json:"cf_price"`
		}
		if err := json.Unmarshal(kind[id], &fields); err != nil {
			return nil, fmt.Errorf("product %s: %w", id, err)
		}
		all = append(all, Product{id, fields.Name, fields.Category, int(fields.Price*100 + 0.5)})
	}

	return all, nil
}
