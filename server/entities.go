package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/entities"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// entitiesAPI answers the Entities API.
type entitiesAPI struct {
	engine     Engine
	admin      *admin.Admin
	reader     loyalty.Reader
	vocabulary *contract.Vocabulary
	customers  customerReader
	journal    journalReader
	changes    entityChanges
	records    entityRecords
	// customerFields are the fields to filter customers by in the Customers API.
	customerFields map[string]list.Field
	programme      func() *programme.Programme
	clock          func() time.Time
}

var _ entities.StrictServerInterface = (*entitiesAPI)(nil)

func entityType(module, entity string) string { return module + "/" + entity }

// entityRecords renders entities with the status that follows from their fields and dates.
type entityRecords struct {
	schemas *contract.Entities
	clock   func() time.Time
}

// record renders an entity with its fields as stored, so that no number is rounded.
func (r entityRecords) record(module, entity string, e *loyalty.Entity) json.RawMessage {
	return recordOf(module, entity, e, r.shownStatus(entityType(module, entity), e))
}

// GetEntity reads one entity, archived or not.
func (a *entitiesAPI) GetEntity(ctx context.Context, in entities.GetEntityRequestObject) (entities.GetEntityResponseObject, error) {
	kind := entityType(in.Module, in.Entity)
	if kind == programme.TypeCustomer {
		c, err := a.customers.current(plain(ctx), in.EntityID)
		return rawResponse{status: http.StatusOK, body: recordAnswer(customerRecord(c))}, err
	}
	if kind == programme.TypeTransaction {
		return a.readTransaction(ctx, in.EntityID)
	}
	e, err := a.admin.Entity(plain(ctx), kind, in.EntityID)
	if err != nil {
		return nil, err
	}
	return rawResponse{status: http.StatusOK, body: marshal(a.records.answer(in.Module, in.Entity)(e))}, nil
}

// answer renders one entity of a type.
func (r entityRecords) answer(module, entity string) func(loyalty.Entity) any {
	return func(e loyalty.Entity) any {
		return struct {
			Data json.RawMessage `json:"data"`
		}{r.record(module, entity, &e)}
	}
}

// CreateEntity adds an entity.
func (a *entitiesAPI) CreateEntity(ctx context.Context, in entities.CreateEntityRequestObject) (entities.CreateEntityResponseObject, error) {
	if err := elsewhere(entityType(in.Module, in.Entity), admin.MethodCreate); err != nil {
		return nil, err
	}

	c, err := a.changes.read(ctx, entityType(in.Module, in.Entity), (*contract.Schema).Creation)
	if err != nil {
		return nil, err
	}
	if in.Body.ID != nil {
		c.ID = *in.Body.ID
	}

	answer := withWarnings(ctx, a.programme, a.records.answer(in.Module, in.Entity))
	return change(ctx, http.StatusCreated, answer, func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
		return a.admin.CreateEntity(ctx, call, c)
	})
}

// UpdateEntity changes the sent fields of an entity.
func (a *entitiesAPI) UpdateEntity(ctx context.Context, in entities.UpdateEntityRequestObject) (entities.UpdateEntityResponseObject, error) {
	if entityType(in.Module, in.Entity) == programme.TypeCustomer {
		return a.updateCustomer(ctx, in.EntityID)
	}
	if err := elsewhere(entityType(in.Module, in.Entity), admin.MethodUpdate); err != nil {
		return nil, err
	}

	c, err := a.changes.read(ctx, entityType(in.Module, in.Entity), (*contract.Schema).Patch)
	if err != nil {
		return nil, err
	}

	c.ID = in.EntityID
	answer := withWarnings(ctx, a.programme, a.records.answer(in.Module, in.Entity))
	return change(ctx, http.StatusOK, answer, func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
		return a.admin.UpdateEntity(ctx, call, c)
	})
}

// ArchiveEntity takes an entity out of use.
func (a *entitiesAPI) ArchiveEntity(ctx context.Context, in entities.ArchiveEntityRequestObject) (entities.ArchiveEntityResponseObject, error) {
	c := admin.EntityChange{Type: entityType(in.Module, in.Entity), ID: in.EntityID}
	if err := elsewhere(c.Type, admin.MethodArchive); err != nil {
		return nil, err
	}
	return change(ctx, http.StatusOK, a.records.answer(in.Module, in.Entity), func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Entity], error) {
		return a.admin.ArchiveEntity(ctx, call, c)
	})
}
