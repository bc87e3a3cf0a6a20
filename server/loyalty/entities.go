package loyalty

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// entityKind is a type of entity: the module it belongs to, and how the rules
// read it.
type entityKind struct {
	name   string
	module string                         // must be on; empty: built in
	read   func(*Programme, Entity) error // adds it to the programme; nil: no rule reads it
}

// entityKinds lists the types, each after those that it can name.
var entityKinds = []entityKind{
	{"core/customer-list", "", nil},
	{"products/product", "", nil},
	{"custom-entities/attribute", ModuleCustomEntities, readAttribute},
	{"custom-events/action", ModuleCustomEvents, readCustomAction},
	{"stores/store", ModuleStores, readShop},
	{"segments/segment", "", readSegment},
	{"coupons/pool", ModuleCoupons, readPool},
	{"rewards/reward", ModuleRewards, readReward},
	{"offers/offer", ModuleOffers, readOffer},
	{"tiers/structure", ModuleTiers, readStructure},
	{"tiers/tier", ModuleTiers, readTier},
	{"challenges/challenge", ModuleChallenges, readChallenge},
	{"contests/contest", ModuleContests, readContest},
	{"prize-wheels/wheel", ModulePrizeWheels, readWheel},
	{"quizzes/quiz", ModuleQuizzes, readQuiz},
	{"treasure-hunt/treasure", ModuleTreasureHunt, readTreasure},
	{"profiling/flow", ModuleProfiling, readFlow},
	{"automation/campaign", ModuleAutomation, readCampaign},
}

// SnapshotTypes lists the entity types that the rules read.
func SnapshotTypes() []string {
	var names []string
	for _, k := range entityKinds {
		if k.read != nil {
			names = append(names, k.name)
		}
	}
	return names
}

// EntityTypes lists the types that the Entities API serves.
func EntityTypes() []string {
	names := make([]string, len(entityKinds))
	for i, k := range entityKinds {
		names[i] = k.name
	}
	return names
}

// CheckEntityType fails with ErrEntityUnknown for a type that does not exist, and
// with ErrModuleOffPath for one whose module is off.
func (p *Programme) CheckEntityType(kind string) error {
	i := slices.IndexFunc(entityKinds, func(k entityKind) bool { return k.name == kind })
	switch {
	case i < 0:
		return ErrEntityUnknown.With("type", kind)
	case entityKinds[i].module != "" && !p.On[entityKinds[i].module]:
		return ErrModuleOffPath.With("module", entityKinds[i].module)
	}
	return nil
}

// entityFault is what is wrong with one of the stored entities.
type entityFault struct {
	kind, id string
	err      error
}

func (f *entityFault) Error() string { return fmt.Sprintf("%s %s: %v", f.kind, f.id, f.err) }
func (f *entityFault) Unwrap() error { return f.err }

// build reads the entities that are in force, type by type.
func (p *Programme) build(all []Entity) error {
	p.clear()
	for _, k := range entityKinds {
		for _, e := range all {
			if e.Type != k.name || !e.ArchivedAt.IsZero() || k.read == nil {
				continue
			}
			if err := k.read(p, e); err != nil {
				return &entityFault{e.Type, e.ID, err}
			}
		}
	}
	p.order()
	return nil
}

func (p *Programme) clear() {
	p.Shops, p.Segments, p.Pools = map[string]*Shop{}, map[string]*Segment{}, map[string]*Pool{}
	p.Rewards, p.Offers = map[string]*Reward{}, map[string]*Offer{}
	p.Structures, p.Challenges = map[string]*Structure{}, map[string]*Challenge{}
	p.Contests, p.Wheels, p.Quizzes = map[string]*Contest{}, map[string]*Wheel{}, map[string]*Quiz{}
	p.Treasures, p.Flows = map[string]*Treasure{}, map[string]*Flow{}
	p.Campaigns, p.Actions = nil, map[string]*CustomAction{}
	p.Attributes = map[string][]*CustomAttribute{}
}

// order sorts what has an order of its own.
func (p *Programme) order() {
	p.orderCampaigns()
	p.orderChallenges()
	p.declare()
	p.ladders = nil
	for _, id := range slices.Sorted(maps.Keys(p.Structures)) {
		s := p.Structures[id]
		p.ladders = append(p.ladders, s)
		slices.SortStableFunc(s.Tiers, func(a, b *Tier) int { return compareAmounts(a.Threshold, b.Threshold) })
	}
}

// decodeEntity reads the fields of an entity. The document's schema was checked
// before; what is left are numbers that cannot be kept.
func decodeEntity(e Entity, into any) error {
	d := json.NewDecoder(bytes.NewReader(e.Data))
	if err := d.Decode(into); err != nil {
		var typed *json.UnmarshalTypeError
		field := "data"
		if errors.As(err, &typed) && typed.Field != "" {
			field = typed.Field
		}
		return fieldFault(field, ErrPropertyInvalid.Name, map[string]any{"reason": "type"}).Because(err)
	}
	return nil
}

// missing says that an entity names another one that is not in force.
func missing(field, kind, id string) error {
	return fieldFault(field, "entity_missing", map[string]any{"type": kind, "id": id})
}

// EntityChange is a change of one entity.
type EntityChange struct {
	Type string
	ID   string          // on creation: empty lets the platform choose
	Data json.RawMessage // the fields that are sent; in an update null removes one
	// Check holds the fields as a whole against the schema of the type and gives
	// them in canonical form.
	Check func(json.RawMessage) (json.RawMessage, error)
}

// Entity finds an entity, also an archived one. It fails with ErrEntityUnknown,
// ErrModuleOffPath or ErrEntityNotFound.
func (a *Admin) Entity(ctx context.Context, kind, id string) (Entity, error) {
	if err := a.directory.Programme().CheckEntityType(kind); err != nil {
		return Entity{}, err
	}
	e, ok, err := a.store.Entity(ctx, kind, id)
	if err == nil && !ok {
		err = ErrEntityNotFound.With("type", kind).With("id", id)
	}
	return e, err
}

// Entities lists entities of a type, the oldest first.
func (a *Admin) Entities(ctx context.Context, q EntityQuery) ([]Entity, error) {
	if err := a.directory.Programme().CheckEntityType(q.Type); err != nil {
		return nil, err
	}
	return a.store.Entities(ctx, q)
}

// CreateEntity adds an entity. Besides the failures of Entity it fails with
// ErrEntityExists, or with an error of kind Invalid that names the field.
func (a *Admin) CreateEntity(ctx context.Context, call Call, c EntityChange) (Done[Entity], error) {
	return change(ctx, a, call, func(r *adminRun) (Entity, error) {
		e := Entity{Type: c.Type, ID: c.ID, CreatedAt: r.now, UpdatedAt: r.now}
		if err := a.directory.Programme().CheckEntityType(c.Type); err != nil {
			return e, err
		}
		if e.ID == "" {
			e.ID = NewID(r.now, ID{}).String()
		} else if err := checkEntityID(e.ID); err != nil {
			return e, err
		}
		if _, taken, err := r.Entity(e.Type, e.ID); err != nil || taken {
			return e, errors.Join(err, taken409(taken, e.ID))
		}
		var err error
		if e.Data, err = c.Check(c.Data); err != nil {
			return e, err
		}
		return e, r.saveEntity(e, "entity.create", nil)
	}, func(e Entity) any { return e })
}

func taken409(taken bool, id string) error {
	if !taken {
		return nil
	}
	return ErrEntityExists.With("id", id).At("id")
}

// checkEntityID refuses an id that could not be addressed later.
func checkEntityID(id string) error {
	err := CheckName("id", id)
	var e *Error
	if errors.As(err, &e) && len(e.Details) > 0 {
		return e.At("id")
	}
	return err
}

// UpdateEntity replaces the fields that are sent; null removes one.
func (a *Admin) UpdateEntity(ctx context.Context, call Call, c EntityChange) (Done[Entity], error) {
	return change(ctx, a, call, func(r *adminRun) (Entity, error) {
		e, err := a.found(r, c)
		if err != nil {
			return e, err
		}
		before := e
		if e.Data, err = c.Check(patch(e.Data, c.Data)); err != nil {
			return e, err
		}
		e.UpdatedAt = r.now
		return e, r.saveEntity(e, "entity.update", before.Data)
	}, func(e Entity) any { return e })
}

// found gives the entity of a change. One that is archived cannot be changed.
func (a *Admin) found(r *adminRun, c EntityChange) (Entity, error) {
	if err := a.directory.Programme().CheckEntityType(c.Type); err != nil {
		return Entity{}, err
	}
	e, ok, err := r.Entity(c.Type, c.ID)
	switch {
	case err != nil:
		return e, err
	case !ok:
		return e, ErrEntityNotFound.With("type", c.Type).With("id", c.ID)
	case !e.ArchivedAt.IsZero():
		return e, ErrEntityArchived.With("id", c.ID)
	}
	return e, nil
}

// patch puts the fields of a change over those of an entity.
func patch(old, sent json.RawMessage) json.RawMessage {
	var fields, changes map[string]json.RawMessage
	if json.Unmarshal(old, &fields) != nil || json.Unmarshal(sent, &changes) != nil {
		return sent // not an object: the schema says so
	}
	for name, value := range changes {
		if string(value) == "null" {
			delete(fields, name)
		} else {
			fields[name] = value
		}
	}
	return marshal(fields)
}

// ArchiveEntity takes an entity out of force and keeps it. Archiving twice is no
// error. It fails with ErrEntityInUse while another entity names it.
func (a *Admin) ArchiveEntity(ctx context.Context, call Call, c EntityChange) (Done[Entity], error) {
	return change(ctx, a, call, func(r *adminRun) (Entity, error) {
		e, err := a.found(r, c)
		if errors.Is(err, ErrEntityArchived) {
			return e, nil
		}
		if err != nil {
			return e, err
		}
		e.ArchivedAt, e.UpdatedAt = r.now, r.now
		return e, r.saveEntity(e, "entity.archive", e.Data)
	}, func(e Entity) any { return e })
}

// saveEntity saves only what makes a programme together with everything else.
func (r *adminRun) saveEntity(e Entity, action string, before json.RawMessage) error {
	next := r.Snapshot
	same := func(o Entity) bool { return o.Type == e.Type && o.ID == e.ID }
	// The change comes last of its type, so that a fault between two is its own.
	next.Entities = append(slices.DeleteFunc(slices.Clone(next.Entities), same), e)
	_, err := CompileProgramme(next)
	var f *entityFault
	if errors.As(err, &f) && (f.kind != e.Type || f.id != e.ID) {
		return ErrEntityInUse.With("by", f.kind+" "+f.id).Because(err)
	}
	if err != nil {
		return err
	}
	if err := r.SaveEntity(e); err != nil {
		return err
	}
	after := any(e.Data)
	if !e.ArchivedAt.IsZero() {
		after = nil
	}
	return r.audit(action, e.Type+"/"+e.ID, rawOrNil(before), after)
}

func rawOrNil(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return raw
}
