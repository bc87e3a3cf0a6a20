package api

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
)

// Events and purchases as the Display API and the Loyalty Read API list them.

// JournalReader reads pages of events and of purchases.
type JournalReader struct {
	Reader    loyalty.Reader
	Customers CustomerReader
	Clock     func() time.Time
}

// Events reads a page of events; readable is false if a filter can find nothing.
func (r JournalReader) Events(
	ctx context.Context, p list.Page, q loyalty.EventQuery, readable bool,
) (l list.Links[common.JournalEvent], err error) {
	var found loyalty.EventPage
	at := func(e loyalty.Event) list.Cursor {
		place := q.Place(&e)
		return list.Cursor{At: place.At, ID: place.ID[:]}
	}

	if !q.ByCursor() {
		p.Cursor, at = nil, nil
	}

	q.Page = p.Store()
	err = r.Customers.page(Plain(ctx), q.Ref, readable, func() (_ loyalty.Customer, err error) {
		found, err = r.Reader.Events(Plain(ctx), q)
		return found.Customer, err
	})
	if err != nil {
		return l, err
	}

	p.More = found.More
	l = list.Render(list.LinkedBy(p, found.Events, r.Clock(), at, found.Weight),
		func(e *loyalty.Event) common.JournalEvent {
			out, failed := JournalEvent(RequestOf(ctx).Language, &found, e)
			if err == nil {
				err = failed
			}
			return out
		})

	return l, err
}

// JournalEvent renders an event, without the customer's data if the customer left.
func JournalEvent(language *Localizer, page *loyalty.EventPage, e *loyalty.Event) (common.JournalEvent, error) {
	out := common.JournalEvent{
		ID: e.ID, Action: e.Action, Label: language.label(e.Action), Change: e.Change, Timestamp: common.Instant(e.At),
		TransactionID: TextOrNil(e.Transaction), Expdate: InstantOrNil(e.ExpDate),
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

// Purchases reads a page of purchases; readable is false if a filter can find nothing.
func (r JournalReader) Purchases(
	ctx context.Context, p list.Page, q loyalty.TransactionQuery, readable bool,
) (list.Links[common.Transaction], error) {
	l, _, err := r.PurchasesOf(ctx, p, q, readable)
	return l, err
}

// PurchasesOf is purchases with their customer, if any purchase was read.
func (r JournalReader) PurchasesOf(
	ctx context.Context, p list.Page, q loyalty.TransactionQuery, readable bool,
) (l list.Links[common.Transaction], c loyalty.Customer, err error) {
	var found loyalty.TransactionPage
	at := func(t loyalty.Transaction) list.Cursor { return list.Cursor{At: t.CreatedAt, ID: t.Checkout[:]} }
	if len(q.Sort) > 0 {
		p.Cursor, at = nil, nil
	}

	q.Page = p.Store()
	err = r.Customers.page(Plain(ctx), cmp.Or(q.Ref, q.Named), readable, func() (_ loyalty.Customer, err error) {
		found, err = r.Reader.Transactions(Plain(ctx), q)
		return found.Customer, err
	})
	if err != nil {
		return l, found.Customer, err
	}

	return list.Render(list.LinkedBy(p, found.Transactions, r.Clock(), at, found.Weight),
		func(t *loyalty.Transaction) common.Transaction {
			return transactionOf(RequestOf(ctx).Language, &found, t)
		}), found.Customer, nil
}

// Purchase reads one purchase of a customer, or of any customer if ref is empty. It fails with
// loyalty.ErrTransactionNotFound.
func (r JournalReader) Purchase(ctx context.Context, ref, name string) (common.Transaction, loyalty.Customer, error) {
	q := loyalty.TransactionQuery{Ref: ref, Conditions: []loyalty.Condition{
		{Field: "id", Operator: loyalty.Eq, Values: []any{name}},
	}}
	if ref == "" {
		q.Named = name
	}

	found, c, err := r.PurchasesOf(ctx, list.Page{Limit: 1}, q, true)
	if err == nil && len(found.Entries) == 0 {
		err = loyalty.ErrTransactionNotFound
	}
	if err != nil {
		return common.Transaction{}, c, err
	}

	return found.Entries[0], c, nil
}

// transactionOf renders a purchase.
func transactionOf(language *Localizer, page *loyalty.TransactionPage, t *loyalty.Transaction) common.Transaction {
	out := common.Transaction{
		ID: t.Name, Status: common.TransactionStatus(t.State),
		CreatedAt: common.Instant(t.CreatedAt), UpdatedAt: common.Instant(t.UpdatedAt),
		CheckoutDate: common.Instant(t.CheckoutDate), AutoAccept: InstantOrNil(t.AutoAccept),
		Currency: TextOrNil(t.Attribute("currency")),
		Channel:  TextOrNil(t.Attribute("channel")), Store: TextOrNil(t.Attribute("store")),
		Total: money.Amount(t.Total), OriginalTotal: money.Amount(t.OriginalTotal), Refunded: money.Amount(t.Refunded),
		PointsRewarded: t.OriginalEarned, Earned: t.Earned, Burned: t.Burned,
		Items: make([]common.TransactionItem, len(t.Detail.Items)), Breakdown: []common.TransactionMove{},
	}

	if t.Detail.Returned {
		out.Returned = &t.Detail.Returned
	}

	for i := range t.Detail.Items {
		out.Items[i] = lineOf(&t.Detail.Items[i], page.Keys)
	}

	for _, m := range loyalty.Breakdown(t, page.Moves[t.Name]) {
		move := common.TransactionMove{
			ID: m.ID, Action: m.Action, Label: language.label(m.Action), Timestamp: common.Instant(m.At),
			Points: m.Worth, Change: m.Change, Earned: m.Earned,
		}
		if m.Parent != (loyalty.ID{}) {
			move.Parent = &m.Parent
		}
		out.Breakdown = append(out.Breakdown, move)
	}

	return out
}

// lineOf renders a line with all attributes that were sent.
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
	return Marshal(line)
}

// TransactionStates are the names of the states of a purchase.
func TransactionStates() (names []string) {
	for _, s := range loyalty.TransactionStates {
		names = append(names, string(s))
	}
	return names
}
