package loyalty

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// TransactionState is where a purchase stands.
type TransactionState string

// The states of a purchase.
const (
	NoTransaction TransactionState = ""
	Pending       TransactionState = "pending"
	Accepted      TransactionState = "accepted"
	Rejected      TransactionState = "rejected"
	Refunded      TransactionState = "refunded"
)

// TransactionStates lists the states a stored purchase can be in.
var TransactionStates = []TransactionState{Pending, Accepted, Rejected, Refunded}

// transactionMoves is the specification's table: trigger, state before, state
// after. "checkout" leads to pending where the module checkout_accept is on.
var transactionMoves = map[string]map[TransactionState]TransactionState{
	"checkout_accept": {Pending: Accepted},
	"checkout_reject": {Pending: Rejected},
	"checkout_update": {Pending: Pending},
	"partial_refund":  {Accepted: Accepted},
	"refund_item":     {Accepted: Accepted},
	"refund":          {Accepted: Refunded},
}

// Transaction is a purchase, from its checkout to its refunds. Amounts are
// exact; points are whole.
type Transaction struct {
	Customer     ID     // of the row
	Holder       ID     // whose purchase it is: another than Customer once that one was merged
	Name         string // the caller's transaction_id
	State        TransactionState
	Checkout     ID // the checkout event
	CreatedAt    time.Time
	UpdatedAt    time.Time
	CheckoutDate time.Time // effective
	AutoAccept   time.Time // zero: by hand
	AutoReject   bool      // at AutoAccept it is rejected instead

	Total         money.Amount // reduced by refunds
	OriginalTotal money.Amount
	Refunded      money.Amount

	OriginalEarned int64 // earned when it was accepted
	Earned         int64 // what refunds left of it; while pending what it promises
	OriginalBurned int64
	Burned         int64

	Detail TransactionDetail

	dirty bool // changed in this batch
	moved bool // to another customer in this batch

	counts bool // Detail.Counted is this copy's own
}

// TransactionDetail is what is stored of a purchase as one document.
type TransactionDetail struct {
	// Attributes are those of the checkout but its items; item events inherit
	// them. Personal ones are sealed in Personal, bound to the checkout's id.
	Attributes     map[string]json.RawMessage `json:"attributes,omitempty"`
	Personal       []byte                     `json:"personal,omitempty"`
	PointsRewarded *int64                     `json:"points_rewarded,omitempty"`
	Items          []Line                     `json:"items,omitempty"`
	Burn           []points.Portion           `json:"burn,omitempty"`  // lots held or burned, less what came back
	Bonus          int64                      `json:"bonus,omitempty"` // of the original earned points: what campaigns gave
	Gifts          []PurchaseGift             `json:"gifts,omitempty"` // Bonus by campaign
	Coupons        []RedeemedCoupon           `json:"coupons,omitempty"`
	Unused         []string                   `json:"unused,omitempty"`  // offers that it names and could not use
	Counted        []Counting                 `json:"counted,omitempty"` // towards challenges, until its refund takes that back
}

// Line is one line item of a purchase with what it earned.
type Line struct {
	Event     ID                         `json:"event"` // the item event; its lot once accepted
	ProductID string                     `json:"product_id"`
	Quantity  int64                      `json:"quantity"`
	Subtotal  money.Amount               `json:"subtotal"`
	Rewarded  *int64                     `json:"points_rewarded,omitempty"` // the caller's own points for the line
	Points    int64                      `json:"points"`                    // with those of campaigns
	Bonus     int64                      `json:"bonus,omitempty"`           // of Points: what campaigns gave
	Returned  int64                      `json:"returned,omitempty"`        // pieces given back
	TakenBack int64                      `json:"taken_back,omitempty"`      // points of the returned pieces
	Data      map[string]json.RawMessage `json:"data"`                      // the item's own attributes
	Personal  []byte                     `json:"personal,omitempty"`        // sealed, bound to Event

	// Own are the personal attributes of a line that was just sent, in the
	// clear until its event is written.
	Own map[string]json.RawMessage `json:"-"`

	changed bool // since an event told it: the next one does, by Lines
}

// Return notes pieces that were given back, and the points taken back for them.
func (l *Line) Return(pieces, taken int64) {
	l.Returned, l.TakenBack, l.changed = l.Returned+pieces, l.TakenBack+taken, true
}

// lineOf is the line with this event; nil: none has.
func (t *Transaction) lineOf(event ID) *Line {
	i := slices.IndexFunc(t.Detail.Items, func(l Line) bool { return event != (ID{}) && l.Event == event })
	if i < 0 {
		return nil
	}
	return &t.Detail.Items[i]
}

// effect is the purchase as the journal keeps it.
func (t *Transaction) effect() *TransactionEffect {
	e := &TransactionEffect{
		State: t.State, Total: int64(t.Total), Refunded: int64(t.Refunded), Earned: t.Earned, Burned: t.Burned,
		AutoAccept: instant(t.AutoAccept), AutoReject: t.AutoReject, OriginalEarned: t.OriginalEarned, OriginalBurned: t.OriginalBurned,
		Burn: slices.Clone(t.Detail.Burn), Bonus: t.Detail.Bonus, Gifts: slices.Clone(t.Detail.Gifts), Coupons: slices.Clone(t.Detail.Coupons), Unused: t.Detail.Unused,
		Counted: slices.Clone(t.Detail.Counted), Items: len(t.Detail.Items),
	}
	if t.moved {
		e.Opened = &OpenedEffect{t.Checkout, t.CreatedAt, t.CheckoutDate}
	}
	for i := range t.Detail.Items {
		if l := &t.Detail.Items[i]; l.changed {
			e.Lines = append(e.Lines, LineEffect{l.Event, l.Points, l.Bonus, l.Returned, l.TakenBack})
			l.changed = false
		}
	}
	return e
}

// follow takes over what the same event told of lines before, where it tells nothing
// newer itself.
func (e *TransactionEffect) follow(before *TransactionEffect) {
	if before == nil || len(before.Lines) == 0 {
		return
	}
	told := make(map[ID]bool, len(e.Lines))
	for _, l := range e.Lines {
		told[l.Event] = true
	}
	for _, l := range before.Lines {
		if !told[l.Event] {
			e.Lines = append(e.Lines, l)
		}
	}
}

// Move leads the purchase along the table of states. A pending purchase is the
// only one that can be accepted, rejected or updated (error 911001 otherwise,
// by the specification); refunds need an accepted one.
func (t *Transaction) Move(trigger string) error {
	next, ok := transactionMoves[trigger][t.State]
	switch {
	case ok:
		t.State = next
		return nil
	case trigger == "refund" || trigger == "partial_refund" || trigger == "refund_item":
		return ErrNotRefundable.With("status", string(t.State)).At("data.transaction_id")
	}
	return ErrTransactionNotFound.At("data.transaction_id")
}

// Reservation holds points for a purchase to come, by transaction_id. Its lots
// do not expire while they are held.
type Reservation struct {
	Customer    ID
	Transaction string
	Hold        []points.Portion
}
