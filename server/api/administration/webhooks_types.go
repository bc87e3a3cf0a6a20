package administration

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

// ListWebhookTypes lists the types of messages: events of every action, including declared ones, and the platform's own
// notices.
func (a *API) ListWebhookTypes(
	ctx context.Context, in administration.ListWebhookTypesRequestObject,
) (administration.ListWebhookTypesResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	var all []administration.WebhookType
	for _, action := range a.Programme().Recorded() {
		all = append(all,
			administration.WebhookType{Type: loyalty.EventType + action, Kind: administration.WebhookTypeKindEvent})
	}

	schemas := map[string]json.RawMessage{}
	for _, n := range webhook.Notices() {
		t := administration.WebhookType{Type: n.Type, Kind: administration.WebhookTypeKindNotice}
		if err := json.Unmarshal(n.Example, &t.Example); err != nil {
			return nil, err
		}
		all, schemas[n.Type] = append(all, t), n.Schema
	}

	slices.SortFunc(all, func(x, y administration.WebhookType) int { return strings.Compare(x.Type, y.Type) })
	l := list.Linked(p, list.Cut(p, all, nil), a.Clock(), nil)
	if loyalty.Deref(in.Params.Schemas) {
		for i := range l.Entries {
			t := &l.Entries[i]
			if said, notice := schemas[t.Type]; !notice {
				t.Schema = a.eventSchema(strings.TrimPrefix(t.Type, loyalty.EventType))
			} else if err := json.Unmarshal(said, &t.Schema); err != nil {
				return nil, err
			}
		}
	}

	return administration.ListWebhookTypes200JSONResponse(api.AnswerOf(l)), nil
}

// eventSchema is the JSON Schema of the data of messages about events of an action: messageEvent with the action's
// attributes.
func (a *API) eventSchema(action string) map[string]any {
	attributes, known := a.Vocabulary.DataSchema(action)
	if !known { // the programme declared it earlier
		attributes = map[string]any{"type": "object"}
	}
	of := func(kind, format string) map[string]any { return map[string]any{"type": kind, "format": format} }
	return map[string]any{
		"type": "object", "required": []string{"action", "change", "timestamp", "data"},
		"properties": map[string]any{
			"action": map[string]any{"type": "string", "enum": []string{action}},
			"points": of("integer", "int64"), "change": of("integer", "int64"),
			"timestamp":      of("string", "date-time"),
			"transaction_id": map[string]any{"type": "string"}, "parent": of("string", "uuid"),
			"expdate": of("string", "date-time"), "data": attributes, "truncated": map[string]any{"type": "boolean"},
		},
	}
}
