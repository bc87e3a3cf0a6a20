package api

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

// Activity is an activity with its answer and the columns to filter and sort its list by.
type Activity struct {
	Entry          any // of the generated type of its list
	ID, Title      string
	Kind           string // its type, for kinds that have one
	Points, Weight int64
	Stores         []string
	Dates          loyalty.Dates
	Status         string
	Custom         map[string]json.RawMessage
}

// activityColumns are the columns to filter and sort the lists by; the document says which of them each list has.
var activityColumns = map[string]list.Column[Activity]{
	"status":    {Of: func(e Activity) any { return e.Status }},
	"type":      {Of: func(e Activity) any { return e.Kind }},
	"stores":    {Of: func(e Activity) any { return list.Places(e.Stores) }},
	"points":    {Of: func(e Activity) any { return e.Points }},
	"weight":    {Of: func(e Activity) any { return e.Weight }},
	"title":     {Of: func(e Activity) any { return e.Title }},
	"name":      {Of: func(e Activity) any { return e.Title }},
	"starts_at": {Of: func(e Activity) any { return MomentOrNil(e.Dates.StartsAt) }},
	"ends_at":   {Of: func(e Activity) any { return MomentOrNil(e.Dates.EndsAt) }},
}

// MomentOrNil is a date as the value of a column.
func MomentOrNil(m loyalty.Moment) any {
	if m.IsZero() {
		return nil
	}
	return m.Time
}

// ActivityList is a request for a list of activities.
type ActivityList struct {
	Customer string
	Limit    *common.Limit
	Offset   *common.Offset
	Order    list.Order
	Kind     string // the type of entity, whose declared attributes are filters as well
	Needs    loyalty.CustomerNeeds
	All      func(r *engine.Run, language *Localizer) ([]Activity, error)
}

// Catalogue is a type of entity of which the Display API lists every entity as an activity.
type Catalogue[T any] struct {
	Entities *programme.EntityType[T]
	Render   func(r *engine.Run, language *Localizer, entity T) (Activity, error)
	Needs    loyalty.CustomerNeeds // what render reads of the customer
}

// Activities renders all entities of the type.
func (c *Catalogue[T]) Activities(r *engine.Run, language *Localizer) ([]Activity, error) {
	return ActivitiesOf(c.Entities.Of(r.Programme), func(entity T) (Activity, error) { return c.Render(r, language, entity) })
}

// List is the request for a page of the catalogue.
func (c *Catalogue[T]) List(customer string, limit *common.Limit, offset *common.Offset, order list.Order) ActivityList {
	return ActivityList{Customer: customer, Limit: limit, Offset: offset, Order: order, Kind: c.Entities.Type, Needs: c.Needs, All: c.Activities}
}

// ActivityOf reads the entity of a catalogue that a path names, as the customer sees it. E is the type of its entry. It
// fails with ErrEntityNotFound.
func ActivityOf[E, T any](ctx context.Context, customers CustomerReader, c *Catalogue[T], customer, id string) (entry E, err error) {
	err = customers.View(ctx, customer, c.Needs, func(r *engine.Run) error {
		entity, err := Lookup(c.Entities.Of(r.Programme), c.Entities.Type, id)
		if err != nil {
			return err
		}
		one, err := c.Render(r, RequestOf(ctx).Language, entity)
		if err != nil {
			return err
		}
		entry = one.Entry.(E)
		return nil
	})
	return entry, err
}

// ActivityPage reads the page of a list that a request wants. E is the type of its
// entries.
func ActivityPage[E any](ctx context.Context, customers CustomerReader, q ActivityList) (l list.Links[E], err error) {
	p, err := PageOf(ctx, q.Limit, q.Offset, nil)
	if err != nil {
		return l, err
	}
	err = customers.View(ctx, q.Customer, q.Needs, func(r *engine.Run) error {
		all, err := q.All(r, RequestOf(ctx).Language)
		if err != nil {
			return err
		}
		l = ChosenActivities[E](p, r.Programme, q.Kind, all, q.Order, customers.Clock())
		return nil
	})
	return l, err
}

// ChosenActivities cuts a page out of all activities of a kind.
func ChosenActivities[E any](p list.Page, programme *programme.Programme, kind string, all []Activity, o list.Order, now time.Time) list.Links[E] {
	columns := list.CustomColumns(programme, kind, activityColumns, func(e Activity) map[string]json.RawMessage { return e.Custom })
	found := list.Choose(p, ActiveOnly(p.Query, all), columns, o, now)
	return list.Links[E]{Entries: Entries[E](found.Entries), Next: found.Next, Previous: found.Previous, Time: found.Time}
}

// ActiveOnly keeps the active entries, unless the request filters by status.
func ActiveOnly(query []list.Pair, all []Activity) []Activity {
	if asksForStatus(query) {
		return all
	}
	return slices.DeleteFunc(all, func(e Activity) bool { return e.Status != loyalty.StatusActive })
}

// asksForStatus reports whether a request filters by status.
func asksForStatus(query []list.Pair) bool {
	return slices.ContainsFunc(query, func(p list.Pair) bool {
		name, _ := list.SplitOperator(p.Name)
		return name == "status"
	})
}

// Entries returns the rendered entries of activities, all of one type.
func Entries[E any](all []Activity) []E {
	out := make([]E, len(all))
	for i := range all {
		out[i] = all[i].Entry.(E)
	}
	return out
}

// ActivitiesOf makes an activity of each entity of a kind, in the order of a catalogue: by beginning, entities without
// one last, then by id.
func ActivitiesOf[T any](all map[string]T, of func(T) (Activity, error)) ([]Activity, error) {
	out := make([]Activity, 0, len(all))
	for _, entity := range all {
		e, err := of(entity)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Activity) int {
		dates := list.Compare(MomentOrNil(a.Dates.StartsAt), MomentOrNil(b.Dates.StartsAt), false)
		return cmp.Or(dates, strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// Lookup finds the entity that a path names. It fails with ErrEntityNotFound.
func Lookup[T any](all map[string]T, kind, id string) (T, error) {
	entity, ok := all[id]
	if !ok {
		return entity, loyalty.ErrEntityNotFound.With("type", kind).With("id", id)
	}
	return entity, nil
}
