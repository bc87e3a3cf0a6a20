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
	Points      *int64    // what it is worth, as shown; nil: nothing
	ExpDate     time.Time // expiry of the lot it opened; zero: none
	At          time.Time // when it took effect
	RecordedAt  time.Time // when it was recorded
	// SentBy is the access key whose request it came of, or what stands in a key's place
	// (ActorOf); empty: the platform did it by itself, or it is from before this was kept. What
	// follows from a submitted event in the same decision has the event's; what was due
	// before it, and is applied with it, has none.
	SentBy   string
	Data     json.RawMessage // attributes, without the personal ones
	Personal []byte          // personal attributes, sealed under the customer's key
	Effects  *Effects        // what the postings do not tell, for a rebuild

	// Change is what it did to the spendable balance: the sum of its postings. It is
	// not kept with the event, because the ledger tells it.
	Change int64

	Accepted *Transaction // the purchase that this event made final
	Held     bool         // it waits for its validation: nothing reacts to it
	As       string       // the action of the held event that this one applies
}

// Sent reports whether the event was submitted as an action, or applies a held event
// that was: then its attributes are at hand as they came.
func (e *Event) Sent(action string) bool {
	if e.As != "" {
		return action == e.As && e.Accepted == nil
	}
	return action == e.Action
}

// Effects are the recorded effects of an event besides its postings: with them
// every state can be folded from the journal without rerunning a rule. Where an event
// changed a row, the effect is the row: its JSON tags say what the journal has of it,
// and what is stored is never changed (see the golden journal in the room job).
type Effects struct {
	Status      Status             `json:"status,omitempty"`
	Transaction *TransactionEffect `json:"transaction,omitempty"`
	// Purchases are further ones that the event changed, which its row does not name.
	Purchases []TransactionEffect `json:"purchases,omitempty"`
	Lot       *LotEffect          `json:"lot,omitempty"`
	Referrer  *ID                 `json:"referrer,omitempty"`
	Coupons   []Coupon            `json:"coupons,omitempty"`
	Progress  []Progress          `json:"progress,omitempty"`
	Claims    []RewardClaim       `json:"claims,omitempty"`
	Tallies   []Tally             `json:"tallies,omitempty"`   // what the event added
	Campaigns []CampaignEffect    `json:"campaigns,omitempty"` // what they gave for it, or a refund took back
	// MergedFrom is the customer whom a merge made part of this one: their lots and
	// figures are in the event's postings, under both customers; what they held
	// and their progress are this one's from then on, and so is everybody who had
	// been merged into them.
	MergedFrom *ID `json:"merged_from,omitempty"`
	// Bequest is what the lines written under this event inherit, where its own row
	// does not show it: under anything but their checkout. Item events that were
	// written before it was kept have a copy of their own.
	Bequest *Bequest `json:"bequest,omitempty"`
	// Holder is who has the purchase after the event, where it changed hands.
	Holder *ID `json:"holder,omitempty"`
	// Booked is when an event was recorded that its sender dated earlier
	// (effective_timestamp): a window that was closed by then does not count it.
	Booked *time.Time `json:"booked,omitempty"`
}

// TransactionEffect is a purchase after an event: those of its parts that events change,
// and what tells the rest.
type TransactionEffect struct {
	Name string `json:"name,omitempty"` // where the event's row does not name it
	PurchaseState
	// Claimed says that the purchase came from a guest, of whom another event tells
	// that it is theirs no more: an effect without a state.
	Claimed        bool `json:"claimed,omitempty"`
	PurchaseOrigin      // the original total is Total + Refunded
	PurchaseUses
	Items int `json:"items,omitempty"` // how many lines it has
	// Lines are those of which the rows of the items do not tell everything.
	Lines []LineEffect `json:"lines,omitempty"`
	// Opened tells of its checkout where that is another customer's.
	Opened *PurchaseOpening `json:"opened,omitempty"`
}

// LineEffect is one line of a purchase, by the event that is its own.
type LineEffect struct {
	Event ID `json:"event"`
	LineFigures
}

// LotEffect is what the row of an event does not tell of the lot it opens.
type LotEffect struct {
	Idle points.Period `json:"idle,omitzero"` // inactivity lets it expire
	// EarnedAt is set where it is not the event's own instant.
	EarnedAt *time.Time `json:"earned_at,omitempty"`
	// Purchase is the one that earned it, where that is not the one the event names.
	Purchase *string `json:"purchase,omitempty"`
	// Origin is set where the lot was given by an earlier event.
	Origin points.Origin `json:"origin,omitempty"`
}

// MergeAttributes returns what is known after more was sent: what is sent again replaces, what is
// not sent stays.
func MergeAttributes(old, sent map[string]json.RawMessage) map[string]json.RawMessage {
	merged := make(map[string]json.RawMessage, len(old)+len(sent))
	maps.Copy(merged, old)
	maps.Copy(merged, sent)
	return merged
}

// ItemActions write the rows of a purchase's lines.
var ItemActions = map[string]bool{"checkout_item": true, "checkout_update_item": true, "checkout_accept_item": true}

// OpensLot records of the lot that an event opens what its row does not tell.
func (e *Event) OpensLot(lot points.Lot) {
	told := LotEffect{Idle: lot.Idle}
	if lot.Transaction != e.Transaction {
		told.Purchase = new(lot.Transaction)
	}
	if !lot.EarnedAt.Equal(e.At) {
		told.EarnedAt = new(lot.EarnedAt)
	}
	if told != (LotEffect{}) { // most tell nothing, and cost nothing
		e.Tell().Lot = new(told)
	}
}

// KeepsOrigin records that the lot which an event opens was given before, for what the event
// itself does not say.
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

// Tell returns the effects of the event, made when there is something to say: most rows say
// nothing, and store none.
func (e *Event) Tell() *Effects {
	if e.Effects == nil {
		e.Effects = &Effects{}
	}
	return e.Effects
}

// Shown sets the points an event shows: what it is worth. What it did to the balance
// is told by its postings (Event.Change).
func (e *Event) Shown(n int64) { e.Points = &n }

// Bequest are the attributes of a purchase as the lines written under one event
// inherit them. They are kept once for all of those lines: a copy with each would
// make gigabytes of one long text and a few thousand lines.
type Bequest struct {
	Plain    map[string]json.RawMessage `json:"plain,omitempty"`
	Personal []byte                     `json:"personal,omitempty"` // sealed, bound to the event's id
}

// Inherits reports whether the attributes of the event are only shown whole together
// with those of its parent: it is that of a line.
func (e *Event) Inherits() bool { return ItemActions[e.Action] && e.Parent != (ID{}) }

// bequest opens what an event left to the lines written under it, the personal
// attributes as long as there is a key.
func (e *Event) bequest(key []byte) (all map[string]json.RawMessage, err error) {
	sealed := e.Personal
	switch {
	case e.Effects != nil && e.Effects.Bequest != nil:
		all, sealed = maps.Clone(e.Effects.Bequest.Plain), e.Effects.Bequest.Personal
	case e.Action != "checkout": // it was written when each line had a copy of its own
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

// inherited gives what an event of a page inherits; each parent is opened once.
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
