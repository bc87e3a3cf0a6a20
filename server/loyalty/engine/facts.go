package engine

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Holds evaluates a condition on an occurrence. A condition that cannot be evaluated does not hold,
// and a preview says why.
func (o *Occurrence) Holds(c *condition.Condition) (bool, error) {
	held, fault, err := o.Judge(c)
	if fault != nil {
		o.TraceInput(loyalty.Verdict{Rule: "condition", Verdict: "skipped", Reason: "reason.condition_fault",
			Input: map[string]any{"condition": c.String(), "fault": fault.Error()}})
	}
	return held, err
}

// Judge is Holds, but returns as fault why a condition could not be evaluated, and leaves the trace to its caller.
func (o *Occurrence) Judge(c *condition.Condition) (held bool, fault, err error) {
	if c == nil {
		return true, nil, nil
	}
	if o.work.hides(c) {
		return false, errUnseen, nil
	}
	if err := o.see(c); err != nil {
		return false, nil, err
	}

	held, steps, fault := c.Judge(o.known)
	if err := o.Effort(steps); err != nil {
		return false, nil, err
	}

	return held && fault == nil, fault, nil
}

// errUnseen is the fault of a condition that reads personal data which the caller of a preview may not see. Its result
// is unknown, so the rule has no effect.
var errUnseen = errors.New("it asks for personal data, which you may not see")

// hides reports whether a condition reads data that the caller of a preview may not see.
func (w *work) hides(c *condition.Condition) bool {
	return w.unseen != nil && slices.ContainsFunc(c.Guarded(), w.unseen)
}

// see brings the known facts of the occurrence up to date, because later rules see what earlier ones gave. The event
// stays as it was. Customer and purchase are as the earlier rules left them, so a campaign may require a tier that the
// same purchase has just brought.
func (o *Occurrence) see(c *condition.Condition) (err error) {
	if o.known == nil {
		o.known = &condition.Facts{Location: o.Programme.Location, Event: condition.Event{
			Action: o.Action, Timestamp: o.Trigger.At, Points: o.Points(),
		}}
	}
	if n := len(o.work.events); o.asOf != n {
		o.asOf, o.known.Customer = n, customerFacts(o.Run)
	}
	if err := completeFacts(o.Run, &o.known.Customer, c); err != nil {
		return err
	}
	return o.gather(c)
}

// gather adds the facts about the purchase and the event that only some conditions read: decrypting the personal
// attributes of a purchase takes longer than evaluating most conditions.
func (o *Occurrence) gather(c *condition.Condition) (err error) {
	if c.Uses("transaction") || c.Uses("item") {
		if o.known.Transaction, o.known.Item, err = o.PurchaseFacts(); err != nil {
			return err
		}
	}
	if c.Uses("event.data") && o.known.Event.Data == nil {
		o.known.Event.Data, err = o.SeenAttributes()
	}
	return err
}

// completeFacts adds the facts about a customer that only some conditions read. Some may have to be loaded, which costs
// the whole batch a round trip.
func completeFacts(r *Run, f *condition.Customer, c *condition.Condition) (err error) {
	if c.Uses("customer.tiers") && f.Tiers == nil {
		if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressTier)}); err != nil {
			return err
		}
		f.Tiers = r.account.tiers()
	}

	if c.Uses("customer.lists") && f.Lists == nil {
		if err := r.Require(loyalty.CustomerNeeds{Lists: true}); err != nil {
			return err
		}
		f.Lists = r.account.lists()
	}

	if c.Uses("customer.referrer") {
		f.Referrer, err = referrerName(r)
	}

	return err
}

// isMember reports whether the customer belongs to a segment.
func isMember(r *Run, s *programme.Segment) (bool, error) {
	return r.Judges(s.Is, condition.Event{Timestamp: r.At})
}

// Judges reports whether a condition on the customer and an event, which may be a past one, holds. A condition that
// cannot be evaluated does not hold.
func (r *Run) Judges(c *condition.Condition, e condition.Event) (bool, error) {
	if r.work.hides(c) {
		return false, nil
	}
	f := &condition.Facts{Customer: customerFacts(r), Event: e, Location: r.Programme.Location}
	if err := completeFacts(r, &f.Customer, c); err != nil {
		return false, err
	}
	held, steps, fault := c.Judge(f)
	return held && fault == nil, r.Effort(steps)
}

// Purchase returns the purchase that the occurrence belongs to; nil if none.
func (o *Occurrence) Purchase() *loyalty.Transaction {
	if o.Accepted != nil {
		return o.Accepted
	}
	return o.Bought(o.Trigger.Transaction)
}

// Points returns how the event changed the balance, or the points that a line earned.
func (o *Occurrence) Points() int64 {
	if o.Line != nil {
		return o.Line.Points - o.Line.Bonus
	}
	return loyalty.Deref(o.Trigger.Points)
}

// PurchaseFacts returns the purchase as conditions see it, and the line that the occurrence is about; nil if none. All
// occurrences of a round share the facts, because the points are all that rules can change of a purchase.
func (o *Occurrence) PurchaseFacts() (f *condition.Transaction, line *condition.Item, err error) {
	t := o.Purchase()
	if t == nil {
		return nil, nil, nil
	}

	if f = o.work.bought[t]; f == nil {
		if f, err = purchaseFacts(o.Run, t); err != nil {
			return nil, nil, err
		}
		if o.work.bought == nil {
			o.work.bought = map[*loyalty.Transaction]*condition.Transaction{}
		}
		o.work.bought[t] = f
	}

	f.Earned, f.Burned = t.Earned, t.Burned
	for i := range t.Detail.Items {
		if &t.Detail.Items[i] == o.Line {
			line = &f.Items[i]
		}
	}

	return f, line, nil
}

// SeenAttributes returns the event's attributes, including the personal ones as long as they can be read. The event of
// a line inherits the attributes of its checkout, and so does a checkout that is accepted later.
func (o *Occurrence) SeenAttributes() (condition.Attributes, error) {
	if o.Line == nil && o.Trigger == o.Event && o.Trigger.Sent(o.Action) {
		return o.Data, nil // as it was sent
	}

	f, line, err := o.PurchaseFacts()
	switch {
	case err != nil:
		return nil, err
	case line != nil:
		return condition.Heir{Own: AttributesOf(line.Data), From: AttributesOf(f.Data)}, nil
	}

	var plain map[string]json.RawMessage
	if err := json.Unmarshal(o.Trigger.Data, &plain); err != nil {
		return nil, err
	}

	personal, err := reveal(o.Run, o.Trigger.Customer, o.Trigger.Personal, o.Trigger.ID)
	if err != nil {
		return nil, err
	}
	if len(personal) > 0 {
		plain = loyalty.MergeAttributes(plain, personal)
	}
	if o.Action == "checkout" && f != nil {
		plain = loyalty.MergeAttributes(plain, AttributesOf(f.Data))
	}

	return plain, nil
}

// AttributesOf returns the attributes behind facts, as they were sent.
func AttributesOf(a condition.Attributes) map[string]json.RawMessage {
	sent, _ := a.(map[string]json.RawMessage)
	return sent
}

// purchaseFacts reads a purchase for conditions, including its personal attributes as long as the
// key exists.
func purchaseFacts(r *Run, t *loyalty.Transaction) (*condition.Transaction, error) {
	personal, err := r.OpenBought(t, t.Detail.Personal, t.Checkout, nil)
	if err != nil {
		return nil, err
	}

	data := t.Detail.Attributes
	text := func(name string) string { return loyalty.TextOf(data[name]) }
	if len(personal) > 0 {
		data = loyalty.MergeAttributes(data, personal)
	}

	f := &condition.Transaction{
		ID: t.Name, Status: string(t.State), Currency: text("currency"), Country: text("country"),
		Channel: text("channel"), Store: text("store"),
		Total: units(money.Amount(t.Total)), OriginalTotal: units(money.Amount(t.OriginalTotal)),
		Refunded: units(money.Amount(t.Refunded)),
		Earned:   t.Earned, Burned: t.Burned, CheckoutDate: t.CheckoutDate, Data: data,
	}

	if base, covered := r.Programme.InBase(money.Amount(t.Total), t.Currency()); covered {
		f.TotalInBase = new(units(base))
	}

	f.Items = make([]condition.Item, len(t.Detail.Items))
	for i := range t.Detail.Items {
		if f.Items[i], err = lineFacts(r, t, &t.Detail.Items[i]); err != nil {
			return nil, err
		}
	}

	return f, nil
}

// lineFacts reads one line with its own attributes only: inherited ones are added when a condition
// asks for them.
func lineFacts(r *Run, t *loyalty.Transaction, l *loyalty.Line) (condition.Item, error) {
	own, err := r.OpenBought(t, l.Personal, l.Event, nil)
	if err != nil {
		return condition.Item{}, err
	}
	data := l.Data
	if len(own) > 0 {
		data = loyalty.MergeAttributes(data, own)
	}
	return condition.Item{
		ProductID: l.ProductID, ProductName: loyalty.TextOf(data["product_name"]),
		ProductCategory: loyalty.TextOf(data["product_category"]),
		Quantity:        l.Quantity, Subtotal: units(l.Subtotal), Price: decimalOf(data["price"]),
		Discount: decimalOf(data["discount"]), Data: data,
	}, nil
}

// decimalOf reads a numeric attribute; 0 if it is not a number.
func decimalOf(raw json.RawMessage) float64 {
	if len(raw) == 0 {
		return 0
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0
	}
	return n
}

// units converts money for conditions. They only compare it, so a float is exact enough.
func units(a money.Amount) float64 { f, _ := a.Decimal().Float64(); return f }

// customerFacts returns the customer as conditions see them.
func customerFacts(r *Run) condition.Customer {
	c, p, f := r.Customer, &r.Customer.Profile, r.Book.Figures
	return condition.Customer{
		ID: c.Name, Status: string(c.Status), Profile: p,
		Labels: p.Labels, ExternalIDs: p.ExternalIDs, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Score: f.Score, Spent: f.Spent, Reserved: f.Reserved, Expired: f.Expired, Pending: f.Pending,
		Spendable: f.Spendable(), Debt: f.Debt, Custom: p.Custom,
	}
}

// referrerName returns the current name of the customer who referred this one; empty if there is none, or if they left.
// The referral stores the id instead of the name, so that it survives a change of name and is forgotten when the
// referrer leaves.
func referrerName(r *Run) (string, error) {
	id := r.Customer.Profile.Referrer
	if id == (loyalty.ID{}) {
		return "", nil
	}
	a, loaded := r.batch.accounts[id]
	if !loaded && !r.batch.asked.people[person{id: id}] {
		return "", &NeedMoreError{needs: loyalty.CustomerNeeds{ID: id}}
	}
	if !loaded || a.customer.Status == loyalty.OptedOut {
		return "", nil
	}
	return a.customer.Name, nil
}

// MemberOfAny reports whether the customer is in one of the segments. An empty list means every customer.
func (r *Run) MemberOfAny(segments []string) (bool, error) {
	for _, id := range segments {
		s := programme.Segments.Of(r.Programme)[id]
		if s == nil {
			continue
		}
		if in, err := isMember(r, s); in || err != nil {
			return in, err
		}
	}
	return len(segments) == 0, nil
}
