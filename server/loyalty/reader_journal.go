package loyalty

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// EventQuery selects events. Fields that may be filtered and sorted: action, date
// (when it took effect), points (0 where it did nothing) and expdate.
type EventQuery struct {
	// Customer is whose events are wanted, with those of the customers merged into
	// them; zero: everybody's.
	Customer ID
	// Ref names the customer instead, as Reader.Customer takes it.
	Ref string
	// Transaction limits the list to the events of a purchase; it needs Customer or Ref, and
	// with Ref the purchase has to be theirs: else it is ErrTransactionNotFound.
	Transaction string
	Conditions  []Condition
	// Sort: without it the newest recorded come first, of one customer in the order
	// of their stream. In that order, and by date alone, the list goes by cursor: the
	// instant of EventPage.Place and the id. Any other order goes by offset.
	Sort []Sorting
	// OldestFirst turns the order round that the list has without Sort.
	OldestFirst bool
	Page        Page
}

// EventPage is a part of the journal, with what its events need to be shown.
type EventPage struct {
	Customer Customer // where Ref named one
	Events   []Event  // with Change; of Effects some have what names another customer
	// More says that the page ended before its limit because of its size: there is
	// more for certain.
	More bool
	// Customers are those whose events these are and those whom their attributes
	// name; of a merged one the one they became part of.
	Customers map[ID]Person
	// Keys are those that open what is personal, by the customer of the row; gone
	// where they left.
	Keys map[ID][]byte
	// Parents are the events under which those that inherit (Event.Inherits) were
	// written: ID, Customer, Action, Data, Personal and, of Effects, Bequest.
	Parents map[ID]Event

	bequests map[ID]map[string]json.RawMessage // what Parents left, once it was asked for
	weights  map[ID]int                        // how many bytes that is
}

// TransactionQuery selects purchases of a customer and of those merged into them.
// Fields that may be filtered: id, status, created_at, checkout_date, auto_accept,
// points_rewarded (before refunds), earned, burned. All but id sort.
type TransactionQuery struct {
	Customer   ID
	Ref        string // names the customer instead, as Reader.Customer takes it
	Named      string // or a purchase, whose holder is meant
	Conditions []Condition
	// Sort goes by offset. Without it the newest come first, by CreatedAt and then
	// Checkout, which are the cursor.
	Sort []Sorting
	Page Page
}

// TransactionPage is a part of a customer's purchases.
type TransactionPage struct {
	Customer     Customer // where Ref or Named did, else the ID alone
	Transactions []Transaction
	// Moves are the events of each purchase that show points or have effects, in the
	// order of their ids, without their attributes.
	Moves map[string][]Event
	// Keys are those of the customer and of everybody merged into them.
	Keys [][]byte
}

// moveWeight is about what one move takes in the breakdown of a purchase.
const moveWeight = 200

// Weight is Weight of a purchase with all that is shown of it.
func (p *TransactionPage) Weight(t *Transaction) int {
	return Weight(t) + moveWeight*len(p.Moves[t.Name])
}

// eventWeight is about what is shown of an event besides its attributes.
const eventWeight = 400

// Weight is about how many bytes of text an event has, its effects left out.
func (e *Event) Weight() int { return eventWeight + len(e.Data) + len(e.Personal) }

// Weight is Weight of an event with what it inherits.
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
	// Transactions lists purchases; likewise, and with ErrTransactionNotFound where Named
	// is no purchase.
	Transactions(ctx context.Context, q TransactionQuery) (TransactionPage, error)
}

// otherCustomer is the attribute of an event that names another customer by their
// internal id: what they are called may change, and is forgotten when they leave.
var otherCustomer = map[string]string{
	"coupon_transfer": "target", "coupon_receive": "original",
	"reward_transfer": "target", "reward_receive": "original",
	"opt_in": "referrer",
}

// EffectsShown are the actions of which a list needs the effects: they name the other
// customer, or the one whose points the event moved as well.
var EffectsShown = []string{"opt_in", "merge"}

// Other is the customer whom the event's attributes name by an internal id. It may
// be no customer, where it is the caller's own text.
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

// Attributes are the event's attributes as its customer's caller knows them: the
// personal ones as long as they can be read, those that a line inherits behind its
// own, other customers by their names. One who left is not named.
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

// Attributes are the attributes of a line, the personal ones as long as one of the
// keys opens them: a merge leaves a purchase under the key that it was sealed with.
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

// Place is where an event stands in its list: in one customer's stream and in
// everybody's the instant of recording, by date that of its effect.
func (q *EventQuery) Place(e *Event) Cursor {
	if len(q.Sort) > 0 {
		return Cursor{At: e.At, ID: e.ID}
	}
	return Cursor{At: e.RecordedAt, ID: e.ID}
}

// ByCursor reports whether the list has places to go by.
func (q *EventQuery) ByCursor() bool {
	return len(q.Sort) == 0 || len(q.Sort) == 1 && q.Sort[0].Field == "date"
}

// Attribute returns a text among the attributes of the checkout; empty if there is none.
func (t *Transaction) Attribute(name string) string { return TextOf(t.Detail.Attributes[name]) }

// rejoin puts personal attributes back among the others. A list of objects was taken
// apart element by element; that of a checkout's lines is told by their own events.
func rejoin(data, personal map[string]json.RawMessage) {
	for name, sealed := range personal {
		plain, both := data[name]
		var shown, hidden []map[string]json.RawMessage
		switch {
		case !both && name == "items":
			continue
		case both && json.Unmarshal(plain, &shown) == nil && json.Unmarshal(sealed, &hidden) == nil && len(shown) == len(hidden):
			for i := range shown {
				shown[i] = MergeAttributes(shown[i], hidden[i])
			}
			sealed = JSON(shown)
		}
		data[name] = sealed
	}
}

// PastEvent is an event of the journal as a backtest looks at it.
type PastEvent struct {
	Event
	Issued int64 // points that came into being for the customer, none of them pending
	Held   bool  // it waited for its validation: nothing happened then
}

// PastQuery selects events of the journal by their actions, in the order of their
// recording: those recorded from From on, before Before, behind After (zero: all).
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
