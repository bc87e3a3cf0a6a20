package entities

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/entities"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/campaign"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// entityFields are the fields to filter entities by in the store.
var entityFields = map[string]list.Field{
	"id":         {Kind: list.Text, ID: true},
	"created_at": {Kind: list.Instant},
	"updated_at": {Kind: list.Instant},
}

// storedEntity is an entity with its parsed properties.
type storedEntity struct {
	*loyalty.Entity
	fields map[string]json.RawMessage
}

// entityStatuses are the possible statuses of entities: those that follow from dates, and a campaign's own.
var entityStatuses = append(slices.Clone(loyalty.DateStatuses), campaign.CampaignDraft, campaign.CampaignPaused)

// entityColumns are the properties of entities to filter by.
func (a *API) entityColumns(p *programme.Programme, kind string) map[string]list.Column[storedEntity] {
	now := a.Clock()
	own := map[string]list.Column[storedEntity]{
		"name":  {Field: list.Field{Kind: list.Text}, Of: func(e storedEntity) any { return textsOf(e.fields["name"]) }},
		"title": {Field: list.Field{Kind: list.Text}, Of: func(e storedEntity) any { return textsOf(e.fields["title"]) }},
		"status": {Field: list.Field{Kind: list.Choice, Choices: entityStatuses},
			Of: func(e storedEntity) any { return a.Records.status(kind, e, now) }},
	}
	return list.CustomColumns(p, kind, own, func(e storedEntity) map[string]json.RawMessage { return e.fields })
}

// textsOf returns a text, or the texts of a translatable attribute; nil if the value is neither.
func textsOf(raw json.RawMessage) any {
	var one string
	var many map[string]string
	switch {
	case len(raw) == 0:
		return nil
	case json.Unmarshal(raw, &one) == nil:
		return one
	case json.Unmarshal(raw, &many) == nil:
		return slices.Sorted(maps.Values(many))
	}
	return nil
}

// status is the status of an entity: its own if its kind has one, else the one that follows from its dates; nil if it
// has none.
func (r EntityRecords) status(kind string, e storedEntity, now time.Time) any {
	switch {
	case r.Schemas.Has(kind, "status"):
		if own, ok := textsOf(e.fields["status"]).(string); ok {
			return own
		}
		return campaign.CampaignDraft
	case !r.Schemas.Has(kind, "starts_at"):
		return nil
	}

	var dates loyalty.Dates
	if json.Unmarshal(e.Data, &dates) != nil {
		return nil
	}

	return dates.Status(now)
}

// shownStatus is the derived status of an entity; empty if its type has none, or stores it.
func (r EntityRecords) shownStatus(kind string, e *loyalty.Entity) string {
	fields := propertiesOf(e.Data)
	if fields["status"] != nil {
		return ""
	}
	status, _ := r.status(kind, storedEntity{e, fields}, r.Clock()).(string)
	return status
}

// ListEntities lists the entities of a type that match every filter.
func (a *API) ListEntities(
	ctx context.Context, in entities.ListEntitiesRequestObject,
) (entities.ListEntitiesResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, in.Params.Cursor)
	if err != nil {
		return nil, err
	}

	kind := entityType(in.Module, in.Entity)
	switch {
	case kind == programme.TypeCustomer:
		return a.listCustomers(ctx, p, in.Params)
	case kind == programme.TypeTransaction:
		return a.listTransactions(ctx, p, in.Params.Customer)
	case in.Params.Customer != nil:
		return nil, api.ErrUnknownParameter.With("parameter", "customer").At("customer")
	}

	q, readable, err := a.entityQuery(ctx, kind, in.Params)
	if err != nil {
		return nil, err
	}

	var found []loyalty.Entity
	if readable {
		if found, err = a.foundEntities(ctx, p, q, in.Params.Sort); err != nil {
			return nil, err
		}
	}

	var at func(loyalty.Entity) list.Cursor
	if q.Sort == loyalty.SortCreated && !byName(in.Params.Sort) {
		at = func(e loyalty.Entity) list.Cursor { return list.Cursor{At: e.CreatedAt, ID: []byte(e.ID)} }
	}

	l := list.Linked(p, found, a.Clock(), at)
	return entitiesPage(l,
		func(e loyalty.Entity) json.RawMessage { return a.Records.record(in.Module, in.Entity, &e) }), nil
}

// entitiesPage writes a page of entities.
func entitiesPage[T any](l list.Links[T], record func(T) json.RawMessage) api.RawResponse {
	out := api.EntityList{Data: make([]json.RawMessage, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: l.Time}
	for i := range l.Entries {
		out.Data[i] = record(l.Entries[i])
	}
	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(out)}
}

// entityQuery reads the parameters of a list; readable is false if a filter can find nothing. It
// fails for an unknown type.
func (a *API) entityQuery(
	ctx context.Context, kind string, in entities.ListEntitiesParams,
) (q loyalty.EntityQuery, readable bool, err error) {
	p := a.Programme()
	if err := p.CheckEntityType(kind); err != nil {
		return q, false, err
	}

	q = loyalty.EntityQuery{Type: kind, Sort: loyalty.SortCreated, Archived: in.Archived != nil && *in.Archived}
	q.Descending = in.Order != nil && *in.Order == "desc"
	if in.Sort != nil && !byName(in.Sort) {
		q.Sort = string(*in.Sort)
	}

	query := api.RequestOf(ctx).Query
	if q.Conditions, readable = list.Conditions(query, entityFields); !readable {
		return q, false, nil
	}

	columns := a.entityColumns(p, kind)
	fields := make(map[string]list.Field, len(columns))
	for name, c := range columns {
		fields[name] = c.Field
	}

	wanted, readable := list.Conditions(query, fields)
	search := ""
	if in.Search != nil {
		if search = loyalty.NameKey(*in.Search); search == "" {
			return q, false, nil // blank text finds nothing
		}
	}

	if len(wanted) > 0 || search != "" {
		searched := p.Searchable(kind)
		q.Fits = func(e loyalty.Entity) bool {
			s := storedEntity{&e, propertiesOf(e.Data)}
			return s.contains(search, searched) &&
				!slices.ContainsFunc(wanted, func(c loyalty.Condition) bool { return !list.Meets(columns[c.Field].Of(s), c) })
		}
	}

	return q, readable, nil
}

func propertiesOf(data json.RawMessage) (fields map[string]json.RawMessage) {
	_ = json.Unmarshal(data, &fields) // stored data is an object
	return fields
}

// contains reports whether the id, a name or a searchable attribute contains a text in the form of loyalty.NameKey.
func (e storedEntity) contains(text string, searched []*loyalty.CustomAttribute) bool {
	if text == "" {
		return true
	}

	texts := []string{e.ID}
	for _, name := range []string{"name", "title"} {
		switch v := textsOf(e.fields[name]).(type) {
		case string:
			texts = append(texts, v)
		case []string:
			texts = append(texts, v...)
		}
	}

	for _, a := range searched {
		texts = append(texts, a.Texts(e.fields)...)
	}

	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(loyalty.NameKey(t), text) })
}

func byName(sort *entities.ListEntitiesParamsSort) bool { return sort != nil && *sort == "name" }

// foundEntities reads a page, in the requested order.
func (a *API) foundEntities(
	ctx context.Context, p list.Page, q loyalty.EntityQuery, sort *entities.ListEntitiesParamsSort,
) ([]loyalty.Entity, error) {
	if byName(sort) {
		return a.entitiesByName(ctx, p, q)
	}
	q.Page = loyalty.Page{Limit: p.Fetch(), Offset: p.Offset}
	if p.Cursor != nil && q.Sort == loyalty.SortCreated {
		place := &loyalty.EntityPlace{At: p.Cursor.At, ID: string(p.Cursor.ID)}
		if p.Cursor.Back {
			q.Before = place
		} else {
			q.After = place
		}
	}
	return a.Admin.Entities(api.Plain(ctx), q)
}

// entitiesByName sorts by the name or title in the language of the answer.
func (a *API) entitiesByName(ctx context.Context, p list.Page, q loyalty.EntityQuery) ([]loyalty.Entity, error) {
	descending := q.Descending
	q.Descending = false
	all, err := a.Admin.Entities(api.Plain(ctx), q)
	if err != nil {
		return nil, err
	}
	language, names := api.RequestOf(ctx).Language, make(map[string]any, len(all))
	for _, e := range all {
		names[e.ID] = entityName(language, e)
	}
	slices.SortStableFunc(all, func(x, y loyalty.Entity) int { return list.Compare(names[x.ID], names[y.ID], descending) })
	all = all[min(p.Offset, len(all)):]
	return all[:min(p.Fetch(), len(all))], nil
}

// entityName is the name of an entity in a language; nil if it has none.
func entityName(language *api.Localizer, e loyalty.Entity) any {
	fields := propertiesOf(e.Data)
	for _, raw := range []json.RawMessage{fields["name"], fields["title"]} {
		var one string
		var many map[string]string
		if json.Unmarshal(raw, &one) == nil && one != "" {
			return one
		}
		if json.Unmarshal(raw, &many) == nil && len(many) > 0 {
			return language.Text(many)
		}
	}
	return nil
}
