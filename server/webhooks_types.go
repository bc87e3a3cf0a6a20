package server

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/webhook"
)

// ListWebhookTypes lists what webhooks can be told of: events of every action that there
// is, the programme's own ones too, and what the platform has to say itself.
func (a *administrationAPI) ListWebhookTypes(ctx context.Context, in administration.ListWebhookTypesRequestObject) (administration.ListWebhookTypesResponseObject, error) {
	p, err := pageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}
	var all []administration.WebhookType
	for _, action := range a.programme().Recorded() {
		all = append(all, administration.WebhookType{Type: loyalty.EventType + action, Kind: administration.WebhookTypeKindEvent})
	}
	for _, n := range webhook.Notices() {
		t := administration.WebhookType{Type: n.Type, Kind: administration.WebhookTypeKindNotice}
		if err := json.Unmarshal(n.Example, &t.Example); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(x, y administration.WebhookType) int { return strings.Compare(x.Type, y.Type) })
	l := list.Linked(p, list.Cut(p, all, nil), a.clock(), nil)
	return administration.ListWebhookTypes200JSONResponse(answerOf(l)), nil
}
