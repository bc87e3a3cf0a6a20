package programme

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// EntityKind is a type of entity in the table of types: an EntityType, or a PlainEntityType that no rule reads.
type EntityKind interface {
	named() (name, module string)
	reads() bool
	read(*Programme, loyalty.Entity) error
	index(*Programme)
}

// EntityType is a type of entity that the rules read, each as a T.
type EntityType[T any] struct {
	Type   string                                      // such as rewards/reward
	Module string                                      // must be on; empty: built in
	Read   func(*Programme, loyalty.Entity) (T, error) // its error names the field at fault
	Index  func(*Programme, map[string]T)              // fills Slots with what rules look up; nil: nothing
}

// Of returns the entities of the type that are in force, by id. They must not be changed.
func (k *EntityType[T]) Of(p *Programme) map[string]T {
	all, _ := p.compiled[k].(map[string]T)
	return all
}

func (k *EntityType[T]) named() (name, module string) { return k.Type, k.Module }

func (k *EntityType[T]) reads() bool { return true }

func (k *EntityType[T]) read(p *Programme, e loyalty.Entity) error {
	one, err := k.Read(p, e)
	if err != nil {
		return err
	}
	k.Put(p, e.ID, one)
	return nil
}

// Put adds an entity to a programme that is being made.
func (k *EntityType[T]) Put(p *Programme, id string, one T) {
	all := k.Of(p)
	if all == nil {
		all = map[string]T{}
		p.keep(k, all)
	}
	all[id] = one
}

func (k *EntityType[T]) index(p *Programme) {
	if k.Index != nil {
		k.Index(p, k.Of(p))
	}
}

// PlainEntityType is a type of entity that no rule reads: there may be any number of them.
type PlainEntityType struct{ Type, Module string }

func (k PlainEntityType) named() (name, module string) { return k.Type, k.Module }

func (k PlainEntityType) reads() bool { return false }

func (k PlainEntityType) read(*Programme, loyalty.Entity) error { return nil }

func (k PlainEntityType) index(*Programme) {}

// Slot is where a feature keeps what it computed from its entities when the programme was compiled.
type Slot[T any] struct{ _ byte } // its address is the key

// Of returns the kept value; the zero value if there is none.
func (s *Slot[T]) Of(p *Programme) T {
	v, _ := p.compiled[s].(T)
	return v
}

// Set keeps a value. Only an Index may call it.
func (s *Slot[T]) Set(p *Programme, v T) { p.keep(s, v) }

func (p *Programme) keep(key, value any) {
	if p.compiled == nil {
		p.compiled = map[any]any{}
	}
	p.compiled[key] = value
}

// Registry is the entity types of this build of the program, each after those that it can name, and the actions that
// can be submitted.
type Registry struct {
	kinds   []EntityKind
	actions map[string]bool
}

// NewRegistry makes a Registry. It leaves out actions that only the platform writes, because they cannot be submitted.
func NewRegistry(actions []string, kinds ...EntityKind) *Registry {
	g := &Registry{actions: map[string]bool{}, kinds: kinds}
	for _, name := range actions {
		if _, internal := InternalOperations[name]; !internal {
			g.actions[name] = true
		}
	}
	return g
}

// SnapshotTypes lists the entity types that the rules read.
func (g *Registry) SnapshotTypes() []string {
	var names []string
	for _, k := range g.kinds {
		if k.reads() {
			name, _ := k.named()
			names = append(names, name)
		}
	}
	return names
}

// EntityTypes lists the types that every programme has, each after those that it
// can name.
func (g *Registry) EntityTypes() []string {
	names := make([]string, len(g.kinds))
	for i, k := range g.kinds {
		names[i], _ = k.named()
	}
	return names
}

func (g *Registry) kind(name string) EntityKind {
	for _, k := range g.kinds {
		if n, _ := k.named(); n == name {
			return k
		}
	}
	return nil
}

// Reads reports whether rules read the entities of a type.
func (g *Registry) Reads(kind string) bool {
	k := g.kind(kind)
	return k != nil && k.reads()
}

// Declarations returns a programme with only the types and attributes that entities declare; an entity that cannot be
// read declares nothing.
func (g *Registry) Declarations(all []loyalty.Entity) *Programme {
	p := &Programme{registry: g}
	p.clear()
	p.nameOwnTypes(all)
	for _, e := range all {
		if e.Type == AttributeType && e.ArchivedAt.IsZero() {
			_ = readAttribute(p, e) // compiling the whole programme reports the fault
		}
	}
	return p
}

// Registry is the registry that compiled the programme.
func (p *Programme) Registry() *Registry { return p.registry }

// EntityTypes lists the types of this programme: those that every programme has,
// and then its own (custom/<id>).
func (p *Programme) EntityTypes() []string {
	return append(p.registry.EntityTypes(), slices.Sorted(maps.Keys(p.OwnTypes))...)
}

// CheckEntityType fails with ErrEntityUnknown for a type that does not exist, and
// with ErrModuleOffPath for one whose module is off.
func (p *Programme) CheckEntityType(kind string) error {
	k := p.registry.kind(kind)
	if p.OwnTypes[kind] { // attributes declare it, so it belongs to their module
		k = Attributes
	}
	if k == nil {
		return loyalty.ErrEntityUnknown.With("type", kind)
	}
	if _, module := k.named(); module != "" && !p.On[module] {
		return loyalty.ErrModuleOffPath.With("module", module)
	}
	return nil
}

// EntityFault is the fault of one of the stored entities.
type EntityFault struct {
	Type, ID string
	err      error
}

func (f *EntityFault) Error() string { return fmt.Sprintf("%s %s: %v", f.Type, f.ID, f.err) }

// Unwrap returns the fault itself.
func (f *EntityFault) Unwrap() error { return f.err }

// build reads the entities that are in force, type by type.
func (p *Programme) build(all []loyalty.Entity) error {
	p.clear()
	p.nameOwnTypes(all)
	for _, k := range p.registry.kinds {
		name, _ := k.named()
		for _, e := range all {
			if e.Type != name || !e.ArchivedAt.IsZero() {
				continue
			}
			e.Data = Dated(e.Data, p.Location)
			if err := k.read(p, e); err != nil {
				return &EntityFault{e.Type, e.ID, err}
			}
		}
	}

	for _, k := range p.registry.kinds {
		k.index(p)
	}

	p.declare()
	return nil
}

// Add reads one more entity of a type that rules read. If it fails, the programme must be thrown away; otherwise the
// programme is incomplete until everything is compiled again.
func (p *Programme) Add(e loyalty.Entity) error {
	p.nameOwnTypes([]loyalty.Entity{e})
	e.Data = Dated(e.Data, p.Location)
	return p.registry.kind(e.Type).read(p, e)
}

func (p *Programme) clear() {
	p.compiled = map[any]any{}
	p.Actions = map[string]*CustomAction{}
	p.Attributes, p.OwnTypes = map[string][]*loyalty.CustomAttribute{}, map[string]bool{}
}

// Decode reads the fields of an entity. The document's schema was checked before; what can still fail are numbers that
// cannot be kept.
func Decode(e loyalty.Entity, into any) error {
	d := json.NewDecoder(bytes.NewReader(e.Data))
	if err := d.Decode(into); err != nil {
		var typed *json.UnmarshalTypeError
		field := "data"
		if errors.As(err, &typed) && typed.Field != "" {
			field = typed.Field
		}
		return Fault(field, loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": "type"}).Because(err)
	}
	return nil
}

// Missing returns the fault of an entity that names another one which is not in force.
func Missing(field, kind, id string) error {
	return Fault(field, "entity_missing", map[string]any{"type": kind, "id": id})
}
