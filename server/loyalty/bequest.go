package loyalty

import (
	"encoding/json"
	"maps"
)

// Bequest are the attributes of a purchase as the lines written under one event
// inherit them. They are kept once for all of those lines: a copy with each would
// make gigabytes of one long text and a few thousand lines.
type Bequest struct {
	Plain    map[string]json.RawMessage `json:"plain,omitempty"`
	Personal []byte                     `json:"personal,omitempty"` // sealed, bound to the event's id
}

// Inherits says whether the attributes of the event are only shown whole together
// with those of its parent: it is that of a line.
func (e *Event) Inherits() bool { return ItemActions[e.Action] && e.Parent != (ID{}) }

// bequest opens what an event left to the lines written under it, the personal
// attributes as long as there is a key.
func (e *Event) bequest(key []byte) (all map[string]json.RawMessage, err error) {
	sealed := e.Personal
	switch {
	case e.Effects != nil && e.Effects.Bequest != nil:
		all, sealed = maps.Clone(e.Effects.Bequest.Plain), e.Effects.Bequest.Personal
	case e.Action != "checkout": // it was written when each line had a copy of its own
		return nil, nil
	default:
		if err := json.Unmarshal(e.Data, &all); err != nil {
			return nil, err
		}
	}
	if sealed != nil && key != nil {
		personal, err := OpenAttributes(key, sealed, e.ID)
		if err != nil {
			return nil, err
		}
		all = MergeAttributes(all, personal)
	}
	delete(all, "items")
	return all, nil
}

// inherited gives what an event of a page inherits; each parent is opened once.
func (p *EventPage) inherited(e *Event) (map[string]json.RawMessage, error) {
	parent, known := p.Parents[e.Parent]
	if !known || !e.Inherits() {
		return nil, nil
	}
	if all, done := p.bequests[e.Parent]; done {
		return all, nil
	}
	all, err := parent.bequest(p.Keys[parent.Customer])
	if err != nil {
		return nil, err
	}
	if p.bequests == nil {
		p.bequests = map[ID]map[string]json.RawMessage{}
	}
	p.bequests[e.Parent] = all
	return all, nil
}
