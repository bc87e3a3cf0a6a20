package loyalty

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
)

// occurrence is something that rules react to: an event, an accepted purchase,
// or one line of it.
type occurrence struct {
	*Run               // of the customer it happened to
	action      string // what triggers: checkout for a purchase once it is final
	event       *Event
	transaction *Transaction // nil: none
	line        *Line        // nil: the occurrence is not about a line

	known *condition.Facts // what conditions see of it; nil: none asked yet
	asOf  int              // so many events were recorded when the customer was last looked at; -1: nobody looked
}

func newOccurrence(r *Run, action string, e *Event, t *Transaction, l *Line) *occurrence {
	return &occurrence{Run: r, action: action, event: e, transaction: t, line: l, asOf: -1}
}

// maxRounds is how often the effects of reactions may themselves be reacted to.
const maxRounds = 8

// react lets the rules react to the events recorded since the last time, and
// then to the events that this brought, round by round. Rules that trigger each
// other without end are refused with ErrReactionsEndless.
func (r *Run) react() error {
	w := r.work
	w.bought = nil // the event may have changed them since
	for round := 0; ; round++ {
		events := w.news()
		switch {
		case len(events) == 0:
			return nil
		case round == maxRounds:
			return ErrReactionsEndless.With("action", events[0].Action)
		}
		var happened []*occurrence
		for _, e := range events {
			happened = append(happened, w.occurrences(e)...)
		}
		if err := w.round(happened, events); err != nil {
			return err
		}
		w.tellNow()
	}
}

// news takes the events that nothing has reacted to yet.
func (w *work) news() []*Event {
	events := slices.Concat(w.waiting, w.events[w.reacted:])
	w.waiting, w.reacted = nil, len(w.events)
	return events
}

// round runs every family of rules once.
func (w *work) round(happened []*occurrence, events []*Event) error {
	for _, family := range w.runs[0].batch.engine.features {
		for _, o := range happened {
			if family.React == nil {
				break
			}
			if err := family.React(o); err != nil {
				return err
			}
		}
		for _, run := range w.runs {
			if family.After == nil || !slices.ContainsFunc(events, func(e *Event) bool { return e.Customer == run.Customer.ID }) {
				continue
			}
			if err := family.After(run); err != nil {
				return err
			}
		}
	}
	return nil
}

// occurrences gives what an event is to the rules. A purchase counts once it is
// final: a checkout that waits for its acceptance is nothing yet.
func (w *work) occurrences(e *Event) []*occurrence {
	r := w.run(e.Customer)
	if r == nil || e.held {
		return nil
	}
	action := e.Action
	if e.as != "" {
		action = e.as // a held event happens when it is validated
	}
	switch action {
	case "checkout", "checkout_accept":
		if e.accepted == nil {
			return nil
		}
	case "checkout_item", "checkout_accept_item", "checkout_update_item", "reserve_points", "release_points":
		if e.Parent != (ID{}) {
			return nil // told by its purchase
		}
	}
	t := e.accepted
	of := func(action string, l *Line) *occurrence {
		return newOccurrence(r, action, e, t, l)
	}
	list := []*occurrence{of(action, nil)}
	if t == nil {
		return list
	}
	if action != "checkout" {
		list = append(list, of("checkout", nil))
	}
	for i := range t.Detail.Items {
		list = append(list, of(lineAction, &t.Detail.Items[i]))
	}
	return list
}

// run finds the run of a customer.
func (w *work) run(id ID) *Run {
	if i := slices.IndexFunc(w.runs, func(r *Run) bool { return r.Customer.ID == id }); i >= 0 {
		return w.runs[i]
	}
	return nil
}
