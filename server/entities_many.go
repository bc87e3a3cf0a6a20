package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/entities"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// ChangeEntities makes many changes in one transaction.
func (a *entitiesAPI) ChangeEntities(ctx context.Context, in entities.ChangeEntitiesRequestObject) (entities.ChangeEntitiesResponseObject, error) {
	bodies, err := a.changeBodies(ctx)
	if err != nil {
		return nil, err
	}
	changes := make([]loyalty.EntityChange, len(in.Body.Entities))
	for i, c := range in.Body.Entities {
		changes[i] = loyalty.EntityChange{Method: string(c.Method), Type: c.Type}
		if c.ID != nil {
			changes[i].ID = *c.ID
		}
		changes[i].Read = a.reading(c.Type, bodies[i])
	}
	skip := in.Body.ErrorHandling != nil && *in.Body.ErrorHandling == entities.EntityChangesErrorHandlingSkip
	language := requestOf(ctx).language
	answer := func(results []loyalty.EntityResult) any { return a.entityResults(language, results) }
	return change(a.Server, ctx, http.StatusOK, answer, func(ctx context.Context, call loyalty.Call) (loyalty.Done[[]loyalty.EntityResult], error) {
		return a.admin.ChangeEntities(ctx, call, changes, skip)
	})
}

// changeBodies gives the properties of each change before anything has looked into
// them: only the type can tell what a form's values are and which nulls count.
func (a *entitiesAPI) changeBodies(ctx context.Context) ([]any, error) {
	body, err := parseBody(httpRequest(ctx).Header, requestOf(ctx).body)
	if err != nil {
		return nil, err
	}
	var list []any
	switch body := body.(type) {
	case map[string]any:
		list, _ = body["entities"].([]any)
	case *formNode:
		list, _ = body.children["entities"].items(nil).([]any)
	}
	bodies := make([]any, len(list))
	for i, one := range list {
		switch one := one.(type) {
		case map[string]any:
			bodies[i] = one["data"]
		case *formNode:
			if data := one.children["data"]; data != nil {
				bodies[i] = data
			}
		}
		if bodies[i] == nil {
			bodies[i] = map[string]any{}
		}
	}
	return bodies, nil
}

// reading reads the properties of a change by the schema of its type, as it is
// when the turn comes to the change.
func (a *entitiesAPI) reading(kind string, body any) func(*loyalty.Programme, json.RawMessage) (json.RawMessage, error) {
	return func(p *loyalty.Programme, before json.RawMessage) (json.RawMessage, error) {
		fields, err := a.entities.of(kind, p)
		if err != nil {
			return nil, err
		}
		body := cloned(body) // reading changes it, and a series may be read twice
		if before == nil {
			tree, err := fields.check(body, "data")
			if err != nil {
				return nil, err
			}
			return a.checkEntity(kind, fields, appendJSON(nil, tree))
		}
		sent, err := patchAt(fields, body, "data")
		if err != nil {
			return nil, err
		}
		return a.checkEntity(kind, fields, loyalty.PatchEntity(before, sent))
	}
}

// cloned copies the objects and lists of a body; those of a form are never changed.
func cloned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, value := range v {
			m[name] = cloned(value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, value := range v {
			list[i] = cloned(value)
		}
		return list
	}
	return v
}

// entityResults words the fate of each change.
func (a *entitiesAPI) entityResults(language *tongue, results []loyalty.EntityResult) entities.EntityResults {
	out := entities.EntityResults{Results: make([]entities.EntityResult, len(results)), Total: len(results)}
	for i, r := range results {
		if r.Err == nil {
			out.Results[i].ID = &r.ID
			continue
		}
		_, e := a.envelope(language, r.Err)
		out.Results[i].Error = &e
		out.Errors++
	}
	return out
}
