package api

import (
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// outcomeRoom is the initial capacity for an answer to an event, in bytes.
const outcomeRoom = 1024

// OutcomeWithCustomer renders the whole answer to an event, with the same result as WithCustomer.
func OutcomeWithCustomer(language *Localizer, o loyalty.Outcome) []byte {
	out := outcomeOf(language, o)
	out.Customer = Summary(o.Customer, false)
	return out.AppendJSON(make([]byte, 0, outcomeRoom))
}

// Outcome renders the result of an event, without the customer. Events name no person, so suppressing personal data
// leaves out only the customer.
func Outcome(language *Localizer, o loyalty.Outcome) []byte {
	out := outcomeOf(language, o)
	return out.AppendJSON(make([]byte, 0, outcomeRoom))
}

func outcomeOf(language *Localizer, o loyalty.Outcome) events.EventOutcome {
	return events.EventOutcome{Events: Recorded(o.Events), Warnings: WarningsOf(language, o.Warnings)}
}

// CustomerBlock renders the customer of an event; nil without one.
func CustomerBlock(o loyalty.Outcome) []byte {
	c := Summary(o.Customer, false)
	if c == nil {
		return nil
	}
	return c.AppendJSON(make([]byte, 0, outcomeRoom))
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
		out[i] = events.RecordedEvent{ID: e.ID, Action: e.Action, Change: e.Change}
		if !e.ExpDate.IsZero() {
			out[i].Expdate = (*common.Instant)(&e.ExpDate)
		}
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
