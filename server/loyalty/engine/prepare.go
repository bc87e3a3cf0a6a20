package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
)

// settlement makes a ticket that applies what is due.
func (e *Engine) settlement(customer loyalty.ID) *Ticket {
	t := e.Task(nil)
	t.Needs = loyalty.CustomerNeeds{ID: customer, Key: true, Lots: loyalty.OpenLots}
	return t
}

// Task makes a ticket that runs a function on a customer instead of an event.
func (e *Engine) Task(do func(*Run) error) *Ticket {
	return newTicket(&Ticket{programme: e.programmes.Programme(), task: do})
}

// Prepare decodes a submission and passes it through the gates that depend on no customer. Its errors are kept in the
// ticket, because a stored answer takes precedence over them. Blanks around the customer's identifiers are removed,
// whatever their source.
func (e *Engine) Prepare(s loyalty.Submission) *Ticket {
	s.Customer, s.ExternalID = strings.TrimSpace(s.Customer), strings.TrimSpace(s.ExternalID)
	t := newTicket(&Ticket{sub: s, programme: e.programmes.Programme(), seed: s.Chance})
	t.version = t.programme.Version
	if s.Refusal != nil {
		t.err, t.version, t.Heavy = s.Refusal.Err, s.Refusal.Version, s.Heavy()
		return t
	}

	t.err = loyalty.PrefixFields(t.check(&e.rulebook), s.At)
	t.Heavy = t.sub.Heavy()
	t.Needs = t.bound.needs
	t.Needs.Ref = loyalty.Name{Kind: loyalty.NameCustomer, Value: s.Customer}
	if s.ExternalID != "" {
		t.Needs.Ref = loyalty.ExternalName(s.ExternalID, s.Customer)
	}

	for _, f := range e.features {
		if f.Needs != nil {
			f.Needs(t.programme, s.Action, &t.Needs)
		}
	}

	t.bound.creates = t.bound.creates || s.Guest
	if t.programme.Holds(s.Action) {
		t.Needs.Progress |= loyalty.Kinds(loyalty.ProgressHeld)
	}

	t.Needs.Key = t.Needs.Key || t.stored.personal != nil || s.Idempotency != nil
	return t
}

// needs adds up what a batch must load.
func needs(tickets []*traffic.Ticket, now time.Time) loyalty.Needs {
	n := loyalty.Needs{Now: now, Customers: make([]loyalty.CustomerNeeds, 0, len(tickets))}
	var whole loyalty.AnswerKey
	for _, passed := range tickets {
		t := ticketOf(passed)
		n.Reading = n.Reading || t.preview
		n.Customers = append(append(n.Customers, t.Needs), t.more...)
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
