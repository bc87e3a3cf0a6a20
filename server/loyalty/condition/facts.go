package condition

import (
	"encoding/json"
	"time"
)

// Facts are what a condition reads. They may serve any number of conditions at once as long as they are not changed.
type Facts struct {
	Event       Event
	Customer    Customer
	Transaction *Transaction // the purchase the event belongs to; nil: none
	Item        *Item        // the line that the condition is about; nil: none
	// Location is the programme's time zone, in which days, weekdays and hours are counted. Nil is UTC.
	Location *time.Location
}

// Attributes are the fields of an object: a map[string]json.RawMessage, whose values are decoded only when a condition
// reads them, a map[string]any as JSON decodes them, or an Heir. Anything else has no fields.
type Attributes any

// Heir is attributes with inherited ones: thousands of lines share the attributes of one checkout without a copy for
// each.
type Heir struct {
	Own, From map[string]json.RawMessage // Own wins
}

// With returns the attributes in which a name is looked up.
func (h Heir) With(name string) map[string]json.RawMessage {
	if _, own := h.Own[name]; own {
		return h.Own
	}
	return h.From
}

// sent are attributes as JSON text.
type sent = map[string]json.RawMessage

// Event is the event that the condition is about.
type Event struct {
	Action    string
	Data      Attributes
	Timestamp time.Time // when it took effect; the only clock of a condition
	Points    int64     // its effect on the balance, in points
}

// Customer is the event's customer, with the fields of the Customers API. An
// empty text is a field that is not set. Figures are points.
type Customer struct {
	ID, Status                      string
	Profile                         Texts  // the texts of the profile; nil: none
	Referrer                        string // the caller's id of the customer who referred this one
	Labels                          []string
	ExternalIDs                     map[string][]string
	CreatedAt, UpdatedAt            time.Time
	Score, Spent, Reserved, Expired int64
	Pending, Spendable, Debt        int64
	Tiers                           map[string]string // tier reached, by structure
	Lists                           []string          // ids of the customer lists they are on
	Custom                          Attributes        // cf_* by full name
}

// Texts returns texts by name; empty if there is none.
type Texts interface{ Text(name string) string }

// text is a text of the customer's profile.
func (c *Customer) text(name string) string {
	if c.Profile == nil {
		return ""
	}
	return c.Profile.Text(name)
}

// Transaction is a purchase. Money is in units of its currency and may be a float here: a condition decides with it and
// never books it.
type Transaction struct {
	ID, Status                     string
	Currency, Country              string
	Channel, Store                 string
	Total, OriginalTotal, Refunded float64
	TotalInBase                    *float64 // in the programme's currency; nil: no exchange rate covers Currency
	Earned, Burned                 int64    // points
	CheckoutDate                   time.Time
	Items                          []Item
	Data                           Attributes // of the checkout
}

// Item is one line of a purchase. Money as in Transaction.
type Item struct {
	ProductID, ProductName, ProductCategory string
	Quantity                                int64
	Subtotal, Price, Discount               float64
	Data                                    Attributes // of the line
}
