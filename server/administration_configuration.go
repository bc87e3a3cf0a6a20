package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Configurator reads configurations as the contract describes them.
type Configurator struct {
	whole      *shape
	entities   *entitySchemas
	vocabulary *Vocabulary
}

// NewConfigurator reads the contract. It fails when that is broken.
func NewConfigurator(v *Vocabulary) (*Configurator, error) {
	documents, err := loadDocuments()
	if err != nil {
		return nil, err
	}
	schemas, err := entitiesOf(documents)
	if err != nil {
		return nil, err
	}
	for _, d := range documents {
		if d.api != "administration" {
			continue
		}
		whole, err := newCompiler().compile(d.spec.Components.Schemas["Configuration"])
		return &Configurator{whole, schemas, v}, err
	}
	return nil, fmt.Errorf("the contract has no configuration")
}

// Read reads a configuration as JSON. Its errors are of kind Invalid and name their
// places from "configuration".
func (c *Configurator) Read(document []byte) (loyalty.Configuration, error) {
	raw, err := parseJSON(document)
	if err != nil {
		return loyalty.Configuration{}, err
	}
	checked, err := c.whole.check(cloned(raw), "configuration")
	if err != nil {
		return loyalty.Configuration{}, err
	}
	return c.of(checked, raw)
}

// of makes a configuration out of its checked tree, and its entities out of what was
// sent: only their types can tell what a form's values are.
func (c *Configurator) of(checked, raw any) (loyalty.Configuration, error) {
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
	if err := json.Unmarshal(appendJSON(nil, checked), &sections); err != nil {
		return loyalty.Configuration{}, loyalty.ErrPropertyInvalid.With("property", "configuration").With("reason", "schema").At("configuration").Because(err)
	}
	out := loyalty.Configuration{
		Settings: loyalty.SettingsChange{Currency: sections.Settings.Currency, TimeZone: sections.Settings.TimeZone},
		Modules:  map[string]loyalty.ModuleChange{}, Entities: map[string]map[string]loyalty.EntityFields{},
	}
	if s := sections.Settings.Window; s != nil {
		window := time.Duration(*s) * time.Second
		out.Settings.AcceptanceWindow = &window
	}
	for name, m := range sections.Modules {
		out.Modules[name] = loyalty.ModuleChange{Enabled: m.Enabled, Config: m.Config}
	}
	for kind, list := range branches(branches(raw)["entities"]) {
		out.Entities[kind] = map[string]loyalty.EntityFields{}
		for id, fields := range branches(list) {
			if fields != nil {
				out.Entities[kind][id] = c.fields(kind, id, fields)
			}
		}
	}
	return out, nil
}

// branches are the properties of an object, whatever it came as; nil: it is none.
func branches(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case *formNode:
		m := make(map[string]any, len(v.children))
		for name, child := range v.children {
			m[name] = child
		}
		return m
	}
	return nil
}

// fields reads those of one entity by the schema of its type.
func (c *Configurator) fields(kind, id string, body any) loyalty.EntityFields {
	place := loyalty.EntityPlaceIn(kind, id)
	return func(p *loyalty.Programme) (json.RawMessage, error) {
		fields, err := c.entities.of(kind, p)
		if err != nil {
			return nil, err
		}
		tree, err := fields.check(cloned(body), place)
		if err != nil {
			return nil, err
		}
		data := appendJSON(nil, tree)
		if kind == "custom-events/action" {
			err = loyalty.Under(place, c.vocabulary.declarable(data))
		}
		return data, err
	}
}

// GetConfiguration gives everything that is configured.
func (a *administrationAPI) GetConfiguration(ctx context.Context, _ administration.GetConfigurationRequestObject) (administration.GetConfigurationResponseObject, error) {
	document, err := a.admin.Configuration(plain(ctx))
	if err != nil {
		return nil, err
	}
	return written{status: http.StatusOK, body: marshal(map[string]any{"data": document})}, nil
}

// ApplyConfiguration says what a configuration would change, or has it changed.
func (a *administrationAPI) ApplyConfiguration(ctx context.Context, in administration.ApplyConfigurationRequestObject) (administration.ApplyConfigurationResponseObject, error) {
	r := requestOf(ctx)
	r.decided = in.Body.Mode == "plan" // which only reads
	body, err := parseBody(httpRequest(ctx).Header, r.body)
	if err != nil {
		return nil, err
	}
	reader := &Configurator{entities: a.entities, vocabulary: a.vocabulary}
	wanted, err := reader.of(branches(r.tree)["configuration"], branches(body)["configuration"])
	if err != nil {
		return nil, err
	}
	mode, prune := string(in.Body.Mode), in.Body.Prune != nil && *in.Body.Prune
	answer := func(changes []loyalty.ConfigurationChange) any { return configurationAnswer(mode, changes) }
	if mode == "plan" {
		changes, err := a.admin.PlanConfiguration(plain(ctx), wanted, prune)
		if err != nil {
			return nil, err
		}
		return written{status: http.StatusOK, body: marshal(answer(changes))}, nil
	}
	return change(a.Server, ctx, http.StatusOK, answer, func(ctx context.Context, call loyalty.Call) (loyalty.Done[[]loyalty.ConfigurationChange], error) {
		return a.admin.ApplyConfiguration(ctx, call, wanted, prune)
	})
}

// configurationDifference is a change as it is answered.
type configurationDifference struct {
	Change  string                     `json:"change"`
	Section string                     `json:"section"`
	Type    string                     `json:"type,omitempty"`
	ID      string                     `json:"id"`
	Before  map[string]json.RawMessage `json:"before,omitempty"`
	After   map[string]json.RawMessage `json:"after,omitempty"`
}

func configurationAnswer(mode string, changes []loyalty.ConfigurationChange) any {
	list := make([]configurationDifference, len(changes))
	for i, c := range changes {
		list[i] = configurationDifference(c)
	}
	return map[string]any{"data": map[string]any{"mode": mode, "total": len(list), "differences": list}}
}
