package display

import (
	"context"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// eventQuery reads the filters and the order of a list of events. Several parameters action match any of them.
func eventQuery(ctx context.Context, o list.Order) (q loyalty.EventQuery, readable bool) {
	query := api.RequestOf(ctx).Query
	var actions []any
	for _, p := range query {
		if p.Name == "action" {
			actions = append(actions, p.Value)
		}
	}

	rest := slices.DeleteFunc(slices.Clone(query), func(p list.Pair) bool { return p.Name == "action" })
	if q.Conditions, readable = list.Conditions(rest, api.RequestOf(ctx).Fields()); !readable {
		return q, false
	}
	if actions != nil {
		q.Conditions = append(q.Conditions, loyalty.Condition{Field: "action", Operator: loyalty.In, Values: actions})
	}
	if o.Column != "" {
		q.Sort = []loyalty.Sorting{{Field: o.Column, Descending: o.Descending}}
	}

	q.OldestFirst = o.OldestFirst()
	return q, true
}

// ListCustomerEvents lists the events of a customer.
func (a *API) ListCustomerEvents(
	ctx context.Context, in display.ListCustomerEventsRequestObject,
) (display.ListCustomerEventsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	q, readable := eventQuery(ctx, list.Ordered(in.Params.Sort, in.Params.Order))
	q.Ref = in.CustomerID
	j, err := a.Journal.Events(ctx, p, q, readable)
	return display.ListCustomerEvents200JSONResponse(api.AnswerOf(j)), err
}

// ListEvents lists the events of all customers.
func (a *API) ListEvents(
	ctx context.Context, in display.ListEventsRequestObject,
) (display.ListEventsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	q, readable := eventQuery(ctx, list.Ordered(in.Params.Sort, in.Params.Order))
	j, err := a.Journal.Events(ctx, p, q, readable)
	return display.ListEvents200JSONResponse(api.AnswerOf(j)), err
}

// ListTransactionEvents lists the events of a purchase.
func (a *API) ListTransactionEvents(
	ctx context.Context, in display.ListTransactionEventsRequestObject,
) (display.ListTransactionEventsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	j, err := a.Journal.Events(ctx, p, loyalty.EventQuery{Ref: in.CustomerID, Transaction: in.TransactionID}, true)
	return display.ListTransactionEvents200JSONResponse(api.AnswerOf(j)), err
}

// ListTransactions lists a customer's purchases.
func (a *API) ListTransactions(
	ctx context.Context, in display.ListTransactionsRequestObject,
) (display.ListTransactionsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	filters, readable := p.Conditions()
	for i := range filters {
		if filters[i].Field == "date" {
			filters[i].Field = "checkout_date"
		}
	}
	t, err := a.purchasesOf(ctx, p, in.CustomerID, filters, readable)
	return display.ListTransactions200JSONResponse(api.AnswerOf(t)), err
}

// purchasesOf lists the purchases of a customer that meet conditions.
func (a *API) purchasesOf(
	ctx context.Context, p list.Page, ref string, filters []loyalty.Condition, readable bool,
) (list.Links[common.Transaction], error) {
	return a.Journal.Purchases(ctx, p, loyalty.TransactionQuery{Ref: ref, Conditions: filters}, readable)
}

// GetTransaction reads one purchase.
func (a *API) GetTransaction(
	ctx context.Context, in display.GetTransactionRequestObject,
) (display.GetTransactionResponseObject, error) {
	t, _, err := a.Journal.Purchase(ctx, in.CustomerID, in.TransactionID)
	return display.GetTransaction200JSONResponse{Data: t}, err
}

// search is a search for purchases; an empty list of a kind does not restrict.
type search struct{ ids, statuses []string }

// searchOf reads a search from the query: both are repeated or separated by commas.
func searchOf(query []list.Pair) (s search) {
	for _, p := range query {
		switch p.Name {
		case "id":
			for id := range strings.SplitSeq(p.Value, ",") {
				s.ids = append(s.ids, strings.TrimSpace(id))
			}
		case "status":
			s.statuses = append(s.statuses, strings.Split(p.Value, ",")...)
		}
	}
	return s
}

// pairs are the parameters of the search in a link.
func (s search) pairs() (query []list.Pair) {
	for _, id := range s.ids {
		query = append(query, list.Pair{Name: "id", Value: id})
	}
	for _, status := range s.statuses {
		query = append(query, list.Pair{Name: "status", Value: status})
	}
	return query
}

// conditions are the search for the store; readable is false for an unknown status.
func (s search) conditions() (list []loyalty.Condition, readable bool) {
	add := func(name string, texts []string) {
		if len(texts) == 0 {
			return
		}
		c := loyalty.Condition{Field: name, Operator: loyalty.In}
		for _, t := range texts {
			c.Values = append(c.Values, t)
		}
		list = append(list, c)
	}

	add("id", s.ids)
	add("status", s.statuses)
	unknown := func(t string) bool { return !slices.Contains(api.TransactionStates(), t) }
	return list, !slices.ContainsFunc(s.statuses, unknown)
}

// SearchTransactions finds purchases by id and status.
func (a *API) SearchTransactions(
	ctx context.Context, in display.SearchTransactionsRequestObject,
) (display.SearchTransactionsResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}
	filters, readable := searchOf(api.RequestOf(ctx).Query).conditions()
	t, err := a.purchasesOf(ctx, p, in.CustomerID, filters, readable)
	return display.SearchTransactions200JSONResponse(api.AnswerOf(t)), err
}

// SearchTransactionsByPost is SearchTransactions for long lists of ids. Its links use the search by GET; without a
// limit one page holds all named purchases.
func (a *API) SearchTransactionsByPost(
	ctx context.Context, in display.SearchTransactionsByPostRequestObject,
) (display.SearchTransactionsByPostResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	wanted := search{ids: in.Body.ID}
	for _, s := range in.Body.Status {
		wanted.statuses = append(wanted.statuses, string(s))
	}

	p = p.WithQuery(wanted.pairs())
	if in.Params.Limit == nil {
		p.Limit = max(p.Limit, len(wanted.ids))
	}

	filters, readable := wanted.conditions()
	t, err := a.purchasesOf(ctx, p, in.CustomerID, filters, readable)
	return display.SearchTransactionsByPost200JSONResponse(api.AnswerOf(t)), err
}
