package condition

import (
	"slices"
	"strings"
	"time"
)

// field is one fact: its kind, and the function that reads it. A field of kind object or list has the kind of its
// elements.
type field struct {
	kind  kind
	holds kind

	several bool // it can hold several texts under one name

	words []string // the only words that a text can have; nil: any
	read  func(*frame) value

	id       bool // it is an id, or holds some: blanks around one are no part of it
	personal bool // it identifies a person, or is about one
}

// dataField is the object of the attributes that callers sent.
const dataField = "data"

// fields are the names of the language, by record.
var fields = map[string]map[string]field{
	"event":       eventFields,
	"customer":    withProfile(customerFields),
	"transaction": transactionFields,
	"item":        itemFields(),
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

var eventFields = map[string]field{
	"action":    {kind: text, read: func(f *frame) value { return fieldText(f.facts.Event.Action) }},
	"data":      {kind: object, read: func(f *frame) value { return value{kind: object, ref: f.facts.Event.Data} }},
	"timestamp": {kind: instant, read: timestamp},
	"points":    {kind: number, read: func(f *frame) value { return integer(f.facts.Event.Points) }},
	"weekday": {kind: text, words: weekdays, read: func(f *frame) value {
		return textOf(weekdays[f.local().Weekday()])
	}},
	"hour":      {kind: number, read: func(f *frame) value { return integer(int64(f.local().Hour())) }},
	"day":       {kind: text, read: func(f *frame) value { return textOf(f.local().Format(time.DateOnly)) }},
	"month":     {kind: number, read: func(f *frame) value { return integer(int64(f.local().Month())) }},
	"year":      {kind: number, read: func(f *frame) value { return integer(int64(f.local().Year())) }},
	"month_day": {kind: text, read: func(f *frame) value { return textOf(f.local().Format(monthDay)) }},
}

func timestamp(f *frame) value { return instantOf(f.facts.Event.Timestamp) }

// profileTexts are the fields of a customer that are texts of the profile.
var profileTexts = []string{"handler", "email", "first_name", "last_name", "gender", "image_url",
	"birth_date", "language", "currency"}

// sharedTexts are the profile texts that many customers have in common, so that they identify none.
var sharedTexts = []string{"language", "currency"}

// withProfile adds the texts of the profile to the fields of a customer: one list for
// conditions, actions and answers.
func withProfile(all map[string]field) map[string]field {
	for _, name := range profileTexts {
		all[name] = field{kind: text, personal: !slices.Contains(sharedTexts, name),
			read: func(f *frame) value { return fieldText(f.facts.Customer.text(name)) }}
	}
	return all
}

var customerFields = map[string]field{
	"id":          {kind: text, id: true, read: func(f *frame) value { return fieldText(f.facts.Customer.ID) }},
	"status":      {kind: text, read: func(f *frame) value { return fieldText(f.facts.Customer.Status) }},
	"referrer":    {kind: text, id: true, read: func(f *frame) value { return fieldText(f.facts.Customer.Referrer) }},
	"birthday":    {kind: text, personal: true, read: birthday},
	"birth_month": {kind: number, personal: true, read: birthMonth},
	"age":         {kind: number, personal: true, read: age},
	"labels":      {kind: list, holds: text, personal: true, read: labels},
	"lists": {kind: list, holds: text, id: true,
		read: func(f *frame) value { return value{kind: list, ref: (*texts)(&f.facts.Customer.Lists)} }},
	"external_ids": {kind: object, holds: text, id: true, several: true, personal: true,
		read: func(f *frame) value { return value{kind: object, ref: f.facts.Customer.ExternalIDs} }},
	"tiers": {kind: object, holds: text, id: true,
		read: func(f *frame) value { return value{kind: object, ref: f.facts.Customer.Tiers} }},
	"created_at": {kind: instant, read: func(f *frame) value { return instantOf(f.facts.Customer.CreatedAt) }},
	"updated_at": {kind: instant, read: func(f *frame) value { return instantOf(f.facts.Customer.UpdatedAt) }},
	"score":      {kind: number, read: func(f *frame) value { return integer(f.facts.Customer.Score) }},
	"spent":      {kind: number, read: func(f *frame) value { return integer(f.facts.Customer.Spent) }},
	"reserved":   {kind: number, read: func(f *frame) value { return integer(f.facts.Customer.Reserved) }},
	"expired":    {kind: number, read: func(f *frame) value { return integer(f.facts.Customer.Expired) }},
	"pending":    {kind: number, read: func(f *frame) value { return integer(f.facts.Customer.Pending) }},
	"spendable":  {kind: number, read: func(f *frame) value { return integer(f.facts.Customer.Spendable) }},
	"debt":       {kind: number, read: func(f *frame) value { return integer(f.facts.Customer.Debt) }},
}

func labels(f *frame) value { return value{kind: list, ref: (*texts)(&f.facts.Customer.Labels)} }

var transactionFields = map[string]field{
	"id":             identifying(ofTransaction(text, func(t *Transaction) value { return fieldText(t.ID) })),
	"status":         ofTransaction(text, func(t *Transaction) value { return fieldText(t.Status) }),
	"currency":       ofTransaction(text, func(t *Transaction) value { return fieldText(t.Currency) }),
	"country":        ofTransaction(text, func(t *Transaction) value { return fieldText(t.Country) }),
	"channel":        ofTransaction(text, func(t *Transaction) value { return fieldText(t.Channel) }),
	"store":          identifying(ofTransaction(text, func(t *Transaction) value { return fieldText(t.Store) })),
	"total":          ofTransaction(number, func(t *Transaction) value { return decimal(t.Total) }),
	"total_in_base":  ofTransaction(number, totalInBase),
	"original_total": ofTransaction(number, func(t *Transaction) value { return decimal(t.OriginalTotal) }),
	"refunded":       ofTransaction(number, func(t *Transaction) value { return decimal(t.Refunded) }),
	"earned":         ofTransaction(number, func(t *Transaction) value { return integer(t.Earned) }),
	"burned":         ofTransaction(number, func(t *Transaction) value { return integer(t.Burned) }),
	"checkout_date":  ofTransaction(instant, func(t *Transaction) value { return instantOf(t.CheckoutDate) }),
	"data":           ofTransaction(object, func(t *Transaction) value { return value{kind: object, ref: t.Data} }),
	"items":          transactionItems,
}

func totalInBase(t *Transaction) value {
	if t.TotalInBase == nil {
		return nothing
	}
	return decimal(*t.TotalInBase)
}

var transactionItems = field{kind: list, holds: line, read: ofTransaction(list, func(t *Transaction) value {
	return value{kind: list, ref: (*lines)(&t.Items)}
}).read}

func ofTransaction(k kind, read func(*Transaction) value) field {
	return field{kind: k, read: func(f *frame) value {
		if f.facts.Transaction == nil {
			return nothing
		}
		return read(f.facts.Transaction)
	}}
}

func identifying(f field) field {
	f.id = true
	return f
}

// productID is the field of a line that is an id.
const productID = "product_id"

// lineField is a field of a line, read from the line at hand.
type lineField struct {
	kind kind
	read func(*Item) value
}

// The same fields are read of item, the line at hand, and of every element of transaction.items.
var lineFields = map[string]lineField{
	productID:          {text, func(i *Item) value { return fieldText(i.ProductID) }},
	"product_name":     {text, func(i *Item) value { return fieldText(i.ProductName) }},
	"product_category": {text, func(i *Item) value { return fieldText(i.ProductCategory) }},
	"quantity":         {number, func(i *Item) value { return integer(i.Quantity) }},
	"subtotal":         {number, func(i *Item) value { return decimal(i.Subtotal) }},
	"price":            {number, func(i *Item) value { return decimal(i.Price) }},
	"discount":         {number, func(i *Item) value { return decimal(i.Discount) }},
	"data":             {object, func(i *Item) value { return value{kind: object, ref: i.Data} }},
}

// itemFields are the fields of item. They are absent unless the condition is evaluated line by line.
func itemFields() map[string]field {
	all := make(map[string]field, len(lineFields))
	for name, of := range lineFields {
		all[name] = field{kind: of.kind, id: name == productID, read: func(f *frame) value {
			if f.facts.Item == nil {
				return nothing
			}
			return of.read(f.facts.Item)
		}}
	}
	return all
}

const monthDay = "01-02"

// birthDate reads the day of birth. Callers send it as text, so unreadable text counts as absent.
func birthDate(f *frame) (time.Time, bool) {
	date := f.facts.Customer.text("birth_date")
	if date == "" {
		return time.Time{}, false
	}
	born, err := time.Parse(time.DateOnly, date)
	return born, err == nil
}

// birthday is the day of the event's year on which the customer has birthday: 29 February is 28 February in other
// years.
func birthday(f *frame) value {
	born, ok := birthDate(f)
	if !ok {
		return nothing
	}
	day := born.Format(monthDay)
	if y := f.local().Year(); day == "02-29" && time.Date(y, time.February, 29, 0, 0, 0, 0, time.UTC).Day() != 29 {
		day = "02-28"
	}
	return textOf(day)
}

// birthMonth is 1 to 12.
func birthMonth(f *frame) value {
	born, ok := birthDate(f)
	if !ok {
		return nothing
	}
	return integer(int64(born.Month()))
}

// age is in whole years, on the event's day.
func age(f *frame) value {
	born, ok := birthDate(f)
	if !ok {
		return nothing
	}
	years := f.local().Year() - born.Year()
	// compared as texts, whose order in this format is that of the days
	if f.local().Format(monthDay) < birthday(f).s {
		years--
	}
	return integer(int64(years))
}

// names lists the fields of a record, for the message about a misspelt one.
func names[F any](of map[string]F) string {
	all := make([]string, 0, len(of))
	for name := range of {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
