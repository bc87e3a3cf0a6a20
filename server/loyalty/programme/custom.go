package programme

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// CustomAction is an action, or further attributes of a built-in one, that the
// programme declares (custom-events/action).
type CustomAction struct {
	ID     string          `json:"-"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// LineAction is the internal action whose declared attributes are those of the
// lines of a purchase.
const LineAction = "checkout_item"

// CustomActions are the actions that the programme declares (module custom_events).
var CustomActions = &EntityType[*CustomAction]{Type: "custom-events/action",
	Module: ModuleCustomEvents, Read: readCustomAction}

func readCustomAction(p *Programme, e loyalty.Entity) (*CustomAction, error) {
	a := &CustomAction{ID: e.ID}
	if err := Decode(e, a); err != nil {
		return nil, err
	}
	if _, internal := InternalOperations[a.Name]; internal && a.Name != LineAction {
		return nil, Fault("name", loyalty.ErrPropertyInvalid.Name, map[string]any{"reason": "internal_action"})
	}
	if first := p.Actions[a.Name]; first != nil {
		return nil, Fault("name", loyalty.ErrValueTaken.Name, map[string]any{"id": first.ID})
	}
	p.Actions[a.Name] = a
	return a, nil
}

// TypeCustomer is the type for attributes of customers.
const TypeCustomer = "core/customer"

// TypeTransaction is the type of purchases as entities.
const TypeTransaction = "core/transaction"

// AttributeType is the type of entities that declare an attribute.
const AttributeType = "custom-entities/attribute"

// ownType matches a type of the programme's own. It exists once an attribute was declared on it, and stays when all of
// them are archived.
var ownType = regexp.MustCompile(`^custom/[a-z0-9][a-z0-9_-]{0,63}$`)

// nameOwnTypes finds the types of the programme's own.
func (p *Programme) nameOwnTypes(all []loyalty.Entity) {
	for _, e := range all {
		var a loyalty.CustomAttribute
		if e.Type == AttributeType && json.Unmarshal(e.Data, &a) == nil && ownType.MatchString(a.On) {
			p.OwnTypes[a.On] = true
		}
	}
}

// fixedFields are fields that cannot be changed, by type: values stored under the attribute would then belong to
// another one.
var fixedFields = map[string][]string{AttributeType: {"on", "name"}}

// CheckFixed fails with ErrFieldFixed if a fixed field changes.
func CheckFixed(kind string, before, after json.RawMessage) error {
	var old, now map[string]any
	if len(fixedFields[kind]) == 0 {
		return nil
	}

	for raw, fields := range map[*json.RawMessage]*map[string]any{&before: &old, &after: &now} {
		if err := json.Unmarshal(*raw, fields); err != nil {
			return err
		}
	}

	for _, name := range fixedFields[kind] {
		if old[name] != now[name] {
			return loyalty.ErrFieldFixed.With("property", name).At(name)
		}
	}

	return nil
}

// Attributes are the attributes that the programme declares (module custom_entities).
var Attributes = &EntityType[struct{}]{Type: AttributeType, Module: ModuleCustomEntities,
	Read: func(p *Programme, e loyalty.Entity) (struct{}, error) {
		return struct{}{}, readAttribute(p, e)
	}}

func readAttribute(p *Programme, e loyalty.Entity) error {
	a := &loyalty.CustomAttribute{ID: e.ID}
	if err := Decode(e, a); err != nil {
		return err
	}

	switch {
	case a.On != TypeCustomer && p.registry.kind(a.On) == nil && !ownType.MatchString(a.On):
		return Fault("on", "entity_type_missing", map[string]any{"type": a.On})
	case a.Translatable && a.Type != "string":
		return NotWith("translatable", "type", a.Type)
	case a.Translatable && a.On == TypeCustomer:
		return NotWith("translatable", "on", a.On)
	case a.Type == loyalty.AttributeBoolean && slices.Contains(a.Tags, loyalty.TagSearchable):
		return NotWith("tags", "type", a.Type)
	}

	if i := slices.IndexFunc(p.Attributes[a.On],
		func(o *loyalty.CustomAttribute) bool { return o.Name == a.Name }); i >= 0 {
		return Fault("name", loyalty.ErrValueTaken.Name, map[string]any{"id": p.Attributes[a.On][i].ID})
	}

	p.Attributes[a.On] = append(p.Attributes[a.On], a)
	return nil
}

// declaration is what the programme adds to the attributes of an action.
type declaration struct {
	schema json.RawMessage
	names  map[string]bool
}

// profileActions write the attributes of customers.
var profileActions = []string{"opt_in", "profile", "subscribe"}

// Declared returns the JSON schema of the attributes that the programme adds to an action: those of custom_events and,
// if the action writes the profile, those of customers that custom_entities declares; nil if there is none.
func (p *Programme) Declared(action string) json.RawMessage { return p.declared[action].schema }

// DeclaredNames returns the names of the attributes of Declared.
func (p *Programme) DeclaredNames(action string) map[string]bool { return p.declared[action].names }

// declare collects the declarations by action.
func (p *Programme) declare() {
	p.declared = map[string]declaration{}
	if p.On[ModuleCustomEvents] {
		for name, a := range p.Actions {
			p.declared[name] = declared(a.Schema, nil)
		}
	}
	if !p.On[ModuleCustomEntities] || len(p.Attributes[TypeCustomer]) == 0 {
		return
	}
	for _, action := range profileActions {
		p.declared[action] = declared(p.declared[action].schema, p.Attributes[TypeCustomer])
	}
}

// declared is a schema with the attributes of customers added to it. An attribute that the schema has already keeps its
// definition.
func declared(schema json.RawMessage, more []*loyalty.CustomAttribute) declaration {
	whole := map[string]json.RawMessage{"type": json.RawMessage(`"object"`)}
	properties := map[string]json.RawMessage{}
	// A schema that is not an object would declare nothing; the contract refuses one.
	_ = json.Unmarshal(schema, &whole)
	_ = json.Unmarshal(whole["properties"], &properties)
	for _, a := range more {
		if _, own := properties["cf_"+a.Name]; !own {
			properties["cf_"+a.Name] = loyalty.JSON(a.Schema())
		}
	}

	d := declaration{schema: schema, names: map[string]bool{}}
	for name := range maps.Keys(properties) {
		d.names[name] = true
	}

	if len(more) > 0 {
		whole["properties"] = loyalty.JSON(properties)
		d.schema = loyalty.JSON(whole)
	}

	return d
}

// Adds reports whether an attribute of an action is the programme's own: one that it
// declares, or one that needs no declaration.
func (p *Programme) Adds(action, attribute string) bool {
	return strings.HasPrefix(attribute, "cf_") || p.declared[action].names[attribute]
}

// Recorded lists the actions that events can have, in alphabetical order.
func (p *Programme) Recorded() []string {
	names := slices.Concat(slices.Collect(maps.Keys(InternalOperations)), slices.Collect(maps.Keys(p.registry.actions)),
		slices.Collect(maps.Keys(p.Actions)))
	slices.Sort(names)
	return slices.Compact(names)
}

// Happens reports whether rules can react to an action: a submittable one, one that the platform writes, or one of the
// programme's own. Lines of a purchase trigger checkout_item once the purchase is accepted, whatever action their event
// has.
func (p *Programme) Happens(action string) bool {
	_, internal := InternalOperations[action]
	switch action {
	case "checkout_accept_item", "checkout_update_item":
		return false
	}
	return internal || p.registry.actions[action] || p.Actions[action] != nil
}
