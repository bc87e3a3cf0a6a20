package engine

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
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

// eachFeature calls what features do at one point of the way, in their order.
func eachFeature(r *Run, call func(Feature) error) error {
	for _, f := range r.batch.rules.features {
		if err := call(f); err != nil {
			return err
		}
	}
	return nil
}

// Rejected gives back what a pending purchase used, feature by feature.
func Rejected(r *Run, e *loyalty.Event, t *loyalty.Transaction) error {
	return eachFeature(r, func(f Feature) error {
		if f.Rejected == nil {
			return nil
		}
		return f.Rejected(r, e, t)
	})
}

// Claimed moves what a guest's pending purchase used to this customer, feature by
// feature.
func Claimed(r *Run, guest *Run, gone *loyalty.Event, t *loyalty.Transaction) error {
	return eachFeature(r, func(f Feature) error {
		if f.Claimed == nil {
			return nil
		}
		return f.Claimed(r, guest, gone, t)
	})
}

// decidePending applies the date of a pending purchase.
func decidePending(r *Run, t *loyalty.Transaction) error {
	return eachFeature(r, func(f Feature) error {
		if f.Decide == nil {
			return nil
		}
		return f.Decide(r, t)
	})
}

// putOff has a feature put the event off.
func putOff(r *Run, s Submitted) error {
	return eachFeature(r, func(f Feature) error {
		if f.Hold == nil {
			return nil
		}
		return f.Hold(r, s)
	})
}

// isPutOff says whether a purchase waits as a held event.
func isPutOff(r *Run, transaction string) (held bool, err error) {
	err = eachFeature(r, func(f Feature) error {
		if f.Held == nil || held {
			return nil
		}
		held, err = f.Held(r, transaction)
		return err
	})
	return held, err
}
