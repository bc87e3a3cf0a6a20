package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// settlement makes a ticket that applies what is due.
func (e *Engine) settlement(customer loyalty.ID) *Ticket {
	return &Ticket{programme: e.programmes.Programme(),
		needs: loyalty.CustomerNeeds{ID: customer, Key: true, Lots: loyalty.OpenLots}}
}

// Task makes a ticket that runs a function on a customer instead of an event.
func (e *Engine) Task(do func(*Run) error) *Ticket {
	return &Ticket{programme: e.programmes.Programme(), task: do}
}

// Prepare decodes a submission and passes it through the gates that depend on no customer. Its errors are kept in the
// ticket, because a stored answer takes precedence over them. Blanks around the customer's identifiers are removed,
// whatever their source.
func (e *Engine) Prepare(s loyalty.Submission) *Ticket {
	s.Customer, s.ExternalID = strings.TrimSpace(s.Customer), strings.TrimSpace(s.ExternalID)
	t := &Ticket{sub: s, programme: e.programmes.Programme(), seed: s.Chance}
	t.version = t.programme.Version
	if s.Refusal != nil {
		t.err, t.version = s.Refusal.Err, s.Refusal.Version
		return t
	}

	t.err = loyalty.PrefixFields(t.check(&e.rulebook), s.At)
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

// needs adds up what a batch must load.
func needs(tickets []*Ticket, now time.Time) loyalty.Needs {
	n := loyalty.Needs{Now: now, Customers: make([]loyalty.CustomerNeeds, 0, len(tickets))}
	var whole loyalty.AnswerKey
	for _, t := range tickets {
		n.Customers = append(append(n.Customers, t.needs), t.more...)
		n.Version = n.Version || slices.ContainsFunc(t.more, func(c loyalty.CustomerNeeds) bool { return c.Version })
		if i := t.sub.Idempotency; i != nil && !t.preview {
			n.Answers = append(n.Answers, i.AnswerKey)
			if i.Place > 0 && i.WholeKey() != whole { // the events of a bulk are in sequence
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
