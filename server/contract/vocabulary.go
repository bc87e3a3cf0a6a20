package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Vocabulary is the Events document as the engine needs it: which attributes an action has, which module they need,
// which are personal, and how to check them. It implements loyalty.Contract. After UseDeclarations it includes what the
// programme declares (module custom_events). It may be used by many goroutines.
type Vocabulary struct {
	event    *Schema           // the envelope of every action
	actions  map[string]action // actions that can be submitted
	internal map[string]action // actions that only the platform writes
	declared *declarations
}

// action is the document's description of one action.
type action struct {
	envelope *Schema // nil: cannot be submitted
	data     *Schema
	meaning  *loyalty.Shape
	itemOf   string // the action whose lines it records
}

// NewVocabulary reads the Events document. It fails if the document cannot be walked.
func NewVocabulary() (*Vocabulary, error) {
	documents, err := Documents()
	if err != nil {
		return nil, err
	}
	events := slices.IndexFunc(documents, func(d Document) bool { return d.API == "events" })
	return newVocabulary(documents[events].Spec)
}

func newVocabulary(doc *openapi3.T) (*Vocabulary, error) {
	event, err := NewCompiler().Compile(doc.Components.Schemas["Event"])
	if err != nil {
		return nil, fmt.Errorf("events: Event: %w", err)
	}
	if event.kind != oneOf {
		return nil, fmt.Errorf("events: Event has no discriminator")
	}

	v := &Vocabulary{event: event, actions: make(map[string]action, len(event.branches))}
	for name, branch := range event.branches {
		data := branch.byName["data"]
		if data == nil || data.kind != object {
			return nil, fmt.Errorf("events: %s: data is not an object", name)
		}
		v.actions[name] = action{envelope: branch, data: data, meaning: meaningOf(data)}
	}

	if v.internal, err = v.readInternal(event.source); err != nil {
		return nil, fmt.Errorf("events: x-internal-actions: %w", err)
	}
	if v.declared, err = newDeclarations(v.timestamp()); err != nil {
		return nil, err
	}

	event.lookup = v.branch
	return v, nil
}

// timestamp is the schema of the attribute that every action has.
func (v *Vocabulary) timestamp() *Schema {
	for _, a := range v.actions {
		if s := a.data.byName[TimestampProperty]; s != nil {
			return s
		}
	}
	return &Schema{source: openapi3.NewSchema()}
}

// internalAction is the document's description of an action that only the platform writes: the schema of its data, or
// the action whose lines it records.
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
		data.extra = anyExtra // only the platform writes it
		internal[name] = action{data: data, meaning: meaningOf(data), itemOf: i.ItemOf}
	}

	return internal, nil
}

func (v *Vocabulary) internalData(i internalAction) (*Schema, error) {
	if i.ItemOf != "" {
		return v.itemOf(i.ItemOf)
	}
	if i.Data == nil {
		return nil, fmt.Errorf("neither data nor item_of")
	}
	s := &Schema{source: i.Data}
	return s, NewCompiler().fillObject(s)
}

// itemOf is the schema of a line of a purchase. A line inherits the attributes of its checkout; its own attributes win.
func (v *Vocabulary) itemOf(name string) (*Schema, error) {
	checkout, ok := v.actions[name]
	if !ok || !checkout.data.hasLines() {
		return nil, fmt.Errorf("%s has no items", name)
	}
	line := checkout.data.byName[itemsProperty].items.extended(checkout.data)
	line.drop(itemsProperty)
	return line, nil
}

// itemsProperty is the property with the lines of a purchase.
const itemsProperty = "items"

func (s *Schema) hasLines() bool {
	items := s.byName[itemsProperty]
	return items != nil && items.kind == list && items.items.kind == object
}

// meaningOf reads the document's extensions on the attributes of an object.
func meaningOf(s *Schema) *loyalty.Shape {
	out := &loyalty.Shape{Module: extension(s.source, "x-module"),
		Attributes: make(map[string]loyalty.Attribute, len(s.order))}
	for _, p := range s.order {
		a := loyalty.Attribute{
			Module:   extension(p.schema.source, "x-module"),
			Personal: p.schema.source.Extensions["x-personal"] == true,
		}
		if p.schema.kind == list && p.schema.items.kind == object {
			a.Items = meaningOf(p.schema.items)
		}
		out.Attributes[p.name] = a
	}
	return out
}

func extension(s *openapi3.Schema, name string) string {
	text, _ := s.Extensions[name].(string)
	return text
}

// Actions lists the document's actions that can be submitted, in no order.
func (v *Vocabulary) Actions() []string {
	names := make([]string, 0, len(v.actions))
	for name := range v.actions {
		names = append(names, name)
	}
	return names
}

// known finds an action: one of the document with the programme's additions, one that the programme declares, or one
// that only the platform writes.
func (v *Vocabulary) known(name string) (action, bool) {
	a, ok := v.submittable(name)
	if !ok {
		a, ok = v.internal[name]
	}
	return a, ok
}

// branch is the envelope of an action that can be submitted; nil if there is none.
func (v *Vocabulary) branch(name string) *Schema {
	a, _ := v.submittable(name)
	return a.envelope
}

// Shape describes the attributes of an action by the document and the programme, also of an action that only the
// platform writes; false if there is no such action.
func (v *Vocabulary) Shape(name string) (*loyalty.Shape, bool) {
	a, ok := v.known(name)
	return a.meaning, ok
}

// Told is Shape for a reader of an action's events: events of purchase lines also have the declared attributes of lines
// and of the purchases that they inherit from.
func (v *Vocabulary) Told(name string) (*loyalty.Shape, bool) {
	a, ok := v.known(name)
	if !ok || a.itemOf == "" {
		return a.meaning, ok
	}

	purchase, ok := v.submittable(a.itemOf)
	if !ok {
		return a.meaning, true
	}

	told := &loyalty.Shape{Module: a.meaning.Module, Attributes: maps.Clone(purchase.meaning.Attributes)}
	if lines := told.Attributes[itemsProperty].Items; lines != nil {
		maps.Copy(told.Attributes, lines.Attributes)
	}

	delete(told.Attributes, itemsProperty)
	return told, true
}

// Deprecated returns the instant from which an action of the document is deprecated; false if it is not.
func (v *Vocabulary) Deprecated(name string) (time.Time, bool) {
	a, ok := v.actions[name]
	if !ok || !a.envelope.source.Deprecated {
		return time.Time{}, false
	}
	since, err := time.Parse(time.DateOnly, extension(a.envelope.source, "x-deprecated-since"))
	return since, err == nil
}

// Check validates one event's data by its action's schema and returns it in canonical form. at is the place of the data
// in the request, such as data. It fails with an error of kind Invalid whose details name the fields.
func (v *Vocabulary) Check(name string, data json.RawMessage, at string) (json.RawMessage, error) {
	a, ok := v.known(name)
	if !ok {
		return nil, loyalty.ErrUnknownAction.With("action", name).At("action")
	}
	return a.data.CheckJSON(data, at)
}

// Read checks a whole event, including its data, and returns it as the engine takes it. at prefixes the fields of its
// errors, such as events[3]. It fails with an error of kind Invalid.
func (v *Vocabulary) Read(tree any, at string) (loyalty.Submission, error) {
	tree, err := v.event.Check(tree, at)
	if err != nil {
		return loyalty.Submission{}, err
	}
	return v.Submission(tree, dataRoom), nil
}

// dataRoom is the size of the data of most events, in bytes.
const dataRoom = 512

// Submission returns a checked event as the engine takes it. Checked tells whether its data was checked too, which is
// false for an action that cannot be submitted. size is the event's size as sent, in bytes: its data is at most about
// as long.
func (v *Vocabulary) Submission(tree any, size int) loyalty.Submission {
	m, _ := tree.(map[string]any)
	text := func(name string) string { s, _ := m[name].(string); return s }
	guest, _ := m["guest"].(bool)
	return loyalty.Submission{
		Customer: text("customer"), ExternalID: text("external_id"), Action: text("action"), Guest: guest,
		Data: AppendJSON(make([]byte, 0, min(size, dataRoom)), m["data"]), Checked: v.branch(text("action")) != nil,
	}
}

// Update reads a body as changes by an action's data: the sent properties, checked by the action's schema, and for
// properties to be removed (null, or empty in a form) the value that clears them. It fails, with kind Invalid, for a
// property that the action does not have or that is in not.
func (v *Vocabulary) Update(name string, body any, not ...string) (sent, cleared map[string]any, err error) {
	known, _ := v.submittable(name)
	left, gone := known.data.withoutCleared(body)
	sent, _ = left.(map[string]any)
	for _, property := range slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(sent)), gone...))) {
		declared := known.data.byName[property] != nil && !slices.Contains(not, property)
		if !declared && !IsCustom(property) {
			return nil, nil, loyalty.ErrPropertyUnknown.With("property", property).At(property)
		}
	}

	if _, err := known.data.Check(sent, ""); err != nil {
		return nil, nil, err
	}

	cleared = make(map[string]any, len(gone))
	for _, property := range gone {
		cleared[property] = v.actions[name].data.byName[property].cleared()
	}

	return sent, cleared, nil
}

// cleared is the value that clears a property in an event: empty text, no entries, or null for a custom attribute,
// which the document does not have.
func (s *Schema) cleared() any {
	switch {
	case s == nil || s.kind == object:
		return nil
	case s.kind == list:
		return []any{}
	}
	return ""
}
