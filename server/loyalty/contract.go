package loyalty

import (
	"encoding/json"
)

// Contract is the engine's knowledge of the Events document: which attributes belong to which module, which are
// personal, and how to check an event that came inside a bulk. The server builds it from the published document, so
// that the document is the only place where these facts are written.
type Contract interface {
	// Shape returns the shape of an action's data; false: the document does not have the action.
	Shape(action string) (*Shape, bool)
	// Check validates one event's data by its action's schema and returns it in canonical form (nulls dropped, no
	// duplicate keys). It fails with an error of kind Invalid whose details name the fields, prefixed with at.
	Check(action string, data json.RawMessage, at string) (json.RawMessage, error)
	// CheckDeclared is Check with a schema that the programme declares
	// (custom_events) instead of the document's.
	CheckDeclared(schema, data json.RawMessage, at string) (json.RawMessage, error)
}

// Shape is what the document declares about an object beyond its types.
type Shape struct {
	Module     string               // x-module of the action: must be on
	Attributes map[string]Attribute // the declared ones
}

// Attribute is one declared property.
type Attribute struct {
	Module   string // x-module: must be on when the attribute is sent
	Personal bool   // x-personal: sealed under the customer's key
	Items    *Shape // of an array of objects
}
