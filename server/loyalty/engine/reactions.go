package engine

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Occurrence is something that rules react to: an event, an accepted purchase, or one line of it.
type Occurrence struct {
	*Run            // of the customer it happened to
	Action   string // what triggers; for a purchase, checkout once it is final
	Trigger  *loyalty.Event
	Accepted *loyalty.Transaction // nil: none
	Line     *loyalty.Line        // nil: the occurrence is not about a line

	known *condition.Facts // what conditions see of it; nil: not asked for yet
	asOf  int              // how many events were recorded when known was last brought up to date; -1: not yet
}

// NewOccurrence makes an occurrence of a run that no condition has looked at yet.
func NewOccurrence(r *Run, action string, e *loyalty.Event, t *loyalty.Transaction, l *loyalty.Line) *Occurrence {
	return &Occurrence{Run: r, Action: action, Trigger: e, Accepted: t, Line: l, asOf: -1}
}

// maxRounds limits how often the effects of reactions may themselves be reacted to.
const maxRounds = 8

// react lets the rules react to the events recorded since the last time, and then to the events
// that this produced, round by round. Rules that trigger each other without end are refused with
// ErrReactionsEndless.
func (w *work) react() error {
	w.bought = nil // the event may have changed them since
	for round := 0; ; round++ {
		events := w.news()
		switch {
		case len(events) == 0:
			return nil
		case round == maxRounds:
			return loyalty.ErrReactionsEndless.With("action", events[0].Action)
		}

		var happened []*Occurrence
		for _, e := range events {
			happened = append(happened, w.occurrences(e)...)
		}

		if err := w.round(happened, events); err != nil {
			return err
		}

		w.tellNow()
	}
}

// news takes the events that no rule has reacted to yet.
func (w *work) news() []*loyalty.Event {
	events := slices.Concat(w.waiting, w.events[w.reacted:])
	w.waiting, w.reacted = nil, len(w.events)
	return events
}

// round runs every feature once.
func (w *work) round(happened []*Occurrence, events []*loyalty.Event) error {
	w.around = events
	for _, family := range w.runs[0].batch.rules.features {
		if w.imported && !family.Counts {
			continue
		}

		for _, o := range happened {
			if family.React == nil {
				break
			}
			if err := o.inTime(family.React); err != nil {
				return err
			}
		}

		for _, run := range w.runs {
			if family.After == nil ||
				!slices.ContainsFunc(events, func(e *loyalty.Event) bool { return e.Customer == run.Customer.ID }) {
				continue
			}
			if err := family.After(run); err != nil {
				return err
			}
		}
	}

	return nil
}

// inTime runs a reaction at its run's instant, but never before its trigger. A late booking may bring a rise of tier
// that happens when it is found. If the points that a campaign gives for the rise were dated like the booking, they
// could have expired before they were given.
func (o *Occurrence) inTime(react func(*Occurrence) error) error {
	was := o.At
	if o.Trigger.At.After(was) {
		o.At = o.Trigger.At
	}
	defer func() { o.At = was }()
	return react(o)
}

// occurrences returns what an event is to the rules. A purchase counts once it is final: a checkout that waits for its
// acceptance is no occurrence yet.
func (w *work) occurrences(e *loyalty.Event) []*Occurrence {
	r := w.run(e.Customer)
	if r == nil || e.Held {
		return nil
	}

	action := e.Action
	if e.As != "" {
		action = e.As // a held event happens when it is validated
	}

	switch action {
	case "checkout", "checkout_accept":
		if e.Accepted == nil {
			return nil
		}
	case "checkout_item", "checkout_accept_item", "checkout_update_item", "reserve_points", "release_points":
		if e.Parent != (loyalty.ID{}) {
			return nil // its purchase triggers instead
		}
	}

	t := e.Accepted
	of := func(action string, l *loyalty.Line) *Occurrence {
		return NewOccurrence(r, action, e, t, l)
	}
	list := []*Occurrence{of(action, nil)}
	if t == nil {
		return list
	}
	if action != "checkout" {
		list = append(list, of("checkout", nil))
	}

	for i := range t.Detail.Items {
		list = append(list, of(programme.LineAction, &t.Detail.Items[i]))
	}

	return list
}
