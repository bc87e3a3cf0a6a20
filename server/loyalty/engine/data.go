package engine

import (
	"encoding/json"
	"maps"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Parts returns the submitted attributes as they are stored, those of line items separately; items is nil if none were
// sent.
func (r *Run) Parts() (own Parts, items []Parts) { return r.stored.own, r.stored.lists["items"] }

// Attributes returns the attributes that the contract declares for an action, by name.
func (r *Run) Attributes(action string) map[string]loyalty.Attribute {
	shape, ok := r.batch.rules.contract.Shape(action)
	if !ok {
		return nil
	}
	return shape.Attributes
}

// Undeclared returns the attributes that the contract does not declare, including those that the programme declares.
func (r *Run) Undeclared() map[string]json.RawMessage {
	declared := r.Attributes(r.Event.Action)
	own := maps.Clone(r.Data)
	maps.DeleteFunc(own, func(name string, _ json.RawMessage) bool {
		_, ok := declared[name]
		return ok && !r.Programme.Adds(r.Event.Action, name)
	})
	return own
}

// Record replaces the attributes on the row of the run's own event, for example by the result of a
// spin. Conditions see the new ones. None of them may name a person, because they are stored
// unsealed.
func (r *Run) Record(data any) {
	r.Event.Data = loyalty.JSON(data)
	var sent map[string]json.RawMessage
	if json.Unmarshal(r.Event.Data, &sent) == nil {
		r.Data = sent // a new map, because every attempt shares the submitted one
	}
}

// FillIn adds an attribute that the caller left out, or wrote in another form, to the submitted event, so
// that the journal and the rules know what the event was about.
func (r *Run) FillIn(attribute string, value any) error {
	filled := *r.stored // every attempt shares it, as it shares the data
	filled.own.Plain = maps.Clone(filled.own.Plain)
	if filled.own.Plain == nil {
		filled.own.Plain = map[string]json.RawMessage{}
	}

	filled.own.Plain[attribute] = loyalty.JSON(value)
	r.stored = &filled

	r.Data = maps.Clone(r.Data)
	if r.Data == nil {
		r.Data = map[string]json.RawMessage{}
	}

	r.Data[attribute] = loyalty.JSON(value)

	if r.Event.As != "" {
		return nil // the row of another action, which applies a held event
	}

	data := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.Event.Data, &data); err != nil {
		return err
	}

	data[attribute] = loyalty.JSON(value)
	r.Event.Data = loyalty.JSON(data)
	return nil
}

// CheckData checks attributes of an action against the contract, as if they were sent.
func (r *Run) CheckData(action string, data json.RawMessage) error {
	_, err := r.batch.rules.contract.Check(action, data, "data")
	return err
}
