package server

import (
	"encoding/json"
	"fmt"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Vocabulary is the Events document as the engine needs it: which attributes an
// action has, which module they need, which are personal, and how to check
// them. It implements loyalty.Contract.
type Vocabulary struct {
	event   *shape // the envelope of every action
	actions map[string]action
}

// action is what the document says of one action's data.
type action struct {
	data  *shape
	shape *loyalty.Shape
}

// NewVocabulary reads the Events document. It fails when the document is not
// one that can be walked.
func NewVocabulary() (*Vocabulary, error) {
	doc, err := openapi.Load("events")
	if err != nil {
		return nil, err
	}
	return newVocabulary(doc)
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
		v.actions[name] = action{data, loyaltyShape(data)}
	}
	return v, nil
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

// Actions lists the actions that the document has, in no order.
func (v *Vocabulary) Actions() []string {
	names := make([]string, 0, len(v.actions))
	for name := range v.actions {
		names = append(names, name)
	}
	return names
}

// Shape gives the shape of an action's data; false: the document does not have
// the action.
func (v *Vocabulary) Shape(name string) (*loyalty.Shape, bool) {
	a, ok := v.actions[name]
	return a.shape, ok
}

// Check validates one event's data by its action's schema and gives it in
// canonical form. at is where the data stands in the request, such as data. It
// fails with an error of kind Invalid whose details name the fields.
func (v *Vocabulary) Check(name string, data json.RawMessage, at string) (json.RawMessage, error) {
	a, ok := v.actions[name]
	if !ok {
		return nil, loyalty.ErrUnknownAction.With("action", name).At("action")
	}
	tree, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if tree, err = a.data.check(tree, at); err != nil {
		return nil, err
	}
	return appendJSON(make([]byte, 0, len(data)), tree), nil
}

// event is an event's envelope, checked and taken apart.
type event struct {
	customer, externalID, action string
	data                         json.RawMessage
}

// read checks a whole event, its data included, and takes it apart. at stands
// before the fields of its errors, such as events[3].
func (v *Vocabulary) read(tree any, at string) (event, error) {
	tree, err := v.event.check(tree, at)
	if err != nil {
		return event{}, err
	}
	return eventOf(tree), nil
}

// eventOf takes a checked event apart.
func eventOf(tree any) event {
	m, _ := tree.(map[string]any)
	text := func(name string) string { s, _ := m[name].(string); return s }
	return event{
		customer: text("customer"), externalID: text("external_id"), action: text("action"),
		data: appendJSON(make([]byte, 0, 512), m["data"]),
	}
}

// submission is a checked event as the engine takes it.
func (e event) submission() loyalty.Submission {
	return loyalty.Submission{Customer: e.customer, ExternalID: e.externalID, Action: e.action, Data: e.data, Checked: true}
}
