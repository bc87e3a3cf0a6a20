package loyalty

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// NoteGift records the points of a campaign with the purchase.
func (t *Transaction) NoteGift(campaign string, line *Line, n int64) {
	g := PurchaseGift{Campaign: campaign, Points: n, Left: n}
	if line != nil {
		g.Line = line.Event
	}
	t.Detail.Gifts = append(t.Detail.Gifts, g)
}

// LineReturn is a line with returned pieces, and the points taken for them.
type LineReturn struct {
	Line   *Line
	Points int64
}

// TakeGifts records on a refund's event how many of the n points that it takes are those of campaigns. For returned
// lines they follow from what each campaign gave for those lines, otherwise from the proportion of the remaining gifts
// to the remaining points. Points are floored over all returns so far, so that single returns add up to what was given.
// t.Earned is the value before the refund.
func (t *Transaction) TakeGifts(e *Event, n int64, lines []LineReturn) {
	if len(t.Detail.Gifts) == 0 || n == 0 {
		return
	}

	gifts := slices.Clone(t.Detail.Gifts)
	took := make([]int64, len(gifts))
	switch {
	case n >= t.Earned:
		for i := range gifts {
			took[i] = gifts[i].Left
		}
	case len(lines) > 0:
		t.takeFromLines(gifts, took, lines)
	default:
		for i := range gifts {
			took[i] = money.Floor.Share(gifts[i].Left, money.Amount(n), money.Amount(t.Earned))
		}
	}

	for i := range gifts {
		if took[i] > 0 {
			gifts[i].Left -= took[i]
			e.Tell().Campaigns = append(e.Tell().Campaigns, CampaignEffect{gifts[i].Campaign, CampaignGifts{TakenBack: took[i]}})
		}
	}

	t.Detail.Gifts = gifts
}

// takeFromLines shares the points of returned lines: each campaign's part of a line, as AddBonus shared it, grows with
// the points taken back for the line.
func (t *Transaction) takeFromLines(gifts []PurchaseGift, took []int64, lines []LineReturn) {
	back := make(map[ID]LineReturn, len(lines))
	for _, l := range lines {
		back[l.Line.Event] = l
	}

	for i, g := range gifts {
		if g.Line != (ID{}) {
			took[i] = min(back[g.Line].part(g.Points), g.Left)
			continue
		}
		shares, err := t.shares(g.Points)
		if err != nil {
			continue // it was shared once, so it can be shared again
		}
		for k, share := range shares {
			took[i] += back[t.Detail.Items[k].Event].part(share.Points)
		}
		took[i] = min(took[i], g.Left)
	}
}

// part is how many of the points that a campaign gave for the line are taken back; 0 for a line that did not come back.
func (b LineReturn) part(given int64) int64 {
	if b.Line == nil || given == 0 {
		return 0
	}
	after := money.Floor.Share(given, money.Amount(b.Line.TakenBack), money.Amount(b.Line.Points))
	before := money.Floor.Share(given, money.Amount(b.Line.TakenBack-b.Points), money.Amount(b.Line.Points))
	return max(0, after-before)
}

// AddBonus adds the points of a campaign to a purchase that was just accepted: to their line, or over all lines by
// their subtotals, as points_rewarded is spread, so that the return of a line takes its share.
func (t *Transaction) AddBonus(line *Line, n int64) error {
	t.Earned, t.OriginalEarned, t.Detail.Bonus = t.Earned+n, t.OriginalEarned+n, t.Detail.Bonus+n
	if line != nil {
		line.Points, line.Bonus, line.Changed = line.Points+n, line.Bonus+n, true
		return nil
	}

	shares, err := t.shares(n)
	if err != nil {
		return err
	}

	for i, share := range shares {
		l := &t.Detail.Items[i]
		l.Points, l.Bonus, l.Changed = l.Points+share.Points, l.Bonus+share.Points, true
	}

	return nil
}

// shares spreads points over the lines of a purchase by their subtotals; only the points of the returned lines are set.
func (t *Transaction) shares(n int64) ([]Line, error) {
	shares := make([]Line, len(t.Detail.Items))
	lines := make([]*Line, len(shares))
	for i := range shares {
		shares[i].Subtotal, lines[i] = t.Detail.Items[i].Subtotal, &shares[i]
	}
	return shares, SpreadPoints(n, lines)
}

// Counted returns the purchase's counts, to be changed: a copy that is made once, because thousands of lines may count.
func (t *Transaction) Counted() []Counting {
	if !t.counts {
		t.Detail.Counted, t.counts = slices.Clone(t.Detail.Counted), true
	}
	return t.Detail.Counted
}

// Currency returns the currency of a purchase, as its sender wrote it; empty if none was sent, which means the
// programme's.
func (t *Transaction) Currency() string {
	var text string
	if raw, ok := t.Detail.Attributes["currency"]; ok && json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// Reduce takes points off the pending points of a purchase: first from those that belong to no line, then from its
// lines.
func (t *Transaction) Reduce(n int64) {
	lines := int64(0)
	for _, l := range t.Detail.Items {
		lines += l.Points
	}
	n, t.Earned = n-min(n, t.Earned-lines), t.Earned-n
	for i := range t.Detail.Items {
		l := &t.Detail.Items[i]
		k := min(n, l.Points)
		l.Points, l.Changed = l.Points-k, true
		n -= k
	}
}

// SpreadPoints shares points over lines by subtotal, so that the shares add up to the whole: each line gets the share
// of the running sum of subtotals, less what the lines before it got.
func SpreadPoints(whole int64, lines []*Line) error {
	var total, running money.Amount
	for _, l := range lines {
		sum, err := money.Add(total, l.Subtotal)
		if err != nil {
			return ErrTooLarge.With("property", "subtotal").At("data.items")
		}
		total = sum
	}

	var given int64
	for i, l := range lines {
		running += l.Subtotal
		due := whole
		if total != 0 || i < len(lines)-1 {
			due = money.Floor.Share(whole, running, total)
		}
		l.Points, given = due-given, due
	}

	return nil
}

// TransactionState is the state of a purchase.
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

// TransactionMoves is the specification's table: trigger, state before, state after. "checkout" leads to pending if the
// module checkout_accept is on.
var TransactionMoves = map[string]map[TransactionState]TransactionState{
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
	Customer ID     // of the row
	Holder   ID     // the customer who has the purchase: differs from Customer once that one was merged
	Name     string // the caller's transaction_id
	PurchaseOpening
	PurchaseState
	PurchaseOrigin
	OriginalTotal money.Parts
	UpdatedAt     time.Time
	Detail        TransactionDetail

	// Pieces is the number of separate rows in which the store had the lines when it read the purchase; 0: they were in
	// the purchase's row. Only the store uses it, to write the changed rows.
	Pieces int

	Dirty bool // changed in this batch
	Moved bool // to another customer in this batch

	counts bool // Detail.Counted is this copy's own
}

// The parts of a purchase, each as an event records it (see TransactionEffect).

// PurchaseOpening is how a purchase began.
type PurchaseOpening struct {
	Checkout     ID        `json:"checkout"` // the checkout event
	CreatedAt    time.Time `json:"created_at"`
	CheckoutDate time.Time `json:"checkout_date"` // effective
}

// PurchaseState is the changing part of a purchase.
type PurchaseState struct {
	State      TransactionState `json:"state"`
	Total      money.Parts      `json:"total"` // reduced by refunds
	Refunded   money.Parts      `json:"refunded"`
	Earned     int64            `json:"earned"` // less refunds; while pending, the pending points
	Burned     int64            `json:"burned"`
	AutoAccept time.Time        `json:"auto_accept,omitzero"`  // zero: by hand
	AutoReject bool             `json:"auto_reject,omitempty"` // at AutoAccept it is rejected instead
}

// PurchaseOrigin is what a purchase earned and burned when it was accepted.
type PurchaseOrigin struct {
	OriginalEarned int64 `json:"original_earned,omitempty"`
	OriginalBurned int64 `json:"original_burned,omitempty"`
}

// PurchaseUses are what a purchase used, gave and counted for.
type PurchaseUses struct {
	Burn    []points.Portion `json:"burn,omitempty"`    // lots held or burned, less what came back
	Bonus   int64            `json:"bonus,omitempty"`   // the part of the original earned points that campaigns gave
	Gifts   []PurchaseGift   `json:"gifts,omitempty"`   // Bonus by campaign
	Coupons []RedeemedCoupon `json:"coupons,omitempty"` // that it redeemed
	Cards   []CardPayment    `json:"cards,omitempty"`   // what partial refunds gave back to gift cards
	Unused  []string         `json:"unused,omitempty"`  // offers that it names and could not use
	Counted []Counting       `json:"counted,omitempty"` // towards challenges, until its refund takes that back
	// Runs and Referral are what else it brought, until it is undone.
	Runs     []CampaignRun  `json:"runs,omitempty"`
	Referral []ReferralPart `json:"referral,omitempty"`
	Returned bool           `json:"returned,omitempty"` // it is undone
	// AcceptedAt is when it was accepted, if that was later than its date; it counts from then on.
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
}

// TransactionDetail is the part of a purchase that is stored as one document.
type TransactionDetail struct {
	// Attributes are those of the checkout without its items; item events inherit them. Personal ones are sealed in
	// Personal, bound to the checkout's id.
	Attributes     map[string]json.RawMessage `json:"attributes,omitempty"`
	Personal       []byte                     `json:"personal,omitempty"`
	PointsRewarded *int64                     `json:"points_rewarded,omitempty"`
	Items          []Line                     `json:"items,omitempty"`
	PurchaseUses
}

// Line is one line item of a purchase with what it earned.
type Line struct {
	Event     ID           `json:"event"` // the item event; its lot once accepted
	ProductID string       `json:"product_id"`
	Quantity  int64        `json:"quantity"`
	Subtotal  money.Amount `json:"subtotal"`
	Rewarded  *int64       `json:"points_rewarded,omitempty"` // the caller's own points for the line
	LineFigures
	Data     map[string]json.RawMessage `json:"data"`               // the item's own attributes
	Personal []byte                     `json:"personal,omitempty"` // sealed, bound to Event

	// Own are the personal attributes of a line that was just sent, in the
	// clear until its event is written.
	Own map[string]json.RawMessage `json:"-"`

	Changed bool `json:"-"` // since the last event that recorded it: the next one does, in Lines
}

// LineFigures are the points of a line, and its returns.
type LineFigures struct {
	Points    int64 `json:"points"`               // with those of campaigns
	Bonus     int64 `json:"bonus,omitempty"`      // of Points: what campaigns gave
	Returned  int64 `json:"returned,omitempty"`   // pieces given back
	TakenBack int64 `json:"taken_back,omitempty"` // points of the returned pieces
}

// Return records returned pieces, and the points taken back for them.
func (l *Line) Return(pieces, taken int64) {
	l.Returned, l.TakenBack, l.Changed = l.Returned+pieces, l.TakenBack+taken, true
}

// CameBack reports whether everything that was paid for was returned: each piece of each line that cost something, or
// of every line if none did.
func (t *Transaction) CameBack() bool {
	lines := t.Detail.Items
	free := !slices.ContainsFunc(lines, func(l Line) bool { return l.Subtotal != 0 })
	kept := func(l Line) bool { return (free || l.Subtotal != 0) && l.Returned < l.Quantity }
	return len(lines) > 0 && !slices.ContainsFunc(lines, kept)
}

// TakeRuns removes the runs that satisfy is from the purchase and returns them, because what they gave is being taken
// back.
func (t *Transaction) TakeRuns(is func(CampaignRun) bool) (runs []CampaignRun) {
	var left []CampaignRun
	for _, run := range t.Detail.Runs {
		if is(run) {
			runs = append(runs, run)
		} else {
			left = append(left, run)
		}
	}
	t.Detail.Runs = left
	return runs
}

// LineOf returns the line with this event, or nil.
func (t *Transaction) LineOf(event ID) *Line {
	i := slices.IndexFunc(t.Detail.Items, func(l Line) bool { return event != (ID{}) && l.Event == event })
	if i < 0 {
		return nil
	}
	return &t.Detail.Items[i]
}

// Effect returns the purchase as the journal keeps it.
func (t *Transaction) Effect() *TransactionEffect {
	e := &TransactionEffect{PurchaseState: t.PurchaseState, PurchaseOrigin: t.PurchaseOrigin,
		PurchaseUses: t.Detail.PurchaseUses, Items: len(t.Detail.Items)}
	e.Burn, e.Gifts, e.Coupons, e.Counted = slices.Clone(e.Burn), slices.Clone(e.Gifts),
		slices.Clone(e.Coupons), slices.Clone(e.Counted)
	e.Runs = slices.Clone(e.Runs)
	if t.Moved {
		e.Opened = new(t.PurchaseOpening)
	}
	for i := range t.Detail.Items {
		if l := &t.Detail.Items[i]; l.Changed {
			e.Lines = append(e.Lines, LineEffect{l.Event, l.LineFigures})
			l.Changed = false
		}
	}
	return e
}

// Follow keeps what the same event recorded of lines before, unless it records something newer itself.
func (e *TransactionEffect) Follow(before *TransactionEffect) {
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

// Move changes the purchase's state by the table. Only a pending purchase can be accepted, rejected or updated (error
// 911001 otherwise, by the specification); refunds need an accepted one.
func (t *Transaction) Move(trigger string) error {
	next, ok := TransactionMoves[trigger][t.State]
	switch {
	case ok:
		t.State = next
		return nil
	case trigger == "refund" || trigger == "partial_refund" || trigger == "refund_item":
		return ErrNotRefundable.With("status", string(t.State)).At("data.transaction_id")
	}
	return ErrTransactionNotFound.At("data.transaction_id")
}

// Reservation holds points for a later purchase, by transaction_id. Its lots do not expire while they are held.
type Reservation struct {
	Customer    ID
	Transaction string
	Hold        []points.Portion
}

// Clone copies what a rule may change. Gifts and runs are clipped instead of copied: they are only appended to, and
// appending makes a new list.
func (t *Transaction) Clone() *Transaction {
	c := *t
	c.counts = false
	c.Detail.Items, c.Detail.Gifts = slices.Clone(t.Detail.Items), slices.Clip(t.Detail.Gifts)
	c.Detail.Runs = slices.Clip(t.Detail.Runs)
	return &c
}

// Earlier returns the earlier instant, where zero means never.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
