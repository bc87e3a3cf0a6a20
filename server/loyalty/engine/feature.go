package engine

import (
	"encoding/json"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Feature is one part of the rules as the engine sees it: what events need because of
// it, what it reacts to, and what becomes of where customers stand with it. Every
// function may be nil. The features run in the order of their table.
type Feature struct {
	Name string
	// Progress is the kind of progress that customers make with it; 0: none. Due, Join
	// and Receive are about that kind.
	Progress loyalty.ProgressKind

	// Needs adds to the needs of an action what the feature reads when it reacts, so that
	// nothing need be loaded again.
	Needs func(p *programme.Programme, action string, n *loyalty.CustomerNeeds)
	// React looks at one occurrence, After at a customer once all occurrences of a round
	// were looked at.
	React func(*Occurrence) error
	After func(*Run) error
	// Counts says that it draws its conclusions from what a customer has, and gives
	// nothing for how they came to it: it alone looks at what is imported.
	Counts bool

	// Due applies a progress whose date has come.
	Due func(*Run, *loyalty.Progress) error
	// Join makes one progress of two of a kind, when two accounts become one; key names
	// the thing that both made progress with. Nil: the target's own stays.
	Join Join
	// Receive is a document as the target of a merge may have it; nil: as it is.
	Receive func(r, source *Run, key loyalty.ProgressKey, data json.RawMessage) (json.RawMessage, error)

	// Rejected gives back what a pending purchase used, when it is rejected.
	Rejected func(r *Run, e *loyalty.Event, t *loyalty.Transaction) error
	// Claimed moves what a guest's pending purchase used to the customer who claims it;
	// gone is the guest's event.
	Claimed func(r, guest *Run, gone *loyalty.Event, t *loyalty.Transaction) error
	// Decide accepts or rejects a pending purchase whose date has come.
	Decide func(*Run, *loyalty.Transaction) error
	// Hold records an event without its effect, and Held says whether a purchase is one
	// that was held so.
	Hold func(*Run, Submitted) error
	Held func(r *Run, transaction string) (bool, error)
}

// Submitted is the event at hand as it came.
type Submitted struct {
	Transaction string          // the transaction_id in its attributes
	Data        json.RawMessage // its attributes
	Personal    bool            // some of them name a person
	Apply       func(*Run) error
}

// Join makes one progress of two documents of a kind: the one that this customer has,
// and the one of the customer who becomes part of them.
type Join func(r *Run, key string, mine, theirs json.RawMessage) (any, error)

// JoinBy reads both documents and adds the second to the first.
func JoinBy[D any](add func(*D, D)) Join {
	return func(_ *Run, _ string, mine, theirs json.RawMessage) (any, error) {
		var a, b D
		if err := json.Unmarshal(mine, &a); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(theirs, &b); err != nil {
			return nil, err
		}
		add(&a, b)
		return a, nil
	}
}

// feature finds the feature of a kind of progress; the zero Feature where no feature
// has it.
func (e *Engine) feature(kind loyalty.ProgressKind) Feature {
	for _, f := range e.features {
		if f.Progress == kind {
			return f
		}
	}
	return Feature{}
}

// each calls what features do at one point of the way, in their order.
func (r *Run) each(call func(Feature) error) error {
	for _, f := range r.batch.engine.features {
		if err := call(f); err != nil {
			return err
		}
	}
	return nil
}

// Reject gives back what a pending purchase used, feature by feature.
func (r *Run) Rejected(e *loyalty.Event, t *loyalty.Transaction) error {
	return r.each(func(f Feature) error {
		if f.Rejected == nil {
			return nil
		}
		return f.Rejected(r, e, t)
	})
}

// Claimed moves what a guest's pending purchase used to this customer, feature by
// feature.
func (r *Run) Claimed(guest *Run, gone *loyalty.Event, t *loyalty.Transaction) error {
	return r.each(func(f Feature) error {
		if f.Claimed == nil {
			return nil
		}
		return f.Claimed(r, guest, gone, t)
	})
}

// decide applies the date of a pending purchase.
func (r *Run) decide(t *loyalty.Transaction) error {
	return r.each(func(f Feature) error {
		if f.Decide == nil {
			return nil
		}
		return f.Decide(r, t)
	})
}

// hold has a feature put the event off.
func (r *Run) hold(s Submitted) error {
	return r.each(func(f Feature) error {
		if f.Hold == nil {
			return nil
		}
		return f.Hold(r, s)
	})
}

// held says whether a purchase waits as a held event.
func (r *Run) held(transaction string) (held bool, err error) {
	err = r.each(func(f Feature) error {
		if f.Held == nil || held {
			return nil
		}
		held, err = f.Held(r, transaction)
		return err
	})
	return held, err
}

// Occurrence is something that rules react to: an event, an accepted purchase,
// or one line of it.
type Occurrence struct {
	*Run            // of the customer it happened to
	Action   string // what triggers: checkout for a purchase once it is final
	Trigger  *loyalty.Event
	Accepted *loyalty.Transaction // nil: none
	Line     *loyalty.Line        // nil: the occurrence is not about a line

	known *condition.Facts // what conditions see of it; nil: none asked yet
	asOf  int              // so many events were recorded when the customer was last looked at; -1: not yet
}

// NewOccurrence is something that happened in a run, of which conditions have not asked yet.
func NewOccurrence(r *Run, action string, e *loyalty.Event, t *loyalty.Transaction, l *loyalty.Line) *Occurrence {
	return &Occurrence{Run: r, Action: action, Trigger: e, Accepted: t, Line: l, asOf: -1}
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

// news takes the events that nothing has reacted to yet.
func (w *work) news() []*loyalty.Event {
	events := slices.Concat(w.waiting, w.events[w.reacted:])
	w.waiting, w.reacted = nil, len(w.events)
	return events
}

// round runs every family of rules once.
func (w *work) round(happened []*Occurrence, events []*loyalty.Event) error {
	for _, family := range w.runs[0].batch.engine.features {
		if w.imported && !family.Counts {
			continue
		}
		for _, o := range happened {
			if family.React == nil {
				break
			}
			if err := family.React(o); err != nil {
				return err
			}
		}
		for _, run := range w.runs {
			if family.After == nil || !slices.ContainsFunc(events, func(e *loyalty.Event) bool { return e.Customer == run.Customer.ID }) {
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
			return nil // told by its purchase
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

// run finds the run of a customer.
func (w *work) run(id loyalty.ID) *Run {
	if i := slices.IndexFunc(w.runs, func(r *Run) bool { return r.Customer.ID == id }); i >= 0 {
		return w.runs[i]
	}
	return nil
}
