package server

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// activity is an activity with its answer and the columns to filter and sort its list by.
type activity struct {
	entry          any // of the generated type of its list
	id, title      string
	kind           string // its type, for kinds that have one
	points, weight int64
	stores         []string
	dates          loyalty.Dates
	status         string
	custom         map[string]json.RawMessage
}

// activityColumns are the columns to filter and sort the lists by; the document says which of them each list has.
var activityColumns = map[string]list.Column[activity]{
	"status":    {Of: func(e activity) any { return e.status }},
	"type":      {Of: func(e activity) any { return e.kind }},
	"stores":    {Of: func(e activity) any { return list.Places(e.stores) }},
	"points":    {Of: func(e activity) any { return e.points }},
	"weight":    {Of: func(e activity) any { return e.weight }},
	"title":     {Of: func(e activity) any { return e.title }},
	"name":      {Of: func(e activity) any { return e.title }},
	"starts_at": {Of: func(e activity) any { return momentOrNil(e.dates.StartsAt) }},
	"ends_at":   {Of: func(e activity) any { return momentOrNil(e.dates.EndsAt) }},
}

// momentOrNil is a date as the value of a column.
func momentOrNil(m loyalty.Moment) any {
	if m.IsZero() {
		return nil
	}
	return m.Time
}

// activityList is a request for a list of activities.
type activityList struct {
	customer string
	limit    *common.Limit
	offset   *common.Offset
	order    list.Order
	kind     string // the type of entity, whose declared attributes are filters as well
	needs    loyalty.CustomerNeeds
	all      func(r *engine.Run, language *tongue) ([]activity, error)
}

// catalogue is a type of entity of which the Display API lists every entity as an activity.
type catalogue[T any] struct {
	entities *programme.EntityType[T]
	render   func(r *engine.Run, language *tongue, entity T) (activity, error)
	needs    loyalty.CustomerNeeds // what render reads of the customer
}

// activities renders all entities of the type.
func (c *catalogue[T]) activities(r *engine.Run, language *tongue) ([]activity, error) {
	return activitiesOf(c.entities.Of(r.Programme), func(entity T) (activity, error) { return c.render(r, language, entity) })
}

// list is the request for a page of the catalogue.
func (c *catalogue[T]) list(customer string, limit *common.Limit, offset *common.Offset, order list.Order) activityList {
	return activityList{customer: customer, limit: limit, offset: offset, order: order, kind: c.entities.Type, needs: c.needs, all: c.activities}
}

// activityOf reads the entity of a catalogue that a path names, as the customer sees it. E is the type of its entry. It
// fails with ErrEntityNotFound.
func activityOf[E, T any](ctx context.Context, customers customerReader, c *catalogue[T], customer, id string) (entry E, err error) {
	err = customers.view(ctx, customer, c.needs, func(r *engine.Run) error {
		entity, err := lookup(c.entities.Of(r.Programme), c.entities.Type, id)
		if err != nil {
			return err
		}
		one, err := c.render(r, requestOf(ctx).language, entity)
		if err != nil {
			return err
		}
		entry = one.entry.(E)
		return nil
	})
	return entry, err
}

// activityPage reads the page of a list that a request wants. E is the type of its
// entries.
func activityPage[E any](ctx context.Context, customers customerReader, q activityList) (l list.Links[E], err error) {
	p, err := pageOf(ctx, q.limit, q.offset, nil)
	if err != nil {
		return l, err
	}
	err = customers.view(ctx, q.customer, q.needs, func(r *engine.Run) error {
		all, err := q.all(r, requestOf(ctx).language)
		if err != nil {
			return err
		}
		l = chosenActivities[E](p, r.Programme, q.kind, all, q.order, customers.clock())
		return nil
	})
	return l, err
}

// chosenActivities cuts a page out of all activities of a kind.
func chosenActivities[E any](p list.Page, programme *programme.Programme, kind string, all []activity, o list.Order, now time.Time) list.Links[E] {
	columns := list.CustomColumns(programme, kind, activityColumns, func(e activity) map[string]json.RawMessage { return e.custom })
	found := list.Choose(p, activeOnly(p.Query, all), columns, o, now)
	return list.Links[E]{Entries: entries[E](found.Entries), Next: found.Next, Previous: found.Previous, Time: found.Time}
}

// activeOnly keeps the active entries, unless the request filters by status.
func activeOnly(query []list.Pair, all []activity) []activity {
	if asksForStatus(query) {
		return all
	}
	return slices.DeleteFunc(all, func(e activity) bool { return e.status != loyalty.StatusActive })
}

// asksForStatus reports whether a request filters by status.
func asksForStatus(query []list.Pair) bool {
	return slices.ContainsFunc(query, func(p list.Pair) bool {
		name, _ := list.SplitOperator(p.Name)
		return name == "status"
	})
}

// entries returns the rendered entries of activities, all of one type.
func entries[E any](all []activity) []E {
	out := make([]E, len(all))
	for i := range all {
		out[i] = all[i].entry.(E)
	}
	return out
}

// activitiesOf makes an activity of each entity of a kind, in the order of a catalogue: by beginning, entities without
// one last, then by id.
func activitiesOf[T any](all map[string]T, of func(T) (activity, error)) ([]activity, error) {
	out := make([]activity, 0, len(all))
	for _, entity := range all {
		e, err := of(entity)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b activity) int {
		dates := list.Compare(momentOrNil(a.dates.StartsAt), momentOrNil(b.dates.StartsAt), false)
		return cmp.Or(dates, strings.Compare(a.id, b.id))
	})
	return out, nil
}

// lookup finds the entity that a path names. It fails with ErrEntityNotFound.
func lookup[T any](all map[string]T, kind, id string) (T, error) {
	entity, ok := all[id]
	if !ok {
		return entity, loyalty.ErrEntityNotFound.With("type", kind).With("id", id)
	}
	return entity, nil
}
