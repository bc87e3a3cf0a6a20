package api

import (
	"context"
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// EntityChanges reads changes of entities from requests, by the schemas of their types.
type EntityChanges struct {
	Programme  func() *programme.Programme
	Schemas    *contract.Entities
	Vocabulary *contract.Vocabulary
}

// Read reads the body of a change by the schema that the path names. The error for a type that does not exist, or whose
// module is off, comes before all others.
func (r EntityChanges) Read(
	ctx context.Context, kind string, as func(fields *contract.Schema, body any) (json.RawMessage, error),
) (admin.EntityChange, error) {
	c := admin.EntityChange{Type: kind}
	p := r.Programme()
	if err := p.CheckEntityType(kind); err != nil {
		return c, err
	}

	fields, err := r.Schemas.Of(kind, p)
	if err != nil {
		return c, err
	}

	body, err := ParseBody(HTTPRequest(ctx).Header, RequestOf(ctx).Body)
	if err != nil {
		return c, err
	}

	c.Check = func(data json.RawMessage) (json.RawMessage, error) { return r.Check(kind, fields, data) }
	c.Data, err = as(fields, body)
	return c, err
}

// Check validates a complete entity against its schema, and an action's declarations against the existing ones.
func (r EntityChanges) Check(kind string, fields *contract.Schema, data json.RawMessage) (json.RawMessage, error) {
	data, err := fields.CheckJSON(data, "")
	if err != nil || kind != programme.CustomActions.Type {
		return data, err
	}
	return data, r.Vocabulary.Declarable(data)
}
