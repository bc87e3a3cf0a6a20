package entities

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/entities"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// ChangeEntities makes many changes in one transaction.
func (a *API) ChangeEntities(
	ctx context.Context, in entities.ChangeEntitiesRequestObject,
) (entities.ChangeEntitiesResponseObject, error) {
	bodies, err := a.changeBodies(ctx)
	if err != nil {
		return nil, err
	}

	changes := make([]admin.EntityChange, len(in.Body.Entities))
	for i, c := range in.Body.Entities {
		changes[i] = admin.EntityChange{Method: string(c.Method), Type: c.Type, Sent: len(contract.Properties(bodies[i]))}
		if c.ID != nil {
			changes[i].ID = *c.ID
		}
		changes[i].Read = a.reading(c.Type, bodies[i])
	}

	skip := in.Body.ErrorHandling != nil && *in.Body.ErrorHandling == entities.EntityChangesErrorHandlingSkip
	language := api.RequestOf(ctx).Language
	answer := func(results []admin.EntityResult) any { return entityResults(language, results) }
	return api.Change(ctx, http.StatusOK, api.WithWarnings(ctx, a.Programme, answer),
		func(ctx context.Context, call admin.Call) (admin.Done[[]admin.EntityResult], error) {
			return a.Admin.ChangeEntities(ctx, call, changes, skip)
		})
}

// changeBodies returns the properties of each change as they were sent: the type decides on the types of a form's
// values and on which nulls count.
func (a *API) changeBodies(ctx context.Context) ([]any, error) {
	body, err := api.ParseBody(api.HTTPRequest(ctx).Header, api.RequestOf(ctx).Body)
	if err != nil {
		return nil, err
	}
	list := contract.Items(contract.Properties(body)["entities"])
	bodies := make([]any, len(list))
	for i, one := range list {
		if bodies[i] = contract.Properties(one)["data"]; bodies[i] == nil {
			bodies[i] = map[string]any{}
		}
	}
	return bodies, nil
}

// reading reads the properties of a change by the schema of its type at the moment when the change is made.
func (a *API) reading(kind string, body any) func(*programme.Programme, json.RawMessage) (json.RawMessage, error) {
	return func(p *programme.Programme, before json.RawMessage) (json.RawMessage, error) {
		fields, err := a.Changes.Schemas.Of(kind, p)
		if err != nil {
			return nil, err
		}

		body := contract.Clone(body) // reading changes it, and a series may be read twice
		if before == nil {
			tree, err := fields.Check(body, "data")
			if err != nil {
				return nil, err
			}
			return a.Changes.Check(kind, fields, contract.AppendJSON(nil, tree))
		}

		sent, err := fields.PatchAt(body, "data")
		if err != nil {
			return nil, err
		}

		return a.Changes.Check(kind, fields, admin.PatchEntity(before, sent))
	}
}

// entityResults renders the result of each change.
func entityResults(language *api.Localizer, results []admin.EntityResult) entities.EntityResults {
	out := entities.EntityResults{Results: make([]entities.EntityResult, len(results)), Total: len(results)}
	for i, r := range results {
		if r.Err == nil {
			out.Results[i].ID = &r.ID
			continue
		}
		_, e := api.Envelope(language, r.Err)
		out.Results[i].Error = &e
		out.Errors++
	}
	return out
}
