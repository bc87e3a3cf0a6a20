package loyalty

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// holds judges a condition on an occurrence. A condition that cannot be judged
// does not hold, and a preview tells why.
func (o *occurrence) holds(c *condition.Condition) (bool, error) {
	held, fault, err := o.judge(c)
	if fault != nil {
		o.TraceInput(Verdict{Rule: "condition", Verdict: "skipped", Reason: "reason.condition_fault", Input: map[string]any{"condition": c.String(), "fault": fault.Error()}})
	}
	return held, err
}

// judge is holds that tells apart why a condition does not hold: fault says why it
// could not be judged.
func (o *occurrence) judge(c *condition.Condition) (held bool, fault, err error) {
	if c == nil {
		return true, nil, nil
	}
	if err := o.see(c); err != nil {
		return false, nil, err
	}
	held, steps, fault := c.Judge(o.known)
	if err := o.effort(steps); err != nil {
		return false, nil, err
	}
	return held && fault == nil, fault, nil
}

// see brings what is known of the occurrence up to date: what rules gave since it
// happened counts for those that come after them.
func (o *occurrence) see(c *condition.Condition) (err error) {
	if o.known == nil {
		o.known = &condition.Facts{Location: o.Programme.Location, Event: condition.Event{
			Action: o.action, Timestamp: o.event.At, Points: o.points(),
		}}
	}
	if n := len(o.work.events); o.asOf != n {
		o.asOf, o.known.Customer = n, customerFacts(o.Run)
	}
	if err := o.complete(&o.known.Customer, c); err != nil {
		return err
	}
	return o.gather(c)
}

// gather adds the facts about the purchase and the event that only some conditions
// ask for.
func (o *occurrence) gather(c *condition.Condition) (err error) {
	if c.Uses("transaction") || c.Uses("item") {
		if o.known.Transaction, o.known.Item, err = o.bought(); err != nil {
			return err
		}
	}
	if c.Uses("event.data") && o.known.Event.Data == nil {
		o.known.Event.Data, err = o.attributes()
	}
	return err
}

// complete adds the facts about a customer that only some conditions ask for.
func (r *Run) complete(f *condition.Customer, c *condition.Condition) (err error) {
	if c.Uses("customer.tiers") && f.Tiers == nil {
		if err := r.require(CustomerNeeds{Progress: Kinds(ProgressTier)}); err != nil {
			return err
		}
		f.Tiers = r.tiers()
	}
	if c.Uses("customer.lists") && f.Lists == nil {
		if err := r.require(CustomerNeeds{Lists: true}); err != nil {
			return err
		}
		f.Lists = r.lists()
	}
	if c.Uses("customer.referrer") {
		f.Referrer, err = r.referrerName()
	}
	return err
}

// member says whether the customer belongs to a segment.
func (r *Run) member(s *Segment) (bool, error) {
	f := &condition.Facts{Customer: customerFacts(r), Event: condition.Event{Timestamp: r.At}, Location: r.Programme.Location}
	if err := r.complete(&f.Customer, s.Is); err != nil {
		return false, err
	}
	held, steps, fault := s.Is.Judge(f)
	return held && fault == nil, r.effort(steps)
}

// purchase is the purchase that the occurrence belongs to; nil: none.
func (o *occurrence) purchase() *Transaction {
	if o.transaction != nil {
		return o.transaction
	}
	return o.account.transactions[o.event.Transaction]
}

// points are what the event did to the balance; of a line what it earned.
func (o *occurrence) points() int64 {
	if o.line != nil {
		return o.line.Points - o.line.Bonus
	}
	return deref(o.event.Points)
}

// bought is the purchase as conditions see it, and the line that the occurrence is
// about; nil: none. All that reacts together shares it: what rules can change of a
// purchase are its points.
func (o *occurrence) bought() (f *condition.Transaction, line *condition.Item, err error) {
	t := o.purchase()
	if t == nil {
		return nil, nil, nil
	}
	if f = o.work.bought[t]; f == nil {
		if f, err = o.purchaseFacts(t); err != nil {
			return nil, nil, err
		}
		if o.work.bought == nil {
			o.work.bought = map[*Transaction]*condition.Transaction{}
		}
		o.work.bought[t] = f
	}
	f.Earned, f.Burned = t.Earned, t.Burned
	for i := range t.Detail.Items {
		if &t.Detail.Items[i] == o.line {
			line = &f.Items[i]
		}
	}
	return f, line, nil
}

// attributes gives the event's attributes, the personal ones among them as long
// as they can be read. The event of a line inherits those of the checkout, as does
// a checkout that is accepted later.
func (o *occurrence) attributes() (condition.Attributes, error) {
	if o.line == nil && o.event == o.Event && o.event.Sent(o.action) {
		return o.Data, nil // as it was sent
	}
	f, line, err := o.bought()
	switch {
	case err != nil:
		return nil, err
	case line != nil:
		return condition.Heir{Own: attributesOf(line.Data), From: attributesOf(f.Data)}, nil
	}
	var plain map[string]json.RawMessage
	if err := json.Unmarshal(o.event.Data, &plain); err != nil {
		return nil, err
	}
	personal, err := o.reveal(o.event.Customer, o.event.Personal, o.event.ID)
	if err != nil {
		return nil, err
	}
	if len(personal) > 0 {
		plain = merge(plain, personal)
	}
	if o.action == "checkout" && f != nil {
		plain = merge(plain, attributesOf(f.Data))
	}
	return plain, nil
}

// attributesOf are attributes among facts, which are kept as they were sent.
func attributesOf(a condition.Attributes) map[string]json.RawMessage {
	sent, _ := a.(map[string]json.RawMessage)
	return sent
}

// reveal reads personal attributes of a row back; none where the key of the
// customer whose row it is, who may be one merged into this one, is gone.
func (r *Run) reveal(owner ID, sealed []byte, row ID) (map[string]json.RawMessage, error) {
	if sealed == nil {
		return nil, nil
	}
	key, err := r.keyFor(owner)
	if err != nil || key == nil {
		return nil, err
	}
	plain, err := Open(key, row[:], sealed)
	if err != nil {
		return nil, err
	}
	var personal map[string]json.RawMessage
	return personal, json.Unmarshal(plain, &personal)
}

func (r *Run) keyFor(owner ID) ([]byte, error) {
	if owner != r.Customer.ID {
		return r.keyOf(owner)
	}
	err := r.require(CustomerNeeds{Key: true})
	return r.Customer.Key, err
}

func (r *Run) purchaseFacts(t *Transaction) (*condition.Transaction, error) {
	personal, err := r.openBought(t, t.Detail.Personal, t.Checkout, nil)
	if err != nil {
		return nil, err
	}
	data := t.Detail.Attributes
	text := func(name string) string { return text(data[name]) }
	if len(personal) > 0 {
		data = merge(data, personal)
	}
	f := &condition.Transaction{
		ID: t.Name, Status: string(t.State), Currency: text("currency"), Country: text("country"),
		Channel: text("channel"), Store: text("store"),
		Total: units(t.Total), OriginalTotal: units(t.OriginalTotal), Refunded: units(t.Refunded),
		Earned: t.Earned, Burned: t.Burned, CheckoutDate: t.CheckoutDate, Data: data,
	}
	f.Items = make([]condition.Item, len(t.Detail.Items))
	for i := range t.Detail.Items {
		if f.Items[i], err = r.lineFacts(t, &t.Detail.Items[i]); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (r *Run) lineFacts(t *Transaction, l *Line) (condition.Item, error) {
	own, err := r.openBought(t, l.Personal, l.Event, nil)
	if err != nil {
		return condition.Item{}, err
	}
	data := l.Data
	if len(own) > 0 {
		data = merge(data, own)
	}
	return condition.Item{
		ProductID: l.ProductID, ProductName: text(data["product_name"]), ProductCategory: text(data["product_category"]),
		Quantity: l.Quantity, Subtotal: units(l.Subtotal), Price: decimalOf(data["price"]), Discount: decimalOf(data["discount"]), Data: data,
	}, nil
}

// text reads an attribute that is text; empty where it is none. Most need no
// decoder.
func text(raw json.RawMessage) string {
	if n := len(raw); n > 1 && raw[0] == '"' && raw[n-1] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : n-1])
	}
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
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
		ID: c.Name, Status: string(c.Status), Handler: p.Handler, Email: p.Email, FirstName: p.FirstName, LastName: p.LastName,
		Language: p.Language, Currency: p.Currency, Gender: p.Gender, ImageURL: p.ImageURL, BirthDate: p.BirthDate,
		Labels: p.Labels, ExternalIDs: p.ExternalIDs, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Score: f.Score, Spent: f.Spent, Reserved: f.Reserved, Expired: f.Expired, Pending: f.Pending,
		Spendable: f.Spendable(), Debt: f.Debt, Custom: p.Custom,
	}
}

// tiers gives the tier reached in each structure, as far as it was loaded.
func (r *Run) tiers() map[string]string {
	reached := map[string]string{}
	for key, p := range r.account.progress {
		var at struct {
			Tier string `json:"tier"`
		}
		if key.Kind == ProgressTier && p.Data != nil && json.Unmarshal(p.Data, &at) == nil && at.Tier != "" {
			reached[key.Key] = at.Tier
		}
	}
	return reached
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
