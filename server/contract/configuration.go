package contract

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Configurator reads configurations as the Administration document describes them, and checks each entity against the
// schema of its type.
type Configurator struct {
	whole      *Schema
	entities   *Entities
	vocabulary *Vocabulary
}

// NewConfigurator reads the contract. It fails if the contract is broken.
func NewConfigurator(v *Vocabulary) (*Configurator, error) {
	documents, err := Documents()
	if err != nil {
		return nil, err
	}

	schemas, err := EntitiesOf(documents)
	if err != nil {
		return nil, err
	}

	for _, d := range documents {
		if d.API != "administration" {
			continue
		}
		whole, err := NewCompiler().Compile(d.Spec.Components.Schemas["Configuration"])
		return &Configurator{whole, schemas, v}, err
	}

	return nil, fmt.Errorf("the contract has no configuration")
}

// ConfiguratorFor returns a configurator for bodies that are checked already: it has Of, and Read must not be called.
func ConfiguratorFor(v *Vocabulary, entities *Entities) *Configurator {
	return &Configurator{entities: entities, vocabulary: v}
}

// Read reads a configuration from JSON. Its errors are of kind Invalid, and their fields
// begin with configuration.
func (c *Configurator) Read(document []byte) (admin.Configuration, error) {
	raw, err := ParseJSON(document)
	if err != nil {
		return admin.Configuration{}, err
	}
	checked, err := c.whole.Check(Clone(raw), "configuration")
	if err != nil {
		return admin.Configuration{}, err
	}
	return c.Of(checked, raw)
}

// Of makes a configuration from its checked tree, and its entities from raw, the body as it was sent: only an entity's
// type tells the types of a form's values, and its schema depends on the programme at the moment of the change. It
// fails with an error of kind Invalid.
func (c *Configurator) Of(checked, raw any) (admin.Configuration, error) {
	var sections struct {
		Settings struct {
			Currency *string `json:"currency"`
			TimeZone *string `json:"time_zone"`
			Window   *int64  `json:"acceptance_window_seconds"`
		} `json:"settings"`
		Modules map[string]struct {
			Enabled *bool           `json:"enabled"`
			Config  json.RawMessage `json:"config"`
		} `json:"modules"`
	}

	if err := json.Unmarshal(AppendJSON(nil, checked), &sections); err != nil {
		return admin.Configuration{},
			loyalty.ErrPropertyInvalid.With("property", "configuration").With("reason", "schema").At("configuration").
				Because(err)
	}

	out := admin.Configuration{
		Settings: admin.SettingsChange{Currency: sections.Settings.Currency, TimeZone: sections.Settings.TimeZone},
		Modules:  map[string]admin.ModuleChange{}, Entities: map[string]map[string]admin.EntityFields{},
	}

	if s := sections.Settings.Window; s != nil {
		window := time.Duration(*s) * time.Second
		out.Settings.AcceptanceWindow = &window
	}

	for name, m := range sections.Modules {
		out.Modules[name] = admin.ModuleChange{Enabled: m.Enabled, Config: m.Config}
	}

	for kind, list := range Properties(Properties(raw)["entities"]) {
		out.Entities[kind] = map[string]admin.EntityFields{}
		for id, fields := range Properties(list) {
			if fields != nil {
				out.Entities[kind][id] = c.fields(kind, id, fields)
			}
		}
	}

	return out, nil
}

// fields reads the fields of one entity by the schema of its type.
func (c *Configurator) fields(kind, id string, body any) admin.EntityFields {
	place := admin.EntityPlaceIn(kind, id)
	return func(p *programme.Programme, stored json.RawMessage) (json.RawMessage, error) {
		if stored != nil && programme.SameJSON(body, programme.ParseTree(stored)) {
			return stored, nil
		}

		fields, err := c.entities.Of(kind, p)
		if err != nil {
			return nil, err
		}

		tree, err := fields.Check(Clone(body), place)
		if err != nil {
			return nil, err
		}

		data := AppendJSON(nil, tree)
		if kind == programme.CustomActions.Type {
			err = admin.Under(place, c.vocabulary.Declarable(data))
		}

		return data, err
	}
}
