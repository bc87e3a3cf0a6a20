package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Standing says which customers an action is for.
type Standing uint8

// The standings. Whether a change of state is legal is told by the table of
// states instead; such actions have the standing Anyone.
const (
	Anyone  Standing = iota // inactive, active, suspended
	Earner                  // active, suspended: earning works while suspended
	Spender                 // active only
)

// Action is one submittable action: its declaration and its decision. D is the
// payload type that the contract generates.
type Action[D any] struct {
	Name     string // the contract's discriminator
	Standing Standing
	// Settles says that the action decides on a pending purchase: one that was made
	// before its module was switched off can still be decided on.
	Settles bool
	// Creates says that the action may be sent for an unknown customer;
	// nil: never.
	Creates func(D) bool
	// Needs declares what the decision reads; nil: the customer alone.
	Needs func(D, *loyalty.CustomerNeeds)
	// Check decides what the data alone can tell; nil: the schema says it all.
	Check func(D) error
	// Apply decides what the customer's state tells and records effects on the
	// run. It may be called again after a conflict and touches nothing else.
	Apply func(*Run, D) error
}

// Rule is an Action with its payload type erased.
type Rule interface {
	Meta() Meta
	bind(data json.RawMessage) (bound, error)
}

// Meta is what an action declares.
type Meta struct {
	Name     string
	Standing Standing
	Settles  bool
}

// bound is an action with its payload.
type bound struct {
	needs   loyalty.CustomerNeeds
	creates bool
	apply   func(*Run) error
}

// Meta gives the declaration.
func (a Action[D]) Meta() Meta { return Meta{a.Name, a.Standing, a.Settles} }

func (a Action[D]) bind(data json.RawMessage) (bound, error) {
	var d D
	if err := json.Unmarshal(data, &d); err != nil {
		// The schema was checked before, so what is left are values that the
		// schema's number format cannot express, such as too many decimals.
		return bound{}, loyalty.DecodeError(err)
	}
	if a.Check != nil {
		if err := a.Check(d); err != nil {
			return bound{}, err
		}
	}
	b := bound{apply: func(r *Run) error { return a.Apply(r, d) }}
	if a.Creates != nil {
		b.creates = a.Creates(d)
	}
	if a.Needs != nil {
		a.Needs(d, &b.needs)
	}
	return b, nil
}

// customRule is the rule of an action that the programme declares: it is recorded, and
// rules react to it. It fails with
// ErrUnknownAction, or with ErrActionOff while custom_events is off.
func customRule(p *programme.Programme, action string) (Rule, error) {
	switch a := p.Actions[action]; {
	case a == nil:
		return nil, loyalty.ErrUnknownAction.With("action", action).At("action")
	case !p.On[programme.ModuleCustomEvents]:
		return nil, loyalty.ErrActionOff.With("module", programme.ModuleCustomEvents).With("action", action).At("action")
	}
	return Action[struct{}]{Name: action, Standing: Earner, Apply: func(*Run, struct{}) error { return nil }}, nil
}

// Ticket is a submission on its way: decoded and checked, outside any
// transaction, by the goroutine that brought it.
type Ticket struct {
	sub         loyalty.Submission
	programme   *programme.Programme
	version     int64 // of the programme that decides, or decided
	rule        Rule  // nil: settle what is due, nothing else
	bound       bound
	needs       loyalty.CustomerNeeds
	more        []loyalty.CustomerNeeds // what the rules came upon while they ran
	asked       int                     // so often
	data        map[string]json.RawMessage
	stored      stored    // data as it is kept
	at          time.Time // effective; zero: when it is recorded
	transaction string    // the transaction_id in the data, if any
	preview     bool
	movable     bool             // to the worker of heavy submissions, where it is found to be large
	large       bool             // what it touches is (see findLarge)
	seed        [32]byte         // of random codes, the same in every attempt; zero until one is drawn
	err         error            // refused before the transaction
	off         error            // its module is off: refused where nothing is pending from before
	item        loyalty.BulkKey  // of a bulk operation, that ends with it; zero: none
	task        func(*Run) error // what it does instead of an event; nil: nothing

	caller any // who waits for it, where that is followed
	result loyalty.Result
	done   chan struct{}
}

// settlement is a ticket that applies what is due.
func (e *Engine) settlement(customer loyalty.ID) *Ticket {
	return &Ticket{programme: e.programmes.Programme(), needs: loyalty.CustomerNeeds{ID: customer, Key: true, Lots: loyalty.OpenLots}}
}

// Task is a ticket that does something to a customer instead of an event.
func (e *Engine) Task(do func(*Run) error) *Ticket {
	return &Ticket{programme: e.programmes.Programme(), task: do}
}

// Prepare decodes a submission and passes it through the gates that need no
// customer. Its errors wait in the ticket: a stored answer comes first.
func (e *Engine) Prepare(s loyalty.Submission) *Ticket {
	t := &Ticket{sub: s, programme: e.programmes.Programme()}
	t.version = t.programme.Version
	if s.Refusal != nil {
		t.err, t.version = s.Refusal.Err, s.Refusal.Version
		return t
	}
	t.err = loyalty.PrefixFields(t.check(e), s.At)
	t.needs = t.bound.needs
	t.needs.Ref = loyalty.Name{Kind: loyalty.NameCustomer, Value: s.Customer}
	if s.ExternalID != "" {
		t.needs.Ref = loyalty.ExternalName(s.ExternalID, s.Customer)
	}
	for _, f := range e.features {
		if f.Needs != nil {
			f.Needs(t.programme, s.Action, &t.needs)
		}
	}
	t.bound.creates = t.bound.creates || s.Guest
	if t.programme.Holds(s.Action) {
		t.needs.Progress |= loyalty.Kinds(loyalty.ProgressHeld)
	}
	t.needs.Key = t.needs.Key || t.stored.personal != nil || s.Idempotency != nil
	return t
}

// check does all that needs neither the database nor other submissions, on the goroutine
// of the caller: what is refused here never takes a worker's time.
func (t *Ticket) check(e *Engine) error {
	s := &t.sub
	if operation, internal := programme.InternalOperations[s.Action]; internal && !s.Operation {
		return loyalty.ErrInternalAction.With("action", s.Action).With("operation", operation).At("action")
	}
	rule, known := e.rules[s.Action]
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
		checked, err := e.contract.Check(s.Action, s.Data, "data")
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
	shape, known := e.contract.Shape(s.Action)
	if !known { // the programme declared it a moment ago, or does not any more
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
	return t.bind(e.Now())
}

// bind reads the attributes every action may have, and decodes its own.
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
	for name, attribute := range shape.Attributes {
		raw, sent := t.data[name]
		if !sent || attribute.Module == m { // the action's own module was asked
			continue
		}
		if attribute.Module != "" && !on[attribute.Module] {
			return moduleOff(attribute.Module, name, "data."+name)
		}
		if attribute.Items != nil {
			if err := gateItems(attribute.Items, raw, name, on); err != nil {
				return err
			}
		}
	}
	return nil
}

// gateItems does so for the elements of a list. Where no property of theirs hangs on a
// module they are not even parsed.
func gateItems(shape *loyalty.Shape, raw json.RawMessage, name string, on map[string]bool) error {
	gated := false
	for _, a := range shape.Attributes {
		gated = gated || (a.Module != "" && !on[a.Module])
	}
	if !gated {
		return nil
	}
	items, err := loyalty.Elements(raw)
	if err != nil {
		return loyalty.DecodeError(err)
	}
	for i, item := range items {
		for property := range item {
			if m := shape.Attributes[property].Module; m != "" && !on[m] {
				return moduleOff(m, property, loyalty.ItemField(name, i, property))
			}
		}
	}
	return nil
}

// moduleOff refuses an attribute: taken silently, it would have no effect that its sender
// could see.
func moduleOff(module, property, at string) error {
	return loyalty.ErrModuleOff.With("module", module).With("property", property).At(at)
}

// needs sums what a batch must load.
func needs(tickets []*Ticket, now time.Time) loyalty.Needs {
	n := loyalty.Needs{Now: now, Customers: make([]loyalty.CustomerNeeds, 0, len(tickets))}
	var whole loyalty.AnswerKey
	for _, t := range tickets {
		n.Customers = append(append(n.Customers, t.needs), t.more...)
		n.Version = n.Version || slices.ContainsFunc(t.more, func(c loyalty.CustomerNeeds) bool { return c.Version })
		if i := t.sub.Idempotency; i != nil && !t.preview {
			n.Answers = append(n.Answers, i.AnswerKey)
			if i.Place > 0 && i.WholeKey() != whole { // the events of a bulk stand together
				whole = i.WholeKey()
				n.Answers = append(n.Answers, whole)
			}
		}
		if t.item != (loyalty.BulkKey{}) {
			n.Items = append(n.Items, t.item)
		}
	}
	return n
}
