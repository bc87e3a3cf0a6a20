package api

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
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

// ChosenActivities cuts a page out of all activities of a kind.
func ChosenActivities[E any](
	p list.Page, programme *programme.Programme, kind string, all []Activity, o list.Order, now time.Time,
) list.Links[E] {
	columns := list.CustomColumns(programme, kind, activityColumns,
		func(e Activity) map[string]json.RawMessage { return e.Custom })
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
