package api

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The answer to an event is written without reflection, because every purchase waits for it. The bytes are those of the
// contract's types, which a test checks.

// The initial capacity for the parts of an answer, in bytes.
const (
	customerRoom = 320
	eventRoom    = 192
)

// OutcomeWithCustomer renders the whole answer to an event at once, with the same result as WithCustomer.
func OutcomeWithCustomer(language *Localizer, o loyalty.Outcome) []byte {
	if o.Customer.ID == (loyalty.ID{}) {
		return AppendOutcome(nil, language, o)
	}
	b := append(make([]byte, 0, 64+customerRoom+eventRoom*len(o.Events)), `{"customer":`...)
	b = appendSummary(b, &o.Customer)
	at := len(b)
	b = AppendOutcome(b, language, o)
	b[at] = ',' // the beginning of the outcome's object
	return b
}

// AppendOutcome renders the result of an event, without the customer. Events name no person, so suppressing personal
// data leaves out only the customer.
func AppendOutcome(b []byte, language *Localizer, o loyalty.Outcome) []byte {
	if b == nil {
		b = make([]byte, 0, 32+eventRoom*len(o.Events))
	}

	b = append(b, `{"events":[`...)
	for i := range o.Events {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRecorded(b, &o.Events[i])
	}

	b = append(b, ']')
	if len(o.Warnings) > 0 {
		b = append(append(b, `,"warnings":`...), Marshal(WarningsOf(language, o.Warnings))...)
	}

	return append(b, '}')
}

// appendRecorded writes an events.RecordedEvent.
func appendRecorded(b []byte, e *loyalty.Event) []byte {
	b = appendText(append(b, `{"action":`...), e.Action)
	b = strconv.AppendInt(append(b, `,"change":`...), e.Change, 10)
	if !e.ExpDate.IsZero() {
		b = appendInstant(append(b, `,"expdate":`...), e.ExpDate)
	}

	b = appendID(append(b, `,"id":`...), e.ID)
	if e.Parent != (loyalty.ID{}) {
		b = appendID(append(b, `,"parent":`...), e.Parent)
	}

	points := int64(0)
	if e.Points != nil {
		points = *e.Points
	}

	return append(strconv.AppendInt(append(b, `,"points":`...), points, 10), '}')
}

// CustomerBlock renders the customer of an event, a common.CustomerSummary; nil without one.
func CustomerBlock(o loyalty.Outcome) []byte {
	if o.Customer.ID == (loyalty.ID{}) {
		return nil
	}
	return appendSummary(make([]byte, 0, customerRoom), &o.Customer)
}

func appendSummary(b []byte, c *loyalty.Customer) []byte {
	p := c.Profile
	if c.Status == loyalty.OptedOut {
		p = loyalty.Profile{} // only hashes are left of it
	}

	b = appendInstant(append(b, `{"created_at":`...), c.CreatedAt)
	b = appendTextOf(b, `,"currency":`, p.Currency)
	b = appendTextOf(b, `,"email":`, p.Email)
	b = appendTextOf(b, `,"first_name":`, p.FirstName)
	b = appendTextOf(b, `,"handler":`, p.Handler)
	b = appendText(append(b, `,"id":`...), c.Name)
	b = appendTextOf(b, `,"language":`, p.Language)
	b = appendTextOf(b, `,"last_name":`, p.LastName)
	f := &c.Figures
	b = strconv.AppendInt(append(b, `,"pending":`...), f.Pending, 10)
	b = strconv.AppendInt(append(b, `,"reserved":`...), f.Reserved, 10)
	b = strconv.AppendInt(append(b, `,"score":`...), f.Score, 10)
	b = strconv.AppendInt(append(b, `,"spendable":`...), f.Spendable(), 10)
	b = strconv.AppendInt(append(b, `,"spent":`...), f.Spent, 10)
	return append(appendText(append(b, `,"status":`...), string(c.Status)), '}')
}

// appendTextOf writes a property unless it is empty.
func appendTextOf(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendText(append(b, name...), s)
}

func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, _ := json.Marshal(s) // a text always marshals
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendInstant(b []byte, t time.Time) []byte {
	return append(common.Instant(t).Append(append(b, '"')), '"')
}

func appendID(b []byte, id loyalty.ID) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i, c := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b = append(b, '-')
		}
		b = append(b, digits[c>>4], digits[c&15])
	}
	return append(b, '"')
}

// WarningsOf renders the warnings of a purchase: the parts that were not recorded.
func WarningsOf(language *Localizer, list []*loyalty.Error) []common.Warning {
	var out []common.Warning
	for _, w := range list {
		warning := common.Warning{Code: w.Code, Message: Message(language, w.Name, w.Args)}
		if len(w.Details) > 0 {
			warning.Field = w.Details[0].Field
		}
		out = append(out, warning)
	}
	return out
}

// Recorded are events as the answer to their submission lists them.
func Recorded(list []loyalty.Event) []events.RecordedEvent {
	out := make([]events.RecordedEvent, len(list))
	for i := range list {
		e := &list[i]
		out[i] = events.RecordedEvent{ID: e.ID, Action: e.Action, Change: e.Change, Expdate: InstantOrNil(e.ExpDate)}
		if e.Points != nil {
			out[i].Points = *e.Points
		}
		if e.Parent != (loyalty.ID{}) {
			out[i].Parent = &e.Parent
		}
	}
	return out
}

// Summary is the customer after an event; nil without one.
func Summary(c loyalty.Customer, suppress bool) *common.CustomerSummary {
	if suppress || c.ID == (loyalty.ID{}) {
		return nil
	}

	out := &common.CustomerSummary{
		ID: c.Name, CreatedAt: common.Instant(c.CreatedAt), Status: common.CustomerStatus(c.Status),
		Score: c.Figures.Score, Spent: c.Figures.Spent, Pending: c.Figures.Pending,
		Reserved: c.Figures.Reserved, Spendable: c.Figures.Spendable(),
	}

	if c.Status == loyalty.OptedOut {
		return out // only hashes are left of the profile
	}

	p := c.Profile
	out.Handler, out.Language, out.Currency = TextOrNil(p.Handler), TextOrNil(p.Language), TextOrNil(p.Currency)
	out.FirstName, out.LastName, out.Email = TextOrNil(p.FirstName), TextOrNil(p.LastName), TextOrNil(p.Email)
	return out
}
