package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// journalStore reads the journal.
type journalStore struct{ *database }

// eventFields are the columns of an event in a list; effects only where they say
// what the attributes do not.
var eventFields = eventTable.names("effects", `CASE WHEN action IN ('`+strings.Join(loyalty.EffectsShown, "', '")+`') THEN effects END AS effects`)

// eventColumns are the fields of an event that may be filtered.
var eventColumns = map[string]filterColumn{
	"action":  {expression: "action"},
	"date":    {expression: "at"},
	"points":  {expression: "COALESCE(points, 0)"},
	"expdate": {expression: "exp_date", nullable: true},
}

// Events lists events; see loyalty.EventQuery.
func (s journalStore) Events(ctx context.Context, q loyalty.EventQuery) (loyalty.EventPage, error) {
	var page loyalty.EventPage
	err := s.consistent(ctx, func(db *gorm.DB) error {
		list, err := eventsOf(db, &q)
		if err != nil {
			return err
		}
		text, backwards := list.sql()
		if page.Events, err = eventTable.page(db.Raw(text.text, text.args...)); err != nil {
			return err
		}
		if err := addParents(db, &page); err != nil {
			return err
		}
		page.Events = inOrder(page.Events, backwards)
		if err := addChanges(db, page.Events); err != nil {
			return err
		}
		return s.accompany(db, &page)
	})
	return page, err
}

// eventsOf makes the statement of a query.
func eventsOf(db *gorm.DB, q *loyalty.EventQuery) (*unionQuery, error) {
	list := &unionQuery{table: "events", columns: eventFields, page: pagerOf(q.Page), order: listOrder{at: "recorded_at", id: "id", descending: !q.OldestFirst}}
	if q.Customer != (loyalty.ID{}) {
		list.order.at = "" // the stream is in the order of ids
	}
	if len(q.Sort) > 0 && q.ByCursor() {
		list.order.at, list.order.descending = "at", q.Sort[0].Descending
	} else if len(q.Sort) > 0 {
		var err error
		if list.sort, err = sorting(eventColumns, q.Sort, "id"); err != nil {
			return nil, err
		}
	}
	if q.Customer == (loyalty.ID{}) {
		return list, ofAllCustomers(list, q)
	}
	owners, err := accounts(db, q.Customer)
	if err != nil {
		return nil, err
	}
	if list.sort != "" && len(owners) > 1 { // an order that no index has is sorted once
		list.branches = []branch{{sqlFragment{}.and("customer_id IN ?", owners), ""}}
	} else {
		list.branches = owned(owners, list.order.at)
	}
	return list, eachBranch(list.branches, func(b *branch) error {
		if q.Transaction != "" {
			b.where = b.where.and("transaction_id = ?", cleanText(q.Transaction))
		}
		b.where, err = b.where.andAll(eventColumns, q.Conditions)
		return err
	})
}

// eachBranch changes branches in their place.
func eachBranch(branches []branch, change func(*branch) error) error {
	for i := range branches {
		if err := change(&branches[i]); err != nil {
			return err
		}
	}
	return nil
}

// ofAllCustomers makes the branches of the list over all customers. Several actions are
// several stretches of an index. Dates are those of the effect, which never lies
// behind the recording and nearly always is the same instant; only the recording has
// an index over everything, so events that were dated back are a branch of their own.
func ofAllCustomers(list *unionQuery, q *loyalty.EventQuery) error {
	actions, rest := actionsOf(q.Conditions)
	from, before := dates(rest)
	bounded, byDate := !before.Time().IsZero(), list.order.at == "at"
	ranges := []branch{{within(sqlFragment{}, "recorded_at", from, before), "recorded_at"}}
	switch {
	case byDate:
		// Equal, said so that PostgreSQL does not expect it to be rare.
		ranges[0].where = ranges[0].where.and("at >= recorded_at")
		ranges = append(ranges, branch{within(sqlFragment{}.and("at < recorded_at"), "at", from, before), "at"})
	case bounded && (q.OldestFirst || q.Page.After == nil || !q.Page.After.At.Before(before.Time())):
		// Recorded later, in effect before: few, in an order that no index has. The
		// sum keeps PostgreSQL from looking for them in everything that is newer.
		late := within(sqlFragment{}.and("at < recorded_at").and("recorded_at >= ?", before), "at", from, before)
		ranges = append(ranges, branch{late, "recorded_at + 0"})
	}
	for _, r := range ranges {
		where, err := r.where.andAll(eventColumns, rest)
		if err != nil {
			return err
		}
		for _, a := range actions {
			list.branches = append(list.branches, branch{where.and("action = ?", a), r.at})
		}
		if actions == nil {
			list.branches = append(list.branches, branch{where, r.at})
		}
	}
	return nil
}

// within bounds a column.
func within(w sqlFragment, column string, from, before Millis) sqlFragment {
	w = w.and(column+" >= ?", from)
	if before.Time().IsZero() {
		return w
	}
	return w.and(column+" < ?", before)
}

// actionsOf takes the condition out that names the wanted actions, as long as they
// are few.
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

// dates are the bounds that conditions set to when an event took effect; before is
// zero where there is none.
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

// extent is from when to before when the values of a condition lie.
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

// accompany reads who the events are about, and the keys to what is personal.
func (s journalStore) accompany(db *gorm.DB, page *loyalty.EventPage) error {
	var people, sealed []UUID
	note := func(list *[]UUID, id loyalty.ID) {
		if !slices.Contains(*list, UUID(id)) {
			*list = append(*list, UUID(id))
		}
	}
	for i := range page.Events {
		e := &page.Events[i]
		note(&people, e.Customer)
		if other, named := e.Other(); named {
			note(&people, other)
		}
		if e.Personal != nil {
			note(&sealed, e.Customer)
		}
	}
	for _, parent := range page.Parents {
		note(&sealed, parent.Customer)
	}
	known, err := holdersOf(db, people)
	if err != nil {
		return err
	}
	page.Customers = make(map[loyalty.ID]loyalty.Customer, len(known))
	for id, c := range known {
		page.Customers[loyalty.ID(id)] = c
	}
	page.Keys, err = s.customerKeys(db, sealed)
	return err
}

// parentFields are the columns of an event that others inherit from: the attributes
// of a checkout are in its row, those of anything else are told by its effects.
var (
	parent       = eventTable.some("customer_id", "id", "action", "data", "personal", "effects")
	parentFields = parent.names(
		"data", `CASE WHEN action = 'checkout' THEN data ELSE '{}' END AS data`,
		"personal", `CASE WHEN action = 'checkout' THEN personal END AS personal`,
		"effects", `CASE WHEN action <> 'checkout' THEN effects END AS effects`)
)

// addParents reads the events from which those of a page inherit, the page still in
// the order in which it was read. They are bounded as the page is: where they are too
// many bytes it ends before the first event whose parent is missing.
func addParents(db *gorm.DB, page *loyalty.EventPage) error {
	page.Parents = map[loyalty.ID]loyalty.Event{}
	for size := 0; ; {
		next := missingParents(page, parentsAtOnce)
		if len(next) == 0 {
			return nil
		}
		if size > loyalty.MaxPage {
			first := slices.IndexFunc(page.Events, func(e loyalty.Event) bool { return e.Inherits() && e.Parent == loyalty.ID(next[0].id) })
			page.Events, page.More = page.Events[:first], true
			return nil
		}
		n, err := readParents(db, page, next)
		if err != nil {
			return err
		}
		size += n
	}
}

// parentsAtOnce is how many parents are read together: each can be as large as a body.
const parentsAtOnce = 16

// ownEvent names an event with its customer.
type ownEvent struct{ customer, id UUID }

// missingParents are the next parents that were not read yet, in the order of the page.
func missingParents(page *loyalty.EventPage, most int) (next []ownEvent) {
	for i := range page.Events {
		e := &page.Events[i]
		wanted := ownEvent{UUID(e.Customer), UUID(e.Parent)}
		if _, known := page.Parents[e.Parent]; known || !e.Inherits() || slices.Contains(next, wanted) {
			continue
		}
		if next = append(next, wanted); len(next) == most {
			break
		}
	}
	return next
}

// readParents reads some parents and says how many bytes they are.
func readParents(db *gorm.DB, page *loyalty.EventPage, wanted []ownEvent) (size int, err error) {
	var customers, ids []UUID
	for _, w := range wanted {
		page.Parents[loyalty.ID(w.id)] = loyalty.Event{} // read, whether it is found or not
		ids = append(ids, w.id)
		if !slices.Contains(customers, w.customer) {
			customers = append(customers, w.customer)
		}
	}
	found := among(among(db, "customer_id", customers), "id", ids)
	err = parent.each(found.Select(parentFields), func(e *loyalty.Event) bool {
		page.Parents[e.ID] = *e
		size += len(e.Data) + len(e.Personal)
		if x := e.Effects; x != nil {
			size += loyalty.Weight(x.Bequest)
		}
		return false
	})
	return size, err
}
