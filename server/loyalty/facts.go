package loyalty

import (
	"encoding/json"
	"maps"

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
	held, fault = c.Holds(o.known)
	return held && fault == nil, fault, nil
}

// see brings what is known of the occurrence up to date: what rules gave since it
// happened counts for those that come after them.
func (o *occurrence) see(c *condition.Condition) (err error) {
	if o.known == nil {
		if o.known, err = o.gather(); err != nil {
			return err
		}
	}
	if n := len(o.work.events); o.asOf != n {
		o.asOf, o.known.Customer = n, customerFacts(o.Run)
		if t := o.purchase(); t != nil {
			o.known.Transaction.Earned, o.known.Transaction.Burned = t.Earned, t.Burned
		}
	}
	return o.complete(&o.known.Customer, c)
}

// complete adds the facts about a customer that only some conditions ask for.
func (r *Run) complete(f *condition.Customer, c *condition.Condition) (err error) {
	if c.Uses("customer.tiers") {
		if err := r.require(CustomerNeeds{Progress: Kinds(ProgressTier)}); err != nil {
			return err
		}
		f.Tiers = r.tiers()
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
	held, fault := s.Is.Holds(f)
	return held && fault == nil, nil
}

// purchase is the purchase that the occurrence belongs to; nil: none.
func (o *occurrence) purchase() *Transaction {
	if o.transaction != nil {
		return o.transaction
	}
	return o.account.transactions[o.event.Transaction]
}

// gather collects what conditions see of an occurrence.
func (o *occurrence) gather() (f *condition.Facts, err error) {
	f = &condition.Facts{Location: o.Programme.Location, Event: condition.Event{
		Action: o.action, Timestamp: o.event.At, Points: deref(o.event.Points),
	}}
	if t := o.purchase(); t != nil {
		// The occurrences of one event see the same purchase.
		if *o.bought == nil {
			if *o.bought, err = o.purchaseFacts(t); err != nil {
				return nil, err
			}
		}
		f.Transaction = *o.bought
	}
	if o.line != nil {
		o.seeLine(f)
		return f, nil
	}
	f.Event.Data, err = o.attributes()
	return f, err
}

// seeLine is about a line of a purchase: its event is that of the item, which
// inherits the attributes of the checkout.
func (o *occurrence) seeLine(f *condition.Facts) {
	for i := range o.transaction.Detail.Items {
		if &o.transaction.Detail.Items[i] == o.line {
			f.Item = &f.Transaction.Items[i]
		}
	}
	f.Event.Points = o.line.Points - o.line.Bonus
	f.Event.Data = joined(f.Transaction.Data, f.Item.Data)
}

// attributes gives the event's attributes, the personal ones among them as long
// as they can be read.
func (o *occurrence) attributes() (map[string]any, error) {
	if o.event == o.Event && o.event.Sent(o.action) {
		return values(o.Data), nil // as it was sent
	}
	var plain map[string]json.RawMessage
	if err := json.Unmarshal(o.event.Data, &plain); err != nil {
		return nil, err
	}
	personal, err := o.reveal(o.Customer.ID, o.event.Personal, o.event.ID)
	if err != nil {
		return nil, err
	}
	data := values(merge(plain, personal))
	if o.action == "checkout" && *o.bought != nil {
		data = joined(data, (*o.bought).Data)
	}
	return data, nil
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

func joined(first, second map[string]any) map[string]any {
	all := make(map[string]any, len(first)+len(second))
	maps.Copy(all, first)
	maps.Copy(all, second)
	return all
}

func values(raw map[string]json.RawMessage) map[string]any {
	all := make(map[string]any, len(raw))
	for name, value := range raw {
		all[name] = value
	}
	return all
}

func (r *Run) purchaseFacts(t *Transaction) (*condition.Transaction, error) {
	personal, err := r.openBought(t, t.Detail.Personal, t.Checkout, nil)
	if err != nil {
		return nil, err
	}
	text := func(name string) (s string) {
		if raw, ok := t.Detail.Attributes[name]; ok && json.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	}
	f := &condition.Transaction{
		ID: t.Name, Status: string(t.State), Currency: text("currency"), Country: text("country"),
		Channel: text("channel"), Store: text("store"),
		Total: units(t.Total), OriginalTotal: units(t.OriginalTotal), Refunded: units(t.Refunded),
		Earned: t.Earned, Burned: t.Burned, CheckoutDate: t.CheckoutDate, Data: values(merge(t.Detail.Attributes, personal)),
	}
	for i := range t.Detail.Items {
		item, err := r.lineFacts(t, &t.Detail.Items[i])
		if err != nil {
			return nil, err
		}
		f.Items = append(f.Items, item)
	}
	return f, nil
}

func (r *Run) lineFacts(t *Transaction, l *Line) (condition.Item, error) {
	own, err := r.openBought(t, l.Personal, l.Event, nil)
	if err != nil {
		return condition.Item{}, err
	}
	data := merge(l.Data, own)
	text := func(name string) (s string) { _ = json.Unmarshal(data[name], &s); return s }
	amount := func(name string) (n float64) { _ = json.Unmarshal(data[name], &n); return n }
	return condition.Item{
		ProductID: l.ProductID, ProductName: text("product_name"), ProductCategory: text("product_category"),
		Quantity: l.Quantity, Subtotal: units(l.Subtotal), Price: amount("price"), Discount: amount("discount"), Data: values(data),
	}, nil
}

// units is money as a condition compares it; it decides with it and books nothing.
func units(a money.Amount) float64 { f, _ := a.Decimal().Float64(); return f }

// customerFacts is the customer as conditions see one.
func customerFacts(r *Run) condition.Customer {
	c, p, f := r.Customer, &r.Customer.Profile, r.Book.Figures
	return condition.Customer{
		ID: c.Name, Status: string(c.Status), Handler: p.Handler, Email: p.Email, FirstName: p.FirstName, LastName: p.LastName,
		Language: p.Language, Currency: p.Currency, Gender: p.Gender, ImageURL: p.ImageURL, BirthDate: p.BirthDate,
		Labels: p.Labels, ExternalIDs: maps.Clone(p.ExternalIDs), CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Score: f.Score, Spent: f.Spent, Reserved: f.Reserved, Expired: f.Expired, Pending: f.Pending,
		Spendable: f.Spendable(), Debt: f.Debt, Custom: values(p.Custom),
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
