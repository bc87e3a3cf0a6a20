package contract

import (
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// declarations are the actions and attributes that the programme declares (module custom_events), each with a JSON
// schema. A schema is compiled once and cached by its text.
type declarations struct {
	language *Schema // what a schema may say
	always   *Schema // the attributes that every action has
	inForce  atomic.Pointer[finder]

	mu       sync.Mutex
	compiled map[string]*Schema // by text
	actions  map[string]action  // by name and texts
}

// finder returns the schema that is declared for an action; nil if there is none.
type finder func(action string) json.RawMessage

// find returns the schema that the programme in force declares for an action.
func (d *declarations) find(action string) json.RawMessage {
	if find := d.inForce.Load(); find != nil {
		return (*find)(action)
	}
	return nil
}

const (
	// maxCompiled bounds the cache of compiled schemas. A programme declares a few; the bound is for a long history of
	// changes.
	maxCompiled = 1000
	// maxDeclaredSize bounds the text of a schema, in bytes.
	maxDeclaredSize = 64 << 10

	// lineAction is the action whose declared attributes belong to the lines of a purchase.
	lineAction = "checkout_item"
	// TimestampProperty is the attribute that every action has.
	TimestampProperty = "effective_timestamp"
)

func newDeclarations(timestamp *Schema) (*declarations, error) {
	shared, err := document("common")
	if err != nil {
		return nil, err
	}
	d := &declarations{compiled: map[string]*Schema{}, actions: map[string]action{}}
	d.always = &Schema{
		source: openapi3.NewObjectSchema(), kind: object,
		order: []property{{TimestampProperty, timestamp}}, byName: map[string]*Schema{TimestampProperty: timestamp},
	}
	d.language, err = NewCompiler().Compile(shared.Components.Schemas["DeclaredSchema"])
	return d, err
}

// UseDeclarations sets the function that finds what the programme in force declares for an action: a JSON schema that
// DeclareAction accepted, or nil. The action may be one of the document, which then has these attributes as well, or
// checkout_item, for the lines of a purchase. find must not block.
func (v *Vocabulary) UseDeclarations(find func(action string) json.RawMessage) {
	f := finder(find)
	v.declared.inForce.Store(&f)
}

// Extend makes a body that names an action follow the programme: beside the actions of its document it accepts the
// actions that the programme in force declares, and the attributes that it declares for any action. A schema without a
// discriminator stays as it is. Extend must be called before body is used.
func (v *Vocabulary) Extend(body *Schema) {
	if body != nil && body.kind == oneOf {
		body.lookup = v.branch
	}
}

// DeclareAction checks a schema that is to be declared for an action. It refuses a schema that does not compile or
// costs too much, an action that only the platform writes (except checkout_item), and an attribute that the action has
// already. Its errors are of kind Invalid, and their details name the place, such as schema.properties.colour.type.
func (v *Vocabulary) DeclareAction(name string, schema json.RawMessage) error {
	s, err := v.declared.declare(schema)
	if err != nil {
		return err
	}

	base := v.declared.always
	if a, documented := v.actions[name]; documented {
		base = a.data
	} else if a, internal := v.internal[name]; internal {
		if base = a.data; name != lineAction {
			return loyalty.ErrPropertyInvalid.With("property", "name").With("reason", "internal_action").At("name")
		}
	}

	k := checker{prefix: "schema", path: []step{{"properties", -1}}}
	for property := range s.source.Properties {
		if _, twice := base.twin(property); twice {
			k.fault("property_invalid", property, map[string]any{"property": property, "reason": "declared"})
		}
	}

	if len(k.faults) > 0 {
		return k.failure()
	}

	return nil
}

// Declarable checks an entity of the type custom-events/action against the existing actions and attributes. It fails as
// DeclareAction does.
func (v *Vocabulary) Declarable(entity json.RawMessage) error {
	var declared struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	}
	if err := json.Unmarshal(entity, &declared); err != nil {
		return err
	}
	return v.DeclareAction(declared.Name, declared.Schema)
}

// CheckDeclared validates an event's data by a declared schema and returns it in canonical form, as Check does by the
// document's schema.
func (v *Vocabulary) CheckDeclared(schema, data json.RawMessage, at string) (json.RawMessage, error) {
	s, err := v.declared.compile(schema)
	if err != nil {
		return nil, err
	}
	return s.CheckJSON(data, at)
}

// submittable finds an action that can be submitted, including what the programme declares for it.
func (v *Vocabulary) submittable(name string) (action, bool) {
	a, documented := v.actions[name]
	if _, internal := v.internal[name]; internal {
		return action{}, false
	}
	own, line := v.declared.find(name), json.RawMessage(nil)
	if documented && a.data.hasLines() {
		line = v.declared.find(lineAction)
	}
	if own == nil && line == nil {
		return a, documented
	}
	return v.withDeclared(name, own, line)
}

// withDeclared returns an action with the declared attributes of its data and of its lines. A schema that does not
// compile declares nothing; DeclareAction accepts none.
func (v *Vocabulary) withDeclared(name string, own, line json.RawMessage) (action, bool) {
	d := v.declared
	key := name + "\x00" + string(own) + "\x00" + string(line)
	d.mu.Lock()
	a, ok := d.actions[key]
	d.mu.Unlock()
	if ok {
		return a, true
	}

	if a, ok = v.declare(name, own, line); ok {
		d.mu.Lock()
		keep(d.actions, key, a)
		d.mu.Unlock()
	}

	return a, ok
}

func (v *Vocabulary) declare(name string, own, line json.RawMessage) (action, bool) {
	data, envelope := (*Schema)(nil), v.event.unknown
	if a, documented := v.actions[name]; documented {
		data, envelope = a.data.extended(nil), a.envelope
	}

	if s, err := v.declared.compile(own); err == nil && data == nil {
		data = s
	} else if err == nil {
		data = data.extended(s)
	}

	if data == nil {
		return action{}, false
	}

	if s, err := v.declared.compile(line); err == nil && data.hasLines() {
		items := *data.byName[itemsProperty]
		items.items = items.items.extended(s)
		items.items.drop(TimestampProperty)
		data.replace(itemsProperty, &items)
	}

	envelope = envelope.extended(nil)
	envelope.replace("data", data)
	return action{envelope: envelope, data: data, meaning: meaningOf(data)}, true
}

// keep adds to a cache of bounded size.
func keep[V any](cache map[string]V, key string, value V) {
	if len(cache) >= maxCompiled {
		clear(cache)
	}
	cache[key] = value
}
