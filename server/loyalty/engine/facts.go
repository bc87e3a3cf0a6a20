package engine

import (
	"encoding/json"
	"strconv"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Holds judges a condition on an occurrence. A condition that cannot be judged
// does not hold, and a preview tells why.
func (o *Occurrence) Holds(c *condition.Condition) (bool, error) {
	held, fault, err := o.Judge(c)
	if fault != nil {
		o.TraceInput(loyalty.Verdict{Rule: "condition", Verdict: "skipped", Reason: "reason.condition_fault", Input: map[string]any{"condition": c.String(), "fault": fault.Error()}})
	}
	return held, err
}

// Judge is holds that tells apart why a condition does not hold: fault says why it
// could not be judged.
func (o *Occurrence) Judge(c *condition.Condition) (held bool, fault, err error) {
	if c == nil {
		return true, nil, nil
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

// see brings what is known of the occurrence up to date: what rules gave since it
// happened counts for those that come after them.
// The event stays as it was, while customer and purchase are as the rules before left
// them: a campaign may ask for a tier that the same purchase has just brought.
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

// gather adds the facts about the purchase and the event that only some conditions
// ask for.
// To unseal what is personal of a purchase takes longer than to judge most conditions.
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

// completeFacts adds the facts about a customer that only some conditions ask for.
// Some of it may have to be loaded, which costs a round trip of the whole batch.
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

// isMember says whether the customer belongs to a segment.
func isMember(r *Run, s *programme.Segment) (bool, error) {
	return r.Judges(s.Is, condition.Event{Timestamp: r.At})
}

// Judges says whether a condition on the customer and an event holds, which may be one of
// the past. A condition that cannot be judged does not hold.
func (r *Run) Judges(c *condition.Condition, e condition.Event) (bool, error) {
	f := &condition.Facts{Customer: customerFacts(r), Event: e, Location: r.Programme.Location}
	if err := completeFacts(r, &f.Customer, c); err != nil {
		return false, err
	}
	held, steps, fault := c.Judge(f)
	return held && fault == nil, r.Effort(steps)
}

// Purchase is the purchase that the occurrence belongs to; nil: none.
func (o *Occurrence) Purchase() *loyalty.Transaction {
	if o.Accepted != nil {
		return o.Accepted
	}
	return o.account.transactions[o.Trigger.Transaction]
}

// Points are what the event did to the balance; of a line what it earned.
func (o *Occurrence) Points() int64 {
	if o.Line != nil {
		return o.Line.Points - o.Line.Bonus
	}
	return loyalty.Deref(o.Trigger.Points)
}

// PurchaseFacts is the purchase as conditions see it, and the line that the occurrence is
// about; nil: none. All that reacts together shares it: what rules can change of a
// purchase are its points.
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

// SeenAttributes gives the event's attributes, the personal ones among them as long
// as they can be read. The event of a line inherits those of the checkout, as does
// a checkout that is accepted later.
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

// AttributesOf are attributes among facts, which are kept as they were sent.
func AttributesOf(a condition.Attributes) map[string]json.RawMessage {
	sent, _ := a.(map[string]json.RawMessage)
	return sent
}

// purchaseFacts reads a purchase for conditions, with what is personal of it as long as
// the key is there.
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
		Total: units(money.Amount(t.Total)), OriginalTotal: units(money.Amount(t.OriginalTotal)), Refunded: units(money.Amount(t.Refunded)),
		Earned: t.Earned, Burned: t.Burned, CheckoutDate: t.CheckoutDate, Data: data,
	}
	f.Items = make([]condition.Item, len(t.Detail.Items))
	for i := range t.Detail.Items {
		if f.Items[i], err = lineFacts(r, t, &t.Detail.Items[i]); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// lineFacts reads one line. Its own attributes only: what it inherits is joined when it is
// asked for.
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
		ProductID: l.ProductID, ProductName: loyalty.TextOf(data["product_name"]), ProductCategory: loyalty.TextOf(data["product_category"]),
		Quantity: l.Quantity, Subtotal: units(l.Subtotal), Price: decimalOf(data["price"]), Discount: decimalOf(data["discount"]), Data: data,
	}, nil
}

// decimalOf reads an attribute that is a number; 0 where it is none.
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

// units is money as a condition compares it; it decides with it and books nothing.
func units(a money.Amount) float64 { f, _ := a.Decimal().Float64(); return f }

// customerFacts is the customer as conditions see one.
func customerFacts(r *Run) condition.Customer {
	c, p, f := r.Customer, &r.Customer.Profile, r.Book.Figures
	return condition.Customer{
		ID: c.Name, Status: string(c.Status), Profile: p,
		Labels: p.Labels, ExternalIDs: p.ExternalIDs, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Score: f.Score, Spent: f.Spent, Reserved: f.Reserved, Expired: f.Expired, Pending: f.Pending,
		Spendable: f.Spendable(), Debt: f.Debt, Custom: p.Custom,
	}
}

// referrerName is what the customer who brought this one is called; empty where
// there is none, or they left.
// The id is kept and not the name: who changes theirs is still found, and who leaves is
// forgotten.
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

// MemberOfAny says whether the customer is in one of the segments; everybody is
// where there are none.
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
