// Package entities answers the Entities API: reading and changing what a programme is made of.
package entities

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/entities"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// API answers the Entities API.
type API struct {
	Engine     api.Engine
	Admin      *admin.Admin
	Reader     loyalty.Reader
	Vocabulary *contract.Vocabulary
	Customers  api.CustomerReader
	Journal    api.JournalReader
	Changes    api.EntityChanges
	Records    EntityRecords
	// CustomerFields are the fields to filter customers by in the Customers API.
	CustomerFields map[string]list.Field
	Programme      func() *programme.Programme
	Clock          func() time.Time
}

var _ entities.StrictServerInterface = (*API)(nil)

func entityType(module, entity string) string { return module + "/" + entity }

// EntityRecords renders entities with the status that follows from their fields and dates.
type EntityRecords struct {
	Schemas *contract.Entities
	Clock   func() time.Time
}

// record renders an entity with its fields as stored, so that no number is rounded.
func (r EntityRecords) record(module, entity string, e *loyalty.Entity) json.RawMessage {
	return api.RecordOf(module, entity, e, r.shownStatus(entityType(module, entity), e))
}

// GetEntity reads one entity, archived or not.
func (a *API) GetEntity(
	ctx context.Context, in entities.GetEntityRequestObject,
) (entities.GetEntityResponseObject, error) {
	kind := entityType(in.Module, in.Entity)
	if kind == programme.TypeCustomer {
		c, err := a.Customers.Current(api.Plain(ctx), in.EntityID)
		return api.RawResponse{Status: http.StatusOK, Body: recordAnswer(customerRecord(c))}, err
	}
	if kind == programme.TypeTransaction {
		return a.readTransaction(ctx, in.EntityID)
	}
	e, err := a.Admin.Entity(api.Plain(ctx), kind, in.EntityID)
	if err != nil {
		return nil, err
	}
	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(a.Records.answer(in.Module, in.Entity)(e))}, nil
}

// answer renders one entity of a type.
func (r EntityRecords) answer(module, entity string) func(loyalty.Entity) any {
	return func(e loyalty.Entity) any {
		return struct {
			Data json.RawMessage `json:"data"`
		}{r.record(module, entity, &e)}
	}
}

// CreateEntity adds an entity.
func (a *API) CreateEntity(
	ctx context.Context, in entities.CreateEntityRequestObject,
) (entities.CreateEntityResponseObject, error) {
	if err := elsewhere(entityType(in.Module, in.Entity), admin.MethodCreate); err != nil {
		return nil, err
	}

	c, err := a.Changes.Read(ctx, entityType(in.Module, in.Entity), (*contract.Schema).Creation)
	if err != nil {
		return nil, err
	}
	if in.Body.ID != nil {
		c.ID = *in.Body.ID
	}

	answer := api.WithWarnings(ctx, a.Programme, a.Records.answer(in.Module, in.Entity))
	return api.Change(ctx, http.StatusCreated, answer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
			return a.Admin.CreateEntity(ctx, call, c)
		})
}

// UpdateEntity changes the sent fields of an entity.
func (a *API) UpdateEntity(
	ctx context.Context, in entities.UpdateEntityRequestObject,
) (entities.UpdateEntityResponseObject, error) {
	if entityType(in.Module, in.Entity) == programme.TypeCustomer {
		return a.updateCustomer(ctx, in.EntityID)
	}
	if err := elsewhere(entityType(in.Module, in.Entity), admin.MethodUpdate); err != nil {
		return nil, err
	}

	c, err := a.Changes.Read(ctx, entityType(in.Module, in.Entity), (*contract.Schema).Patch)
	if err != nil {
		return nil, err
	}

	c.ID = in.EntityID
	answer := api.WithWarnings(ctx, a.Programme, a.Records.answer(in.Module, in.Entity))
	return api.Change(ctx, http.StatusOK, answer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
			return a.Admin.UpdateEntity(ctx, call, c)
		})
}

// ArchiveEntity takes an entity out of use.
func (a *API) ArchiveEntity(
	ctx context.Context, in entities.ArchiveEntityRequestObject,
) (entities.ArchiveEntityResponseObject, error) {
	c := admin.EntityChange{Type: entityType(in.Module, in.Entity), ID: in.EntityID}
	if err := elsewhere(c.Type, admin.MethodArchive); err != nil {
		return nil, err
	}
	return api.Change(ctx, http.StatusOK, a.Records.answer(in.Module, in.Entity),
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
			return a.Admin.ArchiveEntity(ctx, call, c)
		})
}
