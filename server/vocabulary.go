package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Vocabulary is the Events document as the engine needs it: which attributes an
// action has, which module they need, which are personal, and how to check
// them. It implements loyalty.Contract. What the programme declares itself
// (module custom_events) is part of it: see UseDeclarations.
type Vocabulary struct {
	event    *shape            // the envelope of every action
	actions  map[string]action // those that can be submitted
	internal map[string]action // those that only the platform writes
	declared *declarations
}

// action is what the document says of one action.
type action struct {
	envelope *shape // nil: cannot be submitted
	data     *shape
	shape    *loyalty.Shape
}

// NewVocabulary reads the Events document. It fails when the document is not
// one that can be walked.
func NewVocabulary() (*Vocabulary, error) {
	documents, err := loadDocuments()
	if err != nil {
		return nil, err
	}
	events := slices.IndexFunc(documents, func(d document) bool { return d.api == "events" })
	return newVocabulary(documents[events].spec)
}

func newVocabulary(doc *openapi3.T) (*Vocabulary, error) {
	event, err := newCompiler().compile(doc.Components.Schemas["Event"])
	if err != nil {
		return nil, fmt.Errorf("events: Event: %w", err)
	}
	if event.kind != choice {
		return nil, fmt.Errorf("events: Event has no discriminator")
	}
	v := &Vocabulary{event: event, actions: make(map[string]action, len(event.branches))}
	for name, branch := range event.branches {
		data := branch.byName["data"]
		if data == nil || data.kind != object {
			return nil, fmt.Errorf("events: %s: data is not an object", name)
		}
		v.actions[name] = action{branch, data, loyaltyShape(data)}
	}
	if v.internal, err = v.readInternal(event.schema); err != nil {
		return nil, fmt.Errorf("events: x-internal-actions: %w", err)
	}
	if v.declared, err = newDeclarations(v.timestamp()); err != nil {
		return nil, err
	}
	event.lookup = v.branch
	return v, nil
}

// timestamp is the shape of the attribute that every action has.
func (v *Vocabulary) timestamp() *shape {
	for _, a := range v.actions {
		if s := a.data.byName[timestampProperty]; s != nil {
			return s
		}
	}
	return &shape{schema: openapi3.NewSchema()}
}

// internalAction is what the document says of an action that only the platform
// writes: the schema of its data, or the action whose lines it records.
type internalAction struct {
	Data   *openapi3.Schema `json:"data"`
	ItemOf string           `json:"item_of"`
}

func (v *Vocabulary) readInternal(event *openapi3.Schema) (map[string]action, error) {
	raw, err := json.Marshal(event.Extensions["x-internal-actions"])
	if err != nil {
		return nil, err
	}
	var all map[string]internalAction
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	internal := make(map[string]action, len(all))
	for name, i := range all {
		data, err := v.internalData(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		data.extra = anyExtra // its writer is the platform
		internal[name] = action{data: data, shape: loyaltyShape(data)}
	}
	return internal, nil
}

func (v *Vocabulary) internalData(i internalAction) (*shape, error) {
	if i.ItemOf != "" {
		return v.itemOf(i.ItemOf)
	}
	if i.Data == nil {
		return nil, fmt.Errorf("neither data nor item_of")
	}
	s := &shape{schema: i.Data}
	return s, newCompiler().fillObject(s)
}

// itemOf is the shape of a line of a purchase, which inherits the attributes of
// its checkout; its own win.
func (v *Vocabulary) itemOf(name string) (*shape, error) {
	checkout, ok := v.actions[name]
	if !ok || !checkout.data.hasLines() {
		return nil, fmt.Errorf("%s has no items", name)
	}
	line := checkout.data.byName[itemsProperty].items.extended(checkout.data)
	line.drop(itemsProperty)
	return line, nil
}

// itemsProperty holds the lines of a purchase.
const itemsProperty = "items"

func (s *shape) hasLines() bool {
	items := s.byName[itemsProperty]
	return items != nil && items.kind == list && items.items.kind == object
}

// loyaltyShape gives what the document's extensions say of an object.
func loyaltyShape(s *shape) *loyalty.Shape {
	out := &loyalty.Shape{Module: extension(s.schema, "x-module"), Attributes: make(map[string]loyalty.Attribute, len(s.order))}
	for _, p := range s.order {
		a := loyalty.Attribute{
			Module:   extension(p.shape.schema, "x-module"),
			Personal: p.shape.schema.Extensions["x-personal"] == true,
		}
		if p.shape.kind == list && p.shape.items.kind == object {
			a.Items = loyaltyShape(p.shape.items)
		}
		out.Attributes[p.name] = a
	}
	return out
}

func extension(s *openapi3.Schema, name string) string {
	text, _ := s.Extensions[name].(string)
	return text
}

// Actions lists the actions of the document that can be submitted, in no order.
func (v *Vocabulary) Actions() []string {
	names := make([]string, 0, len(v.actions))
	for name := range v.actions {
		names = append(names, name)
	}
	return names
}

// known finds an action: one of the document with what the programme adds to
// it, one that the programme declares, or one that only the platform writes.
func (v *Vocabulary) known(name string) (action, bool) {
	a, ok := v.submittable(name)
	if !ok {
		a, ok = v.internal[name]
	}
	return a, ok
}

// branch is the envelope of an action that can be submitted; nil: there is none.
func (v *Vocabulary) branch(name string) *shape {
	a, _ := v.submittable(name)
	return a.envelope
}

// Shape gives the shape of an action's data, also of an action that only the
// platform writes; false: nobody knows the action.
func (v *Vocabulary) Shape(name string) (*loyalty.Shape, bool) {
	a, ok := v.known(name)
	return a.shape, ok
}

// Deprecated gives the instant from which an action of the document is
// deprecated; false: it is not.
func (v *Vocabulary) Deprecated(name string) (time.Time, bool) {
	a, ok := v.actions[name]
	if !ok || !a.envelope.schema.Deprecated {
		return time.Time{}, false
	}
	since, err := time.Parse(time.DateOnly, extension(a.envelope.schema, "x-deprecated-since"))
	return since, err == nil
}

// Check validates one event's data by its action's schema and gives it in
// canonical form. at is where the data stands in the request, such as data. It
// fails with an error of kind Invalid whose details name the fields.
func (v *Vocabulary) Check(name string, data json.RawMessage, at string) (json.RawMessage, error) {
	a, ok := v.known(name)
	if !ok {
		return nil, loyalty.ErrUnknownAction.With("action", name).At("action")
	}
	return checkRaw(a.data, data, at)
}

// checkRaw holds a JSON text against a shape and gives it in canonical form.
func checkRaw(s *shape, data json.RawMessage, at string) (json.RawMessage, error) {
	tree, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if tree, err = s.check(tree, at); err != nil {
		return nil, err
	}
	return appendJSON(make([]byte, 0, len(data)), tree), nil
}

// event is an event's envelope, checked and taken apart.
type event struct {
	customer, externalID, action string
	data                         json.RawMessage
	guest                        bool
	known                        bool // its data was checked by its action's schema
}

// read checks a whole event, its data included, and takes it apart. at stands
// before the fields of its errors, such as events[3].
func (v *Vocabulary) read(tree any, at string) (event, error) {
	tree, err := v.event.check(tree, at)
	if err != nil {
		return event{}, err
	}
	return v.eventOf(tree), nil
}

// eventOf takes a checked event apart.
func (v *Vocabulary) eventOf(tree any) event {
	m, _ := tree.(map[string]any)
	text := func(name string) string { s, _ := m[name].(string); return s }
	guest, _ := m["guest"].(bool)
	return event{
		customer: text("customer"), externalID: text("external_id"), action: text("action"), guest: guest,
		data: appendJSON(make([]byte, 0, 512), m["data"]), known: v.branch(text("action")) != nil,
	}
}

// submission is a checked event as the engine takes it.
func (e event) submission() loyalty.Submission {
	return loyalty.Submission{
		Customer: e.customer, ExternalID: e.externalID, Action: e.action, Data: e.data, Guest: e.guest, Checked: e.known,
	}
}
