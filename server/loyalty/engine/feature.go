package engine

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Feature is one part of the rules as the engine sees it: what it needs loaded, what it reacts to, and what happens to
// customers' progress with it. Every function may be nil. The features run in the order of their table.
type Feature struct {
	Name string
	// Progress is the kind of progress that customers make with the feature; 0 means none. Due, Join and Receive are
	// about that kind.
	Progress loyalty.ProgressKind

	// Needs adds to the needs of an action what the feature reads when it reacts, which saves loading again.
	Needs func(p *programme.Programme, action string, n *loyalty.CustomerNeeds)
	// React handles one occurrence; After handles a customer once React has seen all occurrences of
	// a round.
	React func(*Occurrence) error
	After func(*Run) error
	// Counts says that the feature derives its state from what a customer has, and gives no reward on the way. Only
	// such features see imported events, because those were rewarded elsewhere.
	Counts bool

	// Due applies a progress whose date has passed.
	Due func(*Run, *loyalty.Progress) error
	// Join makes one progress of two of a kind when two accounts are merged; key identifies what both made progress
	// with. Nil means that the target keeps its own.
	Join Join
	// Receive converts a document for the target of a merge; nil means that it is taken over
	// unchanged.
	Receive func(r, source *Run, key loyalty.ProgressKey, data json.RawMessage) (json.RawMessage, error)

	// Rejected gives back what a pending purchase used when it is rejected.
	Rejected func(r *Run, e *loyalty.Event, t *loyalty.Transaction) error
	// Undone takes back what a purchase brought and removes its uses from the counts, once the purchase is undone: by a
	// full refund, by partial refunds that returned all of it, or by a rejection.
	Undone func(r *Run, e *loyalty.Event, t *loyalty.Transaction) error
	// Ungive takes back what runs of campaigns gave for something that is undone.
	Ungive func(r *Run, e *loyalty.Event, runs []loyalty.CampaignRun) error
	// Claimed moves what a guest's purchase used to the customer who claims it; gone is the guest's event.
	Claimed func(r, guest *Run, gone *loyalty.Event, t *loyalty.Transaction) error
	// Decide accepts or rejects a pending purchase whose date has passed.
	Decide func(*Run, *loyalty.Transaction) error
	// Hold records an event without its effect, until it is validated; Held reports whether a
	// purchase is held that way.
	Hold func(*Run, Submitted) error
	Held func(r *Run, transaction string) (bool, error)
}

// Submitted is the event as it was sent.
type Submitted struct {
	Transaction string          // the transaction_id in its attributes
	Data        json.RawMessage // its attributes
	Personal    bool            // some of them name a person
	Apply       func(*Run) error
}

// Join makes one progress of two documents of a kind: this customer's, and that of the customer merged into it.
type Join func(r *Run, key string, mine, theirs json.RawMessage) (any, error)

// JoinBy makes a Join that reads both documents and adds the second to the first.
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

// eachFeature calls a hook of all features, in their order.
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

// Undone takes back what a purchase brought, feature by feature, and marks it as returned. Further refunds do not
// repeat it.
func Undone(r *Run, e *loyalty.Event, t *loyalty.Transaction) error {
	if t.Detail.Returned {
		return nil
	}
	t.Detail.Returned = true
	return eachFeature(r, func(f Feature) error {
		if f.Undone == nil {
			return nil
		}
		return f.Undone(r, e, t)
	})
}

// Ungive takes back what runs of campaigns gave, on the event that undoes the reason for it.
func Ungive(r *Run, e *loyalty.Event, runs []loyalty.CampaignRun) error {
	if len(runs) == 0 {
		return nil
	}
	return eachFeature(r, func(f Feature) error {
		if f.Ungive == nil {
			return nil
		}
		return f.Ungive(r, e, runs)
	})
}

// Claimed moves what a guest's purchase used to this customer, feature by
// feature.
func Claimed(r *Run, guest *Run, gone *loyalty.Event, t *loyalty.Transaction) error {
	return eachFeature(r, func(f Feature) error {
		if f.Claimed == nil {
			return nil
		}
		return f.Claimed(r, guest, gone, t)
	})
}

// decidePending accepts or rejects a pending purchase whose date has passed.
func decidePending(r *Run, t *loyalty.Transaction) error {
	return eachFeature(r, func(f Feature) error {
		if f.Decide == nil {
			return nil
		}
		return f.Decide(r, t)
	})
}

// putOff has a feature hold the event until it is validated.
func putOff(r *Run, s Submitted) error {
	return eachFeature(r, func(f Feature) error {
		if f.Hold == nil {
			return nil
		}
		return f.Hold(r, s)
	})
}

// isPutOff reports whether a purchase waits as a held event.
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
