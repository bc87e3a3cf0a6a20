package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Ticket is a submission on its way, decoded and checked outside any transaction by its caller's goroutine.
type Ticket struct {
	traffic.Ticket
	sub         loyalty.Submission
	programme   *programme.Programme
	version     int64 // of the programme that decides, or decided
	rule        Rule  // nil: settle what is due, nothing else
	bound       bound
	more        []loyalty.CustomerNeeds // needs that the rules found while they ran
	asked       int                     // how often more was loaded
	data        map[string]json.RawMessage
	stored      stored    // data as it is stored
	at          time.Time // effective; zero: when it is recorded
	transaction string    // the transaction_id in the data, if any
	preview     bool
	unseen      func(fact string) bool // what the caller of a preview may not see; nil: nothing
	seed        [32]byte               // of random draws, the same in every attempt; zero until something is drawn
	err         error                  // refused before the transaction
	off         error                  // its module is off: refused unless something is pending from before
	item        loyalty.BulkKey        // the bulk item that ends with it; zero: none
	itemDone    bool                   // that item was already done, see doneBefore
	task        func(*Run) error       // runs in place of an event; nil: none
}

// newTicket makes the ticket that traffic knows by its embedded part.
func newTicket(t *Ticket) *Ticket {
	t.Submission = t
	return t
}

// ticketOf is the reverse: the ticket that traffic passes on.
func ticketOf(t *traffic.Ticket) *Ticket { return t.Submission.(*Ticket) }

// carried lists what traffic knows of tickets.
func carried(tickets []*Ticket) []*traffic.Ticket {
	list := make([]*traffic.Ticket, len(tickets))
	for i, t := range tickets {
		list[i] = &t.Ticket
	}
	return list
}

// check does everything that needs neither the database nor other submissions, on the caller's goroutine, so that a
// request refused here never takes a worker's time.
func (t *Ticket) check(rules *rulebook) error {
	s := &t.sub
	if operation, internal := programme.InternalOperations[s.Action]; internal && !s.Operation {
		return loyalty.ErrInternalAction.With("action", s.Action).With("operation", operation).At("action")
	}

	rule, known := rules.rules[s.Action]
	if !known {
		var err error
		if rule, err = customRule(t.programme, s.Action); err != nil {
			return err
		}
	}

	if s.Guest && s.Action != "checkout" {
		return loyalty.ErrGuestAction.With("action", s.Action).At("guest")
	}
	if len(s.Data) == 0 {
		s.Data = emptyObject
	}

	if !s.Checked {
		checked, err := rules.contract.Check(s.Action, s.Data, "data")
		if err != nil {
			return err
		}
		s.Data = checked
	}

	var err error
	if t.data, err = loyalty.Members(s.Data); err != nil {
		return loyalty.DecodeError(err)
	}

	t.rule = rule
	shape, known := rules.contract.Shape(s.Action)
	if !known { // the programme declared it a moment ago, or has just removed it
		return loyalty.ErrUnknownAction.With("action", s.Action).At("action")
	}
	if err := t.gate(shape); err != nil {
		return err
	}
	if err := t.affordOwn(shape); err != nil {
		return err
	}

	stored, err := store(shape, s.Data, t.data)
	if err != nil {
		return err
	}

	t.stored = stored
	if err := t.affordLines(); err != nil {
		return err
	}

	return t.bind(rules.Now())
}

// bind reads the attributes that every action may have, and decodes the action's own.
func (t *Ticket) bind(now time.Time) (err error) {
	if raw, ok := t.data["effective_timestamp"]; ok {
		if t.at, err = loyalty.EffectiveTimestamp(raw, now); err != nil {
			return err
		}
	}
	if raw, ok := t.data["transaction_id"]; ok {
		if json.Unmarshal(raw, &t.transaction) != nil {
			return loyalty.InvalidAttribute("transaction_id", "type")
		}
	}
	t.bound, err = t.rule.bind(t.sub.Data)
	return err
}

// gate refuses an action or an attribute whose module is off, naming both.
func (t *Ticket) gate(shape *loyalty.Shape) error {
	on := t.programme.On
	m := shape.Module
	if m != "" && !on[m] {
		t.off = loyalty.ErrActionOff.With("module", m).With("action", t.sub.Action).At("action")
		if !t.rule.Meta().Settles {
			return t.off
		}
	}

	var off error
	var first string // of several, the first by name is reported, so that equal requests get equal answers
	for name, attribute := range shape.Attributes {
		raw, sent := t.data[name]
		if !sent || attribute.Module == m || off != nil && name > first { // the action's own module was checked above
			continue
		}
		err := gateAttribute(attribute, raw, name, on)
		if err != nil {
			off, first = err, name
		}
	}

	return off
}

func gateAttribute(attribute loyalty.Attribute, raw json.RawMessage, name string, on map[string]bool) error {
	if attribute.Module != "" && !on[attribute.Module] {
		return moduleOff(attribute.Module, name, "data."+name)
	}
	if attribute.Items != nil {
		return gateItems(attribute.Items, raw, name, on)
	}
	return nil
}

// gateItems is gate for the elements of a list. They are not even parsed if none of their properties depends on a
// module.
func gateItems(shape *loyalty.Shape, raw json.RawMessage, name string, on map[string]bool) error {
	var gated []string
	for property, a := range shape.Attributes {
		if a.Module != "" && !on[a.Module] {
			gated = append(gated, property)
		}
	}

	if gated == nil {
		return nil
	}

	slices.Sort(gated)
	items, err := loyalty.Elements(raw)
	if err != nil {
		return loyalty.DecodeError(err)
	}

	for i, item := range items {
		for _, property := range gated {
			if _, sent := item[property]; sent {
				return moduleOff(shape.Attributes[property].Module, property, loyalty.ItemField(name, i, property))
			}
		}
	}

	return nil
}

// moduleOff refuses an attribute whose module is off: if it were accepted, it would have no effect, and its sender
// could not tell.
func moduleOff(module, property, at string) error {
	return loyalty.ErrModuleOff.With("module", module).With("property", property).At(at)
}
