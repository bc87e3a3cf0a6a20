package loyalty

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// EventQuery selects events. Fields that may be filtered and sorted: action, date (when it took effect), points (0 if
// it had none) and expdate.
type EventQuery struct {
	// Customer limits the list to the events of a customer and of those merged into them; zero: no limit.
	Customer ID
	// Ref names the customer instead, as Reader.Customer takes it.
	Ref string
	// Transaction limits the list to the events of a purchase; it needs Customer or Ref. With Ref the purchase must
	// belong to that customer, otherwise it is ErrTransactionNotFound.
	Transaction string
	Conditions  []Condition
	// Sort is the order. Without it the newest recorded come first, for one customer in the order of their stream. In
	// that order, and by date alone, the list goes by cursor: the instant of EventPage.Place and the id. Any other
	// order goes by offset.
	Sort []Sorting
	// OldestFirst reverses the order that the list has without Sort.
	OldestFirst bool
	Page        Page
}

// EventPage is a part of the journal, with what its events need to be shown.
type EventPage struct {
	Customer Customer // set if Ref named one
	Events   []Event  // with Change, and with those Effects that name another customer
	// More says that the page ended before its limit because of its size, so more events follow.
	More bool
	// Customers are the customers of the events, and those that their attributes name; for a merged customer the target
	// of the merge.
	Customers map[ID]Person
	// Keys open the personal attributes, by the customer of the row; missing for customers who left.
	Keys map[ID][]byte
	// Parents are the events under which inheriting events (Event.Inherits) were written: ID, Customer, Action, Data,
	// Personal and, of Effects, Bequest.
	Parents map[ID]Event

	bequests map[ID]map[string]json.RawMessage // the opened attributes of Parents, on first use
	weights  map[ID]int                        // their size in bytes
}

// TransactionQuery selects purchases of a customer and of those merged into them. Fields that may be filtered: id,
// status, created_at, checkout_date, auto_accept, points_rewarded (before refunds), earned, burned. All but id sort.
type TransactionQuery struct {
	Customer   ID
	Ref        string // names the customer instead, as Reader.Customer takes it
	Named      string // or names a purchase, whose holder is meant
	Conditions []Condition
	// Sort goes by offset. Without it the newest come first, by CreatedAt and then Checkout, which are the cursor.
	Sort []Sorting
	Page Page
}

// TransactionPage is a part of a customer's purchases.
type TransactionPage struct {
	Customer     Customer // set if Ref or Named named one, otherwise only the ID
	Transactions []Transaction
	// Moves are the events of each purchase that show points or have effects, in the order of their ids, without their
	// attributes.
	Moves map[string][]Event
	// Keys are those of the customer and of all customers merged into them.
	Keys [][]byte
}

// moveWeight is the approximate size of one move in the breakdown of a purchase.
const moveWeight = 200

// Weight is the approximate number of bytes of a purchase with all that is shown of it.
func (p *TransactionPage) Weight(t *Transaction) int {
	return Weight(t) + moveWeight*len(p.Moves[t.Name])
}

// eventWeight is the approximate size of a shown event besides its attributes.
const eventWeight = 400

// Weight is the approximate number of bytes of text of an event, without its effects.
func (e *Event) Weight() int { return eventWeight + len(e.Data) + len(e.Personal) }

// Weight is the approximate number of bytes of text of an event with what it inherits.
func (p *EventPage) Weight(e *Event) int {
	n := e.Weight()
	inherited, err := p.inherited(e)
	if err != nil || len(inherited) == 0 {
		return n
	}

	size, known := p.weights[e.Parent]
	if !known {
		if p.weights == nil {
			p.weights = map[ID]int{}
		}
		size = Weight(inherited)
		p.weights[e.Parent] = size
	}

	return n + size
}

// JournalReader answers questions about what happened.
type JournalReader interface {
	// Events lists events. It fails with ErrCustomerNotFound if Ref matches no customer.
	Events(ctx context.Context, q EventQuery) (EventPage, error)
	// Transactions lists purchases. It fails as Events does, and with ErrTransactionNotFound if Named is no purchase.
	Transactions(ctx context.Context, q TransactionQuery) (TransactionPage, error)
}

// otherCustomer is the attribute of an event that names another customer, by internal id: the customer's name may
// change, and is forgotten when they leave.
var otherCustomer = map[string]string{
	"coupon_transfer": "target", "coupon_receive": "original",
	"reward_transfer": "target", "reward_receive": "original",
	"opt_in": "referrer",
}

// EffectsShown are the actions whose effects a list needs: they name the other customer, or the one whose points the
// event moved as well.
var EffectsShown = []string{"opt_in", "merge"}

// Other is the customer that the event's attributes name by an internal id. It may be no customer if the attribute is
// the caller's own text.
func (e *Event) Other() (other ID, named bool) {
	attribute, names := otherCustomer[e.Action]
	switch {
	case !names:
		return ID{}, false
	case e.Effects != nil && e.Effects.Referrer != nil:
		return *e.Effects.Referrer, true
	}
	var data map[string]json.RawMessage
	if json.Unmarshal(e.Data, &data) != nil {
		return ID{}, false
	}
	id, err := uuid.Parse(TextOf(data[attribute]))
	return id, err == nil
}

// Attributes are the event's attributes as its customer's caller knows them: the personal ones as long as they can be
// read, inherited ones of a line after its own, and other customers by their names. A customer who left is not named.
func (p *EventPage) Attributes(e *Event) (json.RawMessage, error) {
	other, named := e.Other()
	who, known := p.Customers[other]
	named = named && known
	key := p.Keys[e.Customer]
	inherited, err := p.inherited(e)
	if err != nil {
		return nil, err
	}
	if !named && len(inherited) == 0 && (e.Personal == nil || key == nil) {
		return e.Data, nil
	}

	data, err := Members(e.Data)
	if err != nil {
		return nil, err
	}

	if e.Personal != nil && key != nil {
		personal, err := OpenAttributes(key, e.Personal, e.ID)
		if err != nil {
			return nil, err
		}
		rejoin(data, personal)
	}

	if len(inherited) > 0 {
		data = MergeAttributes(inherited, data)
	}

	if attribute := otherCustomer[e.Action]; named && who.Status == OptedOut {
		delete(data, attribute)
	} else if named {
		data[attribute] = JSON(who.Name)
	}

	return Object(data), nil
}

// Attributes are the attributes of a line, the personal ones as long as one of the keys opens them: a merge leaves a
// purchase under the key that it was sealed with.
func (l *Line) Attributes(keys [][]byte) map[string]json.RawMessage {
	if l.Personal == nil {
		return l.Data
	}
	for _, key := range keys {
		if personal, err := OpenAttributes(key, l.Personal, l.Event); err == nil {
			return MergeAttributes(l.Data, personal)
		}
	}
	return l.Data
}

// Place is an event's position in its list: by the instant of recording, or in a list by date, by that of its effect.
func (q *EventQuery) Place(e *Event) Cursor {
	if len(q.Sort) > 0 {
		return Cursor{At: e.At, ID: e.ID}
	}
	return Cursor{At: e.RecordedAt, ID: e.ID}
}

// ByCursor reports whether the list goes by cursor.
func (q *EventQuery) ByCursor() bool {
	return len(q.Sort) == 0 || len(q.Sort) == 1 && q.Sort[0].Field == "date"
}

// Attribute returns a text among the attributes of the checkout; empty if there is none.
func (t *Transaction) Attribute(name string) string { return TextOf(t.Detail.Attributes[name]) }

// rejoin puts personal attributes back among the others. A list of objects was split element by element; the lines of a
// checkout have events of their own.
func rejoin(data, personal map[string]json.RawMessage) {
	for name, sealed := range personal {
		plain, both := data[name]
		var shown, hidden []map[string]json.RawMessage
		switch {
		case !both && name == "items":
			continue
		case both && json.Unmarshal(plain, &shown) == nil && json.Unmarshal(sealed, &hidden) == nil &&
			len(shown) == len(hidden):
			for i := range shown {
				shown[i] = MergeAttributes(shown[i], hidden[i])
			}
			sealed = JSON(shown)
		}
		data[name] = sealed
	}
}

// PastEvent is an event of the journal for a backtest.
type PastEvent struct {
	Event
	Issued int64 // points that were issued to the customer, none of them pending
	Held   bool  // it waited for its validation and had no effect yet
}

// PastQuery selects events of the journal by their actions, in the order of recording: those recorded from From on,
// before Before, after After (zero: all).
type PastQuery struct {
	Actions      []string
	From, Before time.Time
	After        Cursor
	Limit        int
}

// PastStore reads the journal for backtests.
type PastStore interface {
	CountPast(ctx context.Context, q PastQuery) (int64, error)
	PastEvents(ctx context.Context, q PastQuery) ([]PastEvent, error)
}
