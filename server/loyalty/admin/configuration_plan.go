package admin

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// PlanConfiguration returns what ApplyConfiguration would change, without changing anything. It fails as
// ApplyConfiguration does.
func (a *Admin) PlanConfiguration(ctx context.Context, c Configuration, prune bool) ([]ConfigurationChange, error) {
	now, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	p, err := a.plan(now, c, prune)
	if err != nil {
		return nil, err
	}
	return p.changes, nil
}

// ApplyConfiguration applies a configuration to the programme in one transaction, and returns what changed. What the
// configuration leaves out stays; with prune, entities of the types that it names are archived if they are not in it.
// An archived entity in it is put in force again. It may configure modules that are off. It fails as the single changes
// do, and its errors name the place, such as configuration.settings.time_zone.
func (a *Admin) ApplyConfiguration(
	ctx context.Context, call Call, c Configuration, prune bool,
) (Done[[]ConfigurationChange], error) {
	return change(ctx, a, call, func(r *adminRun) ([]ConfigurationChange, error) {
		now, err := configuredAt(r.registry, r.Snapshot, r.Entities)
		if err != nil {
			return nil, err
		}

		p, err := a.plan(now, c, prune)
		if err != nil {
			return nil, err
		}

		for _, write := range p.writes {
			if err := write(r); err != nil {
				return nil, err
			}
		}

		return p.changes, nil
	}, func(changes []ConfigurationChange) any { return changes })
}

// configurationPlan is the changes from one configuration to another.
type configurationPlan struct {
	at       time.Time
	now      configured
	next     loyalty.Snapshot
	touched  map[entityKey]bool // the entities of the configuration
	changes  []ConfigurationChange
	writes   []func(*adminRun) error
	zone     *time.Location       // of next
	declared *programme.Programme // types and attributes of next
	faults   *loyalty.Error       // errors of the configuration's entities
}

// plan reads the whole configuration before anything is written, and compiles the result as one
// programme, so that parts which only fit together are checked together.
func (a *Admin) plan(now configured, c Configuration, prune bool) (*configurationPlan, error) {
	p := &configurationPlan{at: a.now(), now: now, next: now.snapshot, touched: map[entityKey]bool{}}
	p.next.Modules, p.next.Entities = slices.Clone(now.snapshot.Modules), slices.Clone(now.snapshot.Entities)
	var err error
	if p.zone, err = p.settings(c.Settings); err != nil {
		return nil, err
	}
	if err := p.modules(c.Modules); err != nil {
		return nil, err
	}
	if err := p.entities(c.Entities, prune); err != nil {
		return nil, err
	}
	if _, err := p.now.registry.Compile(p.next); err != nil {
		return nil, p.placed(err)
	}

	return p, nil
}

// settings plans each changed setting separately, for readers of the plan; they are written as one. It returns the new
// time zone, by which the days of the configuration's entities are read.
func (p *configurationPlan) settings(c SettingsChange) (*time.Location, error) {
	before := programme.SettingsOrDefaults(p.now.snapshot.Settings)
	after := settingsWith(before, c)
	zone, err := programme.CheckSettings(after)
	if err != nil {
		return nil, Under("configuration.settings", err)
	}

	old, now := fieldsOf(loyalty.JSON(recordOf(before))), fieldsOf(loyalty.JSON(recordOf(after)))
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if !programme.SameJSON(programme.ParseTree(old[name]), programme.ParseTree(now[name])) {
			p.changes = append(p.changes, ConfigurationChange{
				Change: MethodUpdate, Section: sectionSettings, ID: name,
				Before: map[string]json.RawMessage{name: old[name]}, After: map[string]json.RawMessage{name: now[name]},
			})
		}
	}

	if before == after {
		return zone, nil
	}

	p.next.Settings = after
	p.writes = append(p.writes, func(r *adminRun) error {
		return errors.Join(r.SaveSettings(after), r.audit("settings.update", "settings", recordOf(before), recordOf(after)))
	})
	return zone, nil
}

// modules plans modules. It refuses two spellings of one module, because it would be chance which of them wins.
func (p *configurationPlan) modules(all map[string]ModuleChange) error {
	named := map[string]bool{}
	for _, spelling := range slices.Sorted(maps.Keys(all)) {
		name, err := programme.ModuleName(spelling)
		place := "configuration.modules." + spelling
		switch {
		case err != nil:
			return programme.Fault(place, "must_be_one_of", map[string]any{"values": programme.ModuleNames()})
		case named[name]:
			return programme.Fault(place, loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": "repeated"})
		}
		named[name] = true
		if err := p.module(name, all[spelling]); err != nil {
			return Under(place, err)
		}
	}

	return nil
}

// module plans one module. Its present configuration is read as strictly as the one sent, so that
// defaults do not look like changes.
func (p *configurationPlan) module(name string, c ModuleChange) error {
	before, _, err := programme.CheckModule(programme.StoredModule(p.now.snapshot, name))
	if err != nil {
		return err
	}

	m, _, err := programme.CheckModule(moduleWith(before, c))
	if err != nil {
		return err
	}

	old, now := moduleRecord{before.Enabled, before.Config}, moduleRecord{m.Enabled, m.Config}
	d, differs := differing(loyalty.JSON(old), loyalty.JSON(now))
	if !differs {
		return nil
	}

	d.Change, d.Section, d.ID = MethodUpdate, sectionModules, name
	p.changes = append(p.changes, d)
	p.next.Modules = append(slices.DeleteFunc(p.next.Modules, func(o loyalty.ModuleState) bool { return o.Name == name }),
		m)
	p.writes = append(p.writes, func(r *adminRun) error {
		return errors.Join(r.SaveModule(m), r.audit("module.update", name, old, now))
	})
	return nil
}

// entities reads the entities of a configuration, beginning with the declarations of attributes, by
// which the others are read.
func (p *configurationPlan) entities(all map[string]map[string]EntityFields, prune bool) error {
	p.declared = p.now.registry.Declarations(p.next.Entities)
	p.kind(programme.AttributeType, all[programme.AttributeType], prune)
	p.declared = p.now.registry.Declarations(p.next.Entities)
	kinds := p.declared.EntityTypes()
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(kinds, kind) {
			p.fault(programme.Fault(strings.TrimSuffix(EntityPlaceIn(kind, "x"), ".x"),
				"entity_type_missing", map[string]any{"type": kind}))
		}
	}

	for _, kind := range kinds {
		if list, named := all[kind]; named && kind != programme.AttributeType {
			p.kind(kind, list, prune)
		}
	}

	if p.faults != nil {
		return p.faults
	}

	return nil
}

// kind plans the entities of one type. A nil list means that the configuration does not name the type.
func (p *configurationPlan) kind(kind string, list map[string]EntityFields, prune bool) {
	for _, id := range slices.Sorted(maps.Keys(list)) {
		p.touched[entityKey{kind, id}] = true
		if err := p.entity(kind, id, list[id]); err != nil {
			p.fault(err)
		}
	}

	// a type that is not named is not pruned, because configurations are often kept type by type
	if list == nil || !prune {
		return
	}

	for _, id := range slices.Sorted(maps.Keys(p.now.entities[kind])) {
		if e := p.now.entities[kind][id]; e.ArchivedAt.IsZero() && list[id] == nil {
			archived := e
			archived.ArchivedAt, archived.UpdatedAt = p.at, p.at
			p.save(MethodArchive, archived, ConfigurationChange{Before: fieldsOf(e.Data)})
		}
	}
}

// entity plans one entity.
func (p *configurationPlan) entity(kind, id string, read EntityFields) error {
	if err := checkEntityID(kind, id); err != nil {
		return loyalty.AsError(err).At(EntityPlaceIn(kind, id))
	}

	e, there := p.now.entities[kind][id]
	var stored json.RawMessage
	if there && e.ArchivedAt.IsZero() {
		stored = e.Data
	}

	data, err := read(p.declared, stored)
	if err != nil {
		return err
	}

	data = programme.Dated(data, p.zone)
	if !there {
		p.save(MethodCreate, loyalty.Entity{Type: kind, ID: id, Data: data, CreatedAt: p.at, UpdatedAt: p.at},
			ConfigurationChange{After: fieldsOf(data)})
		return nil
	}

	if err := programme.CheckFixed(kind, e.Data, data); err != nil {
		return Under(EntityPlaceIn(kind, id), err)
	}

	next := e
	next.Data, next.UpdatedAt, next.ArchivedAt = data, p.at, time.Time{}
	d, differs := differing(e.Data, data)
	switch {
	// restore from the archive even if nothing else differs
	case !e.ArchivedAt.IsZero():
		p.save(methodRestore, next, ConfigurationChange{After: fieldsOf(data)})
	case differs:
		p.save(MethodUpdate, next, d)
	}

	return nil
}

// save adds the change of an entity to the plan, and the function that writes it.
func (p *configurationPlan) save(method string, e loyalty.Entity, d ConfigurationChange) {
	d.Change, d.Section, d.Type, d.ID = method, sectionEntities, e.Type, e.ID
	p.changes = append(p.changes, d)
	// an archived entity counts as absent on either side: the audit trail shows it come and go
	before, after := any(nil), any(e.Data)
	if old, there := p.now.entities[e.Type][e.ID]; there && old.ArchivedAt.IsZero() {
		before = old.Data
	}
	if !e.ArchivedAt.IsZero() {
		after = nil
	}

	if p.now.registry.Reads(e.Type) {
		i := slices.IndexFunc(p.next.Entities, func(o loyalty.Entity) bool { return o.Type == e.Type && o.ID == e.ID })
		if i >= 0 {
			p.next.Entities[i] = e
		} else {
			p.next.Entities = append(p.next.Entities, e)
		}
	}

	p.writes = append(p.writes, func(r *adminRun) error {
		return errors.Join(r.SaveEntity(e), r.audit("entity."+method, e.Type+"/"+e.ID, before, after))
	})
}

// fault collects the errors of the entities, so that all of them can be corrected at once. The first one gives the
// error its name.
func (p *configurationPlan) fault(err error) {
	e := loyalty.AsError(err)
	if p.faults == nil {
		own := *e
		p.faults = &own
		return
	}
	if room := maxConfigurationFaults - len(p.faults.Details); room > 0 {
		p.faults.Details = append(slices.Clip(p.faults.Details), e.Details[:min(room, len(e.Details))]...)
	}
}

// maxConfigurationFaults limits the faults that one answer lists.
const maxConfigurationFaults = 100

// placed adds the place to an error of the compiled programme. If an entity outside the configuration no longer fits,
// it uses what the configuration changes (ErrEntityInUse).
func (p *configurationPlan) placed(err error) error {
	var f *programme.EntityFault
	switch {
	case errors.Is(err, loyalty.ErrNotHoldable):
		return Under("configuration.modules."+programme.ModulePendingEvents, err)
	case !errors.As(err, &f):
		return Under("configuration.modules", err)
	case p.touched[entityKey{f.Type, f.ID}]:
		return Under(EntityPlaceIn(f.Type, f.ID), f.Unwrap())
	}
	return loyalty.ErrEntityInUse.With("by", f.Type+" "+f.ID).At("configuration.entities").Because(err)
}

// Under puts a place before the fields of an error; an error without fields is about the place itself.
func Under(place string, err error) error {
	var e *loyalty.Error
	if !errors.As(err, &e) {
		return err
	}
	if len(e.Details) == 0 {
		return e.At(place)
	}

	own := *e
	own.Details = make([]loyalty.Detail, len(e.Details))
	for i, d := range e.Details {
		if d.Field = place + "." + d.Field; strings.HasPrefix(e.Details[i].Field, "[") {
			d.Field = place + e.Details[i].Field
		}
		own.Details[i] = d
	}

	return &own
}

// fieldsOf splits an object into its properties, numbers in their shortest form: 3.50 in a file is
// no change from 3.5.
func fieldsOf(raw json.RawMessage) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	for name, value := range fields {
		fields[name] = programme.PlainNumbers(value)
	}
	return fields
}

// differing returns the properties in which two objects differ.
func differing(before, after json.RawMessage) (d ConfigurationChange, differs bool) {
	d.Before, d.After = fieldsOf(before), fieldsOf(after)
	for name, value := range d.Before {
		if other, there := d.After[name]; there &&
			programme.SameJSON(programme.ParseTree(value), programme.ParseTree(other)) {
			delete(d.Before, name)
			delete(d.After, name)
		}
	}
	return d, !reflect.DeepEqual(d.Before, d.After)
}
