package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// journalStore reads the journal.
type journalStore struct{ *database }

// eventFields are the columns of an event in a list, with the effects only of actions that show them.
var eventFields = eventTable.names("effects", `CASE WHEN action IN ('`+strings.Join(loyalty.EffectsShown, "', '")+`') THEN effects END AS effects`)

// eventColumns are the fields of an event that can be filtered.
var eventColumns = map[string]filterColumn{
	"action":  {expression: "action", few: true},
	"date":    {expression: "at"},
	"points":  {expression: "COALESCE(points, 0)"},
	"expdate": {expression: "exp_date", nullable: true},
}

// Events lists events; see loyalty.EventQuery. Their customers are as of the list, or of a moment later.
func (s journalStore) Events(ctx context.Context, q loyalty.EventQuery) (loyalty.EventPage, error) {
	var page loyalty.EventPage
	var who *loyalty.Customer
	var purchase number
	var backwards bool
	of := holder(q.Customer, q.Ref)
	together := q.Customer == (loyalty.ID{}) && q.Ref == "" && !s.spread()
	read := func(alone bool) (first []question, err error) {
		list, err := eventsOf(of, &q, alone)
		if err != nil {
			return nil, err
		}

		page.Events, who = nil, nil
		if together {
			var all question
			all, backwards = told(list, &page)
			return []question{all}, nil
		}

		var text sqlFragment
		text, backwards = list.sql()
		first = []question{eventTable.paged(text, &page.Events)}
		if q.Ref != "" && q.Transaction != "" {
			w := theirs("customer_id", of).and("transaction_id = ?", cleanText(q.Transaction))
			first = append(first, sqlFragment{"SELECT 1 FROM transactions" + w.where(), w.args}.one(&purchase))
		}

		return first, nil
	}

	err := s.ofHolder(ctx, q.Customer, q.Ref, &who, read, nil)
	if err != nil {
		return page, err
	}
	if q.Ref != "" {
		page.Customer, err = known(who)
	}
	if err == nil && q.Ref != "" && q.Transaction != "" && purchase == 0 {
		err = loyalty.ErrTransactionNotFound
	}
	if err != nil {
		return page, err
	}

	changes := changesEach
	switch {
	case together:
		changes = changesRead
	case q.Transaction == "" && len(q.Conditions) == 0 && len(q.Sort) == 0:
		changes = changesBetween
	}

	return page, s.accompany(ctx, &page, backwards, changes)
}

// told reads a page of the events of all customers, with each event's customer and its change of the balance.
func told(list *unionQuery, page *loyalty.EventPage) (q question, backwards bool) {
	text, backwards := list.with(toldColumns, toldFrom)
	var change number
	var c loyalty.Person
	page.Customers = map[loyalty.ID]loyalty.Person{}
	q = eventTable.paged(text, &page.Events, &change, (*UUID)(&c.ID), (*plain)(&c.Name), (*plain)(&c.Status))
	read := q.each
	q.each = func() bool {
		enough := read()
		e := &page.Events[len(page.Events)-1]
		e.Change = int64(change)
		if _, known := page.Customers[e.Customer]; !known && c.ID != (loyalty.ID{}) {
			page.Customers[e.Customer] = c
		}
		return enough
	}

	return q, backwards
}

// toldColumns are the columns of holdersOf, under names that no column of an event has.
var toldColumns = moved("e") + ", COALESCE(m.became, c.owner), COALESCE(m.called, c.name), COALESCE(m.standing, c.status)"

const toldFrom = ` LEFT JOIN (SELECT id AS owner, name, status, merged_into AS joined FROM customers) AS c ON c.owner = e.customer_id
LEFT JOIN (SELECT id AS became, name AS called, status AS standing FROM customers) AS m ON m.became = c.joined`

// eventsOf makes the statement of a query; alone says that no customer was merged into its customer.
func eventsOf(of sqlFragment, q *loyalty.EventQuery, alone bool) (*unionQuery, error) {
	list := &unionQuery{table: "events", columns: eventFields, page: pagerOf(q.Page), order: listOrder{at: "recorded_at", id: "id", descending: !q.OldestFirst}, parted: "recorded_at"}
	everybody := q.Customer == (loyalty.ID{}) && q.Ref == ""
	if !everybody {
		list.order.at = "" // a customer's events are in the order of ids
	}

	if len(q.Sort) > 0 && q.ByCursor() {
		list.order.at, list.order.descending = "at", q.Sort[0].Descending
	} else if len(q.Sort) > 0 {
		var err error
		if list.sort, err = sorting(eventColumns, q.Sort, "id"); err != nil {
			return nil, err
		}
	}

	if everybody {
		return list, ofAllCustomers(list, q)
	}

	list.branches = owned(of, list.order.at, alone)
	return list, eachBranch(list.branches, func(b *branch) (err error) {
		if q.Transaction != "" {
			b.where = b.where.and("transaction_id = ?", cleanText(q.Transaction))
		}
		b.where, err = b.where.andAll(eventColumns, q.Conditions)
		return err
	})
}

// eachBranch changes branches in place.
func eachBranch(branches []branch, change func(*branch) error) error {
	for i := range branches {
		if err := change(&branches[i]); err != nil {
			return err
		}
	}
	return nil
}

// ofAllCustomers makes the branches of the list over all customers. Each action is a range of an index. Dates are
// those of the effect, which is never later than the recording and nearly always the same instant. Only the recording
// has an index over all events, so backdated events are a branch of their own.
func ofAllCustomers(list *unionQuery, q *loyalty.EventQuery) error {
	actions, rest := actionsOf(q.Conditions)
	from, before := dates(rest)
	bounded, byDate := !before.Time().IsZero(), list.order.at == "at"
	ranges := []branch{{within(sqlFragment{}, "recorded_at", from, before), "recorded_at"}}
	switch {
	case byDate:
		// Equal, in a form that PostgreSQL does not estimate as rare.
		ranges[0].where = ranges[0].where.and("at >= recorded_at")
		ranges = append(ranges, branch{within(sqlFragment{}.and("at < recorded_at"), "at", from, before), "at"})
	case bounded && (q.OldestFirst || q.Page.After == nil || !q.Page.After.At.Before(before.Time())):
		// Recorded later, in effect before: few rows, in an order that no index has. The sum keeps PostgreSQL from
		// searching for them in everything newer.
		late := within(sqlFragment{}.and("at < recorded_at").and("recorded_at >= ?", before), "at", from, before)
		ranges = append(ranges, branch{late, "recorded_at + 0"})
	}

	for _, r := range ranges {
		where, err := r.where.andAll(eventColumns, rest)
		if err != nil {
			return err
		}
		for _, a := range actions {
			list.branches = append(list.branches, branch{where.is("action", a), r.at})
		}
		if actions == nil {
			list.branches = append(list.branches, branch{where, r.at})
		}
	}

	return nil
}

// within bounds a column.
func within(w sqlFragment, column string, from, before Millis) sqlFragment {
	if from.Time().After(beginning) {
		w = w.and(column+" >= ?", from)
	}
	if !before.Time().IsZero() {
		w = w.and(column+" < ?", before)
	}
	return w
}

// actionsOf removes the condition that names the wanted actions, if they are few, and returns them.
func actionsOf(conditions []loyalty.Condition) (actions []any, rest []loyalty.Condition) {
	for i, c := range conditions {
		if c.Field != "action" || c.Operator != loyalty.Eq && c.Operator != loyalty.In {
			continue
		}
		for _, v := range c.Values {
			if v = (filterColumn{}).value(v); !slices.Contains(actions, v) {
				actions = append(actions, v)
			}
		}
		if len(actions) > maxBranches {
			break
		}
		return actions, slices.Delete(slices.Clone(conditions), i, i+1)
	}

	return nil, conditions
}

// beginning is before every event; the zero instant is NULL.
var beginning = time.Time{}.Add(time.Millisecond)

// dates returns the bounds that conditions set on an event's effect; before is zero if there is none.
func dates(conditions []loyalty.Condition) (from, before Millis) {
	first, last := beginning, time.Time{}
	for _, c := range conditions {
		if c.Field != "date" || len(c.Values) == 0 {
			continue
		}

		least, most := extent(c.Values)
		switch c.Operator {
		case loyalty.Eq, loyalty.In:
		case loyalty.Gt, loyalty.Gte:
			most = time.Time{}
		case loyalty.Lt, loyalty.Lte:
			least = first
		default:
			continue
		}

		if least.After(first) {
			first = least
		}
		if !most.IsZero() && (last.IsZero() || most.Before(last)) {
			last = most
		}
	}

	return Millis(first), Millis(last)
}

// extent is the period that contains the values of a condition.
func extent(values []any) (from, before time.Time) {
	for i, v := range values {
		s, isSpan := v.(loyalty.Span)
		if !isSpan {
			at, _ := v.(time.Time)
			s = loyalty.Span{From: at, Before: at.Add(time.Millisecond)}
		}
		if i == 0 || s.From.Before(from) {
			from = s.From
		}
		if s.Before.After(before) {
			before = s.Before
		}
	}

	return from, before
}

// accompany reads what the events of a page did to the balance, the events they inherit from, the customers they
// name, and the keys of personal data, as far as these were not read with the events. The page must still be in the
// order of reading.
func (s journalStore) accompany(ctx context.Context, page *loyalty.EventPage, backwards bool, changes changes) error {
	page.Parents, page.Keys = map[loyalty.ID]loyalty.Event{}, map[loyalty.ID][]byte{}
	if page.Customers == nil {
		page.Customers = map[loyalty.ID]loyalty.Person{}
	}
	if len(page.Events) == 0 {
		return nil
	}
	if c := &page.Customer; c.ID != (loyalty.ID{}) {
		page.Customers[c.ID] = c.Person()
	}

	var people, sealed []UUID
	var inherited parentsRead
	for i := range page.Events {
		e := &page.Events[i]
		for _, id := range about(e) {
			if _, known := page.Customers[id]; !known {
				people = also(people, id)
			}
		}
		if e.Personal != nil || e.Inherits() {
			sealed = also(sealed, e.Customer)
		}
		inherited.note(e)
	}

	inherited.found(page)
	keys := s.keysOf(sealed, page.Keys)
	list := slices.Concat(changesOf(page.Events, changes), inherited.questions(page), keys.questions())
	if len(people) > 0 {
		list = append(list, holdersOf(people, page.Customers))
	}

	if len(list) > 0 {
		if err := s.asks(ctx, list...); err != nil {
			return err
		}
	}

	inherited.cut(page)
	page.Events = inOrder(page.Events, backwards)
	return keys.failed
}

// about lists an event's customer, and the customer that its attributes name.
func about(e *loyalty.Event) []loyalty.ID {
	if other, named := e.Other(); named {
		return []loyalty.ID{e.Customer, other}
	}
	return []loyalty.ID{e.Customer}
}

// also adds an id to a list without duplicates.
func also(list []UUID, id loyalty.ID) []UUID {
	if slices.Contains(list, UUID(id)) {
		return list
	}
	return append(list, UUID(id))
}

// parent are the columns of an event that others inherit from: a checkout's attributes are in its row, those of any
// other event are in its effects.
var (
	parent       = eventTable.some("customer_id", "id", "action", "data", "personal", "effects")
	parentFields = parent.names(
		"data", `CASE WHEN action = 'checkout' THEN data ELSE '{}' END AS data`,
		"personal", `CASE WHEN action = 'checkout' THEN personal END AS personal`,
		"effects", `CASE WHEN action <> 'checkout' THEN effects END AS effects`)
)

// parentsAtOnce is how many parents are read together: each can be as large as a request body.
const parentsAtOnce = 16

// parentsRead are the events from which those of a page inherit, in the order of the page. Their size is bounded as
// that of a page.
type parentsRead struct {
	wanted  ownEvents
	size    int  // bytes so far
	missing UUID // the first one that was left out; zero: none
}

func (r *parentsRead) note(e *loyalty.Event) {
	if own := (ownEvent{UUID(e.Customer), UUID(e.Parent)}); e.Inherits() && !slices.Contains(r.wanted, own) {
		r.wanted = append(r.wanted, own)
	}
}

// found takes the parents that are on the page themselves, as most are: the list has all columns that are read of a
// parent.
func (r *parentsRead) found(page *loyalty.EventPage) {
	if len(r.wanted) == 0 {
		return
	}

	here := map[ownEvent]*loyalty.Event{}
	for i := range page.Events {
		if e := &page.Events[i]; e.Action == "checkout" {
			here[ownEvent{UUID(e.Customer), UUID(e.ID)}] = e
		}
	}

	r.wanted = slices.DeleteFunc(r.wanted, func(own ownEvent) bool {
		e := here[own]
		if e != nil {
			page.Parents[e.ID] = *e
		}
		return e != nil
	})
}

// selectParents matches pairs: with two lists PostgreSQL would combine each customer with each id. Citus needs the
// two lists.
var (
	selectParents = "SELECT " + parentFields + " FROM events WHERE (customer_id, id) IN ?"
	spreadParents = "SELECT " + parentFields + " FROM events WHERE customer_id IN ? AND id IN ?"
)

// questions returns the queries for the parents of the page.
func (r *parentsRead) questions(page *loyalty.EventPage) (list []question) {
	for some := range slices.Chunk(r.wanted, parentsAtOnce) {
		begun, left := false, false
		customers, ids := some.columns()
		list = append(list, parent.rows(sqlFragment{selectParents, []any{some}}, func(e *loyalty.Event) bool {
			if !begun {
				begun, left = true, r.size > loyalty.MaxPage
			}
			if left && r.missing == (UUID{}) {
				r.missing = some[0].id
			}
			if left {
				return true
			}

			page.Parents[e.ID] = *e
			r.size += len(e.Data) + len(e.Personal)
			if x := e.Effects; x != nil {
				r.size += loyalty.Weight(x.Bequest)
			}

			return false
		}).onCitus(spreadParents, customers, ids))
	}

	return list
}

// cut ends a page, still in the order of reading, before the first event whose parent was left out.
func (r *parentsRead) cut(page *loyalty.EventPage) {
	if r.missing == (UUID{}) {
		return
	}
	first := slices.IndexFunc(page.Events, func(e loyalty.Event) bool { return e.Inherits() && UUID(e.Parent) == r.missing })
	page.Events, page.More = page.Events[:first], true
}
