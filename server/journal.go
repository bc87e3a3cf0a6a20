package server

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// What happened, as the Display API and the Loyalty Read API list it.

// journal is a page of the journal, worded.
type journal struct {
	list.Links[loyalty.Event]
	data []common.JournalEvent
}

// history finds whose events or purchases are asked for, with everything that was
// due applied: a merged customer is the one they became part of.
func (s *Server) history(ctx context.Context, ref string) (loyalty.ID, error) {
	c, err := (&customersAPI{s}).settled(plain(ctx), ref)
	return c.ID, err
}

// events reads and words a page of events; readable is false where a filter can
// find nothing.
func (s *Server) events(ctx context.Context, p list.Page, q loyalty.EventQuery, readable bool) (journal, error) {
	var found loyalty.EventPage
	at := func(e loyalty.Event) list.Cursor {
		place := q.Place(&e)
		return list.Cursor{At: place.At, ID: place.ID[:]}
	}
	if !q.ByCursor() {
		p.Cursor, at = nil, nil
	}
	if readable {
		var err error
		q.Page = p.Store()
		if found, err = s.reader.Events(plain(ctx), q); err != nil {
			return journal{}, err
		}
	}
	p.More = found.More
	j := journal{Links: list.LinkedBy(p, found.Events, s.clock(), at, found.Weight)}
	j.data = make([]common.JournalEvent, len(j.Entries))
	for i := range j.Entries {
		var err error
		if j.data[i], err = s.journalEvent(requestOf(ctx).language, &found, &j.Entries[i]); err != nil {
			return j, err
		}
	}
	return j, nil
}

// journalEvent words an event. Of a customer who left nothing is said but what
// happened.
func (s *Server) journalEvent(language *tongue, page *loyalty.EventPage, e *loyalty.Event) (common.JournalEvent, error) {
	out := common.JournalEvent{
		ID: e.ID, Action: e.Action, Label: s.label(language, e.Action), Change: e.Change, Timestamp: common.Instant(e.At),
		TransactionID: textOrNil(e.Transaction), Expdate: instantOrNil(e.ExpDate),
	}
	if e.Points != nil {
		out.Points = *e.Points
	}
	if e.Parent != (loyalty.ID{}) {
		out.Parent = &e.Parent
	}
	if c, known := page.Customers[e.Customer]; known && c.Status != loyalty.OptedOut {
		out.Customer = &common.EventCustomer{ID: c.Name}
	}
	var err error
	out.Data, err = page.Attributes(e)
	if len(out.Data) == 0 {
		out.Data = json.RawMessage("{}")
	}
	return out, err
}

// label is what an action is called for a person; an action of the programme's own
// is called by its name.
func (s *Server) label(language *tongue, action string) string {
	key := "action." + action
	if text := language.message(key, nil); text != key {
		return text
	}
	return action
}

// purchases is a page of purchases, worded.
type purchases struct {
	list.Links[loyalty.Transaction]
	data []common.Transaction
}

// transactions reads and words a page of purchases; readable is false where a
// filter can find nothing.
func (s *Server) transactions(ctx context.Context, p list.Page, q loyalty.TransactionQuery, readable bool) (purchases, error) {
	var found loyalty.TransactionPage
	at := func(t loyalty.Transaction) list.Cursor { return list.Cursor{At: t.CreatedAt, ID: t.Checkout[:]} }
	if len(q.Sort) > 0 {
		p.Cursor, at = nil, nil
	}
	if readable {
		var err error
		q.Page = p.Store()
		if found, err = s.reader.Transactions(plain(ctx), q); err != nil {
			return purchases{}, err
		}
	}
	out := purchases{Links: list.LinkedBy(p, found.Transactions, s.clock(), at, found.Weight)}
	out.data = make([]common.Transaction, len(out.Entries))
	for i := range out.Entries {
		out.data[i] = s.transaction(requestOf(ctx).language, &found, &out.Entries[i])
	}
	return out, nil
}

// transaction words a purchase.
func (s *Server) transaction(language *tongue, page *loyalty.TransactionPage, t *loyalty.Transaction) common.Transaction {
	out := common.Transaction{
		ID: t.Name, Status: common.TransactionStatus(t.State), CreatedAt: common.Instant(t.CreatedAt), UpdatedAt: common.Instant(t.UpdatedAt),
		CheckoutDate: common.Instant(t.CheckoutDate), AutoAccept: instantOrNil(t.AutoAccept),
		Currency: textOrNil(t.Attribute("currency")), Channel: textOrNil(t.Attribute("channel")), Store: textOrNil(t.Attribute("store")),
		Total: t.Total, OriginalTotal: t.OriginalTotal, Refunded: t.Refunded,
		PointsRewarded: t.OriginalEarned, Earned: t.Earned, Burned: t.Burned,
		Items: make([]common.TransactionItem, len(t.Detail.Items)), Breakdown: []common.TransactionMove{},
	}
	for i := range t.Detail.Items {
		out.Items[i] = lineOf(&t.Detail.Items[i], page.Keys)
	}
	for _, m := range loyalty.Breakdown(t, page.Moves[t.Name]) {
		move := common.TransactionMove{
			ID: m.ID, Action: m.Action, Label: s.label(language, m.Action), Timestamp: common.Instant(m.At),
			Points: m.Worth, Change: m.Change, Earned: m.Earned,
		}
		if m.Parent != (loyalty.ID{}) {
			move.Parent = &m.Parent
		}
		out.Breakdown = append(out.Breakdown, move)
	}
	return out
}

// lineOf words a line with everything that was sent of it.
func lineOf(l *loyalty.Line, keys [][]byte) common.TransactionItem {
	line := map[string]any{}
	for name, value := range l.Attributes(keys) {
		line[name] = value
	}
	maps.Copy(line, map[string]any{
		"id": l.Event, "product_id": l.ProductID, "quantity": l.Quantity, "subtotal": l.Subtotal, "points": l.Points,
	})
	delete(line, "returned")
	if l.Returned != 0 {
		line["returned"] = l.Returned
	}
	return marshal(line)
}
