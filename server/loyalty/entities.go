package loyalty

import (
	"bytes"
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
	{attributeType, ModuleCustomEntities, readAttribute},
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

// EntityTypes lists the types that every programme has, each after those that it
// can name.
func EntityTypes() []string {
	names := make([]string, len(entityKinds))
	for i, k := range entityKinds {
		names[i] = k.name
	}
	return names
}

// EntityTypes lists the types of this programme: those that every programme has,
// and then its own (custom/<id>).
func (p *Programme) EntityTypes() []string {
	return append(EntityTypes(), slices.Sorted(maps.Keys(p.OwnTypes))...)
}

// CheckEntityType fails with ErrEntityUnknown for a type that does not exist, and
// with ErrModuleOffPath for one whose module is off.
func (p *Programme) CheckEntityType(kind string) error {
	i := slices.IndexFunc(entityKinds, func(k entityKind) bool { return k.name == kind })
	if p.OwnTypes[kind] { // declared by an attribute, so it goes with attributes
		i = slices.IndexFunc(entityKinds, func(k entityKind) bool { return k.name == attributeType })
	}
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
	p.nameOwnTypes(all)
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
	p.Attributes, p.OwnTypes = map[string][]*CustomAttribute{}, map[string]bool{}
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
