package admin

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Configuration is the wanted configuration of a programme. What it leaves out stays unchanged.
type Configuration struct {
	Settings SettingsChange
	Modules  map[string]ModuleChange            // by any spelling of their names
	Entities map[string]map[string]EntityFields // by type, then id
}

// EntityFields returns the complete fields of an entity in canonical form, read by the types and attributes that the
// programme declares. Its errors name fields by their place in the request. stored is nil for a new entity. Fields
// equal to the stored ones are not checked: a value can be older than the declaration that it does not fit, and a
// programme's own export must not be refused.
type EntityFields func(p *programme.Programme, stored json.RawMessage) (json.RawMessage, error)

// ConfigurationDocument is everything that is configured, as it is exported: no keys, customers,
// purchases or members of lists, and no archived entities.
type ConfigurationDocument struct {
	Settings settingsRecord                        `json:"settings"`
	Modules  map[string]moduleRecord               `json:"modules"`
	Entities map[string]map[string]json.RawMessage `json:"entities"` // every type of the programme, also without entities
}

// The sections of a configuration.
const (
	sectionSettings = "settings"
	sectionModules  = "modules"
	sectionEntities = "entities"
)

// methodRestore is a change that puts an archived entity in force again.
const methodRestore = "restore"

// ConfigurationChange is one thing that a configuration changes. Before and After hold the
// difference: only the changed properties of an update, all of a creation.
type ConfigurationChange struct {
	Change  string                     // MethodCreate, MethodUpdate, MethodArchive or methodRestore
	Section string                     // sectionSettings, sectionModules or sectionEntities
	Type    string                     // of an entity
	ID      string                     // of an entity; the name of a module or a setting
	Before  map[string]json.RawMessage // nil: it is new
	After   map[string]json.RawMessage // nil: it is gone
}

// configured is the present configuration.
type configured struct {
	registry *programme.Registry
	snapshot loyalty.Snapshot
	entities map[string]map[string]loyalty.Entity // by type, then id; archived ones too
}

// current reads the configuration as of one instant: the types that rules read and the others.
func (a *Admin) current(ctx context.Context) (configured, error) {
	snapshot, err := a.store.Snapshot(ctx, []string{loyalty.EveryType})
	if err != nil {
		return configured{}, loyalty.OutcomeError(err)
	}
	all, read := snapshot.Entities, a.registry.SnapshotTypes()
	snapshot.Entities = slices.DeleteFunc(slices.Clone(all),
		func(e loyalty.Entity) bool { return !slices.Contains(read, e.Type) })
	return configuredAt(a.registry, snapshot, func(q loyalty.EntityQuery) ([]loyalty.Entity, error) {
		return slices.DeleteFunc(slices.Clone(all), func(e loyalty.Entity) bool { return e.Type != q.Type }), nil
	})
}

// configuredAt adds to a snapshot the entities that are not part of it.
func configuredAt(
	g *programme.Registry, s loyalty.Snapshot, list func(loyalty.EntityQuery) ([]loyalty.Entity, error),
) (configured, error) {
	c := configured{g, s, map[string]map[string]loyalty.Entity{}}
	for _, e := range c.snapshot.Entities {
		c.put(e)
	}

	for _, kind := range g.Declarations(s.Entities).EntityTypes() {
		if g.Reads(kind) {
			continue
		}
		others, err := list(loyalty.EntityQuery{Type: kind, Archived: true})
		if err != nil {
			return c, err
		}
		for _, e := range others {
			c.put(e)
		}
	}

	return c, nil
}

func (c *configured) put(e loyalty.Entity) {
	if c.entities[e.Type] == nil {
		c.entities[e.Type] = map[string]loyalty.Entity{}
	}
	c.entities[e.Type][e.ID] = e
}

// Configuration returns everything that is configured.
func (a *Admin) Configuration(ctx context.Context) (ConfigurationDocument, error) {
	c, err := a.current(ctx)
	if err != nil {
		return ConfigurationDocument{}, err
	}
	return c.document()
}

// document has a section for every type, including empty ones: applied elsewhere with prune, an empty section archives
// that type's entities, while a missing one leaves them. Archived entities are left out, because a document lists what
// should exist.
func (c *configured) document() (ConfigurationDocument, error) {
	d := ConfigurationDocument{
		Settings: recordOf(programme.SettingsOrDefaults(c.snapshot.Settings)), Modules: map[string]moduleRecord{},
		Entities: map[string]map[string]json.RawMessage{},
	}

	modules, err := programme.ModuleStates(c.snapshot)
	if err != nil {
		return d, err
	}

	for _, m := range modules {
		d.Modules[m.Name] = moduleRecord{m.Enabled, programme.PlainNumbers(m.Config)}
	}

	for _, kind := range c.registry.EntityTypes() {
		d.Entities[kind] = map[string]json.RawMessage{}
	}

	own := c.registry.Declarations(slices.DeleteFunc(slices.Clone(c.snapshot.Entities),
		func(e loyalty.Entity) bool { return !e.ArchivedAt.IsZero() }))
	for _, kind := range slices.Sorted(maps.Keys(own.OwnTypes)) {
		d.Entities[kind] = map[string]json.RawMessage{}
	}

	for kind, list := range d.Entities {
		for id, e := range c.entities[kind] {
			if e.ArchivedAt.IsZero() {
				list[id] = programme.PlainNumbers(e.Data)
			}
		}
	}

	return d, nil
}

// plainID matches an id that needs no quotes in a place.
var plainID = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// EntityPlaceIn returns the place of an entity in a configuration, such as
// configuration.entities["rewards/reward"].mug.
func EntityPlaceIn(kind, id string) string {
	place := `configuration.entities[` + strconv.Quote(kind) + `]`
	if plainID.MatchString(id) {
		return place + "." + id
	}
	return place + "[" + strconv.Quote(id) + "]"
}
