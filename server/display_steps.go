package server

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// activity is an entry of a list of what a customer may do, with what such a list
// is filtered and sorted by.
type activity[E any] struct {
	entry          E
	id, title      string
	kind           string // type, of those that have one
	points, weight int64
	stores         []string
	dates          loyalty.Dates
	status         string
	custom         map[string]json.RawMessage
}

// activityColumns are what any of the lists can be filtered or sorted by; the
// document says which of them each list has.
func activityColumns[E any]() map[string]list.Column[activity[E]] {
	type entry = activity[E]
	return map[string]list.Column[entry]{
		"status":    {Field: list.Field{Kind: list.Choice, Choices: activityStatuses}, Of: func(e entry) any { return e.status }},
		"type":      {Field: list.Field{Kind: list.Text}, Of: func(e entry) any { return e.kind }},
		"stores":    {Field: list.Field{Kind: list.Text, List: true}, Of: func(e entry) any { return list.Places(e.stores) }},
		"points":    {Field: list.Field{Kind: list.Integer}, Of: func(e entry) any { return e.points }},
		"weight":    {Field: list.Field{Kind: list.Integer}, Of: func(e entry) any { return e.weight }},
		"title":     {Field: list.Field{Kind: list.Text}, Of: func(e entry) any { return e.title }},
		"name":      {Field: list.Field{Kind: list.Text}, Of: func(e entry) any { return e.title }},
		"starts_at": {Field: list.Field{Kind: list.Instant}, Of: func(e entry) any { return momentOrNil(e.dates.StartsAt) }},
		"ends_at":   {Field: list.Field{Kind: list.Instant}, Of: func(e entry) any { return momentOrNil(e.dates.EndsAt) }},
	}
}

// activityStatuses are the states that dates give.
var activityStatuses = []string{loyalty.StatusActive, loyalty.StatusScheduled, loyalty.StatusCompleted}

// momentOrNil is a date as a column has it.
func momentOrNil(m loyalty.Moment) any {
	if m.IsZero() {
		return nil
	}
	return m.Time
}

// activityList is what a request for a list says.
type activityList struct {
	customer string
	limit    *common.Limit
	offset   *common.Offset
	order    list.Order
	kind     string // the type of entity, whose declared attributes are filters too
	needs    loyalty.CustomerNeeds
}

// activitiesOf lists what a customer may do of one kind.
type activitiesOf[E any] func(a *displayAPI, r *loyalty.Run, language *tongue) ([]activity[E], error)

// whole is a kind without filters, for the overview of all kinds.
func (of activitiesOf[E]) whole(a *displayAPI, r *loyalty.Run, language *tongue, _ time.Time) ([]E, error) {
	all, err := of(a, r, language)
	return bare(current(nil, all)), err
}

// current leaves what is active, unless the request asks for a status itself.
func current[E any](query []list.Pair, all []activity[E]) []activity[E] {
	if asksForStatus(query) {
		return all
	}
	return slices.DeleteFunc(all, func(e activity[E]) bool { return e.status != loyalty.StatusActive })
}

// asksForStatus says whether a filter of a request is one for the status.
func asksForStatus(query []list.Pair) bool {
	return slices.ContainsFunc(query, func(p list.Pair) bool {
		name, _ := list.SplitOperator(p.Name)
		return name == "status"
	})
}

// bare leaves only what is shown.
func bare[E any](all []activity[E]) []E {
	entries := make([]E, len(all))
	for i := range all {
		entries[i] = all[i].entry
	}
	return entries
}

// page answers the page of a kind that a request wants.
func (of activitiesOf[E]) page(ctx context.Context, a *displayAPI, q activityList) (l list.Links[E], err error) {
	p, err := pageOf(ctx, q.limit, q.offset, nil)
	if err != nil {
		return l, err
	}
	err = a.view(ctx, q.customer, q.needs, func(r *loyalty.Run) error {
		all, err := of(a, r, requestOf(ctx).language)
		if err != nil {
			return err
		}
		columns := list.CustomColumns(r.Programme, q.kind, activityColumns[E](), func(e activity[E]) map[string]json.RawMessage { return e.custom })
		found := list.Choose(p, current(p.Query, all), columns, q.order, a.clock())
		l = list.Links[E]{Entries: bare(found.Entries), Next: found.Next, Previous: found.Previous, Time: found.Time}
		return nil
	})
	return l, err
}

// each makes an entry of everything of a kind, in the order of a catalogue: by
// beginning, those without one last, then by id.
func each[T, E any](all map[string]T, of func(T) (activity[E], error)) ([]activity[E], error) {
	entries := make([]activity[E], 0, len(all))
	for _, thing := range all {
		e, err := of(thing)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b activity[E]) int {
		dates := list.Compare(momentOrNil(a.dates.StartsAt), momentOrNil(b.dates.StartsAt), false)
		return cmp.Or(dates, strings.Compare(a.id, b.id))
	})
	return entries, nil
}

// lookup finds what a path names. It fails with ErrEntityNotFound.
func lookup[T any](all map[string]T, kind, id string) (T, error) {
	thing, ok := all[id]
	if !ok {
		return thing, loyalty.ErrEntityNotFound.With("type", kind).With("id", id)
	}
	return thing, nil
}

// stepTo leads on, unless it would be refused. The address is that of something of the
// customer, segment by segment.
func stepTo(r *loyalty.Run, refusal error, method string, segments ...string) *common.NextStep {
	if refusal != nil {
		return nil
	}
	return &common.NextStep{Method: method, URL: address(append([]string{"customers", r.Customer.Name}, segments...)...)}
}

// post is a step by POST.
func post(r *loyalty.Run, refusal error, segments ...string) *common.NextStep {
	return stepTo(r, refusal, http.MethodPost, segments...)
}

// address is a path made of segments. A plus sign is escaped too: some read it as a
// blank.
func address(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("/" + strings.ReplaceAll(url.PathEscape(s), "+", "%2B"))
	}
	return b.String()
}

// ownAttributes are the attributes of an entity that the programme made up, as they
// are shown: one that is declared translatable in the language of the answer.
func (s *Server) ownAttributes(language *tongue, p *loyalty.Programme, kind string, custom map[string]json.RawMessage) map[string]any {
	shown := make(map[string]any, len(custom))
	for name, value := range custom {
		shown[name] = value
	}
	for _, attribute := range p.Attributes[kind] {
		var texts map[string]string
		if raw, ok := custom[attribute.Property()]; ok && attribute.Translatable && json.Unmarshal(raw, &texts) == nil {
			shown[attribute.Property()] = s.text(language, texts)
		}
	}
	return shown
}
