package loyalty

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Event is one row of the journal. It is written once and never changed.
type Event struct {
	ID          ID
	Parent      ID // the event it derives from; zero: submitted
	Customer    ID
	Action      string
	Transaction string    // the transaction_id it belongs to, if any
	Points      *int64    // as shown; nil: none
	ExpDate     time.Time // expiry of the lot it opened; zero: none
	At          time.Time // when it took effect
	RecordedAt  time.Time // when it was recorded
	// SentBy is the access key of its request, or what stands in a key's place (ActorOf). It is empty for what the
	// platform did by itself. Events that follow from a submitted event in the same decision have
	// its sender; due effects that are applied with it have none.
	SentBy   string
	Data     json.RawMessage // attributes, without the personal ones
	Personal []byte          // personal attributes, sealed under the customer's key
	Effects  *Effects        // effects besides the postings, for a rebuild

	// Change is its effect on the spendable balance: the sum of its postings. It is not stored with the event, because
	// the ledger has it.
	Change int64

	Accepted *Transaction // the purchase that this event made final
	Held     bool         // it waits for its validation: nothing reacts to it
	As       string       // the action of the held event that this one applies
}

// Sent reports whether the event was submitted as an action, or applies a held event that was; its attributes are then
// available as they were sent.
func (e *Event) Sent(action string) bool {
	if e.As != "" {
		return action == e.As && e.Accepted == nil
	}
	return action == e.Action
}

// Effects are the recorded effects of an event besides its postings: with them every state can be folded from the
// journal without running a rule again. If an event changed a row, the effect is the row. Its JSON tags decide what the
// journal has of it; stored effects are never changed (see the golden journal in package job).
type Effects struct {
	Status      Status             `json:"status,omitempty"`
	Transaction *TransactionEffect `json:"transaction,omitempty"`
	// Purchases are further purchases that the event changed and that its row does not name.
	Purchases []TransactionEffect `json:"purchases,omitempty"`
	Lot       *LotEffect          `json:"lot,omitempty"`
	Referrer  *ID                 `json:"referrer,omitempty"`
	Coupons   []Coupon            `json:"coupons,omitempty"`
	Progress  []Progress          `json:"progress,omitempty"`
	Claims    []RewardClaim       `json:"claims,omitempty"`
	Tallies   []Tally             `json:"tallies,omitempty"`   // what the event added
	Campaigns []CampaignEffect    `json:"campaigns,omitempty"` // what they gave for the event, or a refund took back
	// MergedFrom is the customer merged into this one. Their lots and figures are in the event's postings, under both
	// customers. Everything that they held, their progress, and all customers merged into them belong to this customer
	// from then on.
	MergedFrom *ID `json:"merged_from,omitempty"`
	// Bequest is what the lines written under this event inherit, if its own row does not show it: for every event but
	// their checkout. Item events without it have a copy of their own.
	Bequest *Bequest `json:"bequest,omitempty"`
	// Holder is the customer who has the purchase after the event, if it changed hands.
	Holder *ID `json:"holder,omitempty"`
	// Booked is when an event was recorded that its sender dated earlier (effective_timestamp): a window that was
	// closed by then does not count it.
	Booked *time.Time `json:"booked,omitempty"`
}

// TransactionEffect is a purchase after an event: the parts that events change, and what is needed for the rest.
type TransactionEffect struct {
	Name string `json:"name,omitempty"` // set if the event's row does not name it
	PurchaseState
	// Claimed says that the purchase came from a guest. The effect of another event, without a state, removes it from
	// the guest.
	Claimed        bool `json:"claimed,omitempty"`
	PurchaseOrigin      // the original total is Total + Refunded
	PurchaseUses
	Items int `json:"items,omitempty"` // number of lines
	// Lines are those that the rows of the items do not show completely.
	Lines []LineEffect `json:"lines,omitempty"`
	// Opened is its checkout, if that is another customer's.
	Opened *PurchaseOpening `json:"opened,omitempty"`
}

// LineEffect is one line of a purchase, by the event that is its own.
type LineEffect struct {
	Event ID `json:"event"`
	LineFigures
}

// LotEffect is what the row of an event does not show of the lot that it opens.
type LotEffect struct {
	Idle points.Period `json:"idle,omitzero"` // it expires by inactivity
	// EarnedAt is set if it differs from the event's own instant.
	EarnedAt *time.Time `json:"earned_at,omitempty"`
	// Purchase is the purchase that earned it, if the event names another one.
	Purchase *string `json:"purchase,omitempty"`
	// Origin is set if an earlier event gave the lot.
	Origin points.Origin `json:"origin,omitempty"`
}

// MergeAttributes merges attributes that were sent later into the old ones: attributes that are sent again are
// replaced, the others stay.
func MergeAttributes(old, sent map[string]json.RawMessage) map[string]json.RawMessage {
	merged := make(map[string]json.RawMessage, len(old)+len(sent))
	maps.Copy(merged, old)
	maps.Copy(merged, sent)
	return merged
}

// ItemActions are the actions of the rows of a purchase's lines.
var ItemActions = map[string]bool{"checkout_item": true, "checkout_update_item": true, "checkout_accept_item": true}

// OpensLot records what the event's row does not show of the lot that it opens.
func (e *Event) OpensLot(lot points.Lot) {
	told := LotEffect{Idle: lot.Idle}
	if lot.Transaction != e.Transaction {
		told.Purchase = new(lot.Transaction)
	}
	if !lot.EarnedAt.Equal(e.At) {
		told.EarnedAt = new(lot.EarnedAt)
	}
	if told != (LotEffect{}) { // most lots need no such effect
		e.Tell().Lot = new(told)
	}
}

// KeepsOrigin records that the lot which an event opens was given before, and its origin, which the event itself does
// not show.
func (e *Event) KeepsOrigin(o points.Origin) {
	if o == points.Unknown {
		return
	}
	x := e.Tell()
	if x.Lot == nil {
		x.Lot = &LotEffect{}
	}
	x.Lot.Origin = o
}

// Tell returns the effects of the event, and makes them on first use: most rows have none, and store none.
func (e *Event) Tell() *Effects {
	if e.Effects == nil {
		e.Effects = &Effects{}
	}
	return e.Effects
}

// Shown sets the points that an event shows. Its effect on the balance follows from its postings (Event.Change).
func (e *Event) Shown(n int64) { e.Points = &n }

// Bequest are the attributes of a purchase that the lines written under one event inherit. They are stored once for all
// of those lines: with a copy for each, one long text and a few thousand lines would make gigabytes.
type Bequest struct {
	Plain    map[string]json.RawMessage `json:"plain,omitempty"`
	Personal []byte                     `json:"personal,omitempty"` // sealed, bound to the event's id
}

// Inherits reports whether the event belongs to a line, so that its attributes are shown together with those of its
// parent.
func (e *Event) Inherits() bool { return ItemActions[e.Action] && e.Parent != (ID{}) }

// bequest opens the attributes that the lines written under an event inherit, the personal ones as long as there is a
// key.
func (e *Event) bequest(key []byte) (all map[string]json.RawMessage, err error) {
	sealed := e.Personal
	switch {
	case e.Effects != nil && e.Effects.Bequest != nil:
		all, sealed = maps.Clone(e.Effects.Bequest.Plain), e.Effects.Bequest.Personal
	case e.Action != "checkout": // each line has a copy of its own
		return nil, nil
	default:
		if all, err = Members(e.Data); err != nil {
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

// inherited returns the attributes that an event of a page inherits; each parent is opened once.
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
