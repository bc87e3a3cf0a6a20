package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// GetConfiguration returns everything that is configured.
func (a *administrationAPI) GetConfiguration(ctx context.Context, _ administration.GetConfigurationRequestObject) (administration.GetConfigurationResponseObject, error) {
	document, err := a.admin.Configuration(plain(ctx))
	if err != nil {
		return nil, err
	}
	return rawResponse{status: http.StatusOK, body: marshal(map[string]any{"data": document})}, nil
}

// ApplyConfiguration shows what a configuration would change, or changes it.
func (a *administrationAPI) ApplyConfiguration(ctx context.Context, in administration.ApplyConfigurationRequestObject) (administration.ApplyConfigurationResponseObject, error) {
	r := requestOf(ctx)
	r.decided = in.Body.Mode == "plan" // a plan only reads
	body, err := parseBody(httpRequest(ctx).Header, r.body)
	if err != nil {
		return nil, err
	}

	reader := contract.ConfiguratorFor(a.vocabulary, a.entities)
	wanted, err := reader.Of(contract.Properties(r.tree)["configuration"], contract.Properties(body)["configuration"])
	if err != nil {
		return nil, err
	}

	mode, prune := string(in.Body.Mode), in.Body.Prune != nil && *in.Body.Prune
	answer := withWarnings(ctx, a.programme, func(changes []admin.ConfigurationChange) any { return configurationAnswer(mode, changes) })
	if mode == "plan" {
		changes, err := a.admin.PlanConfiguration(plain(ctx), wanted, prune)
		if err != nil {
			return nil, err
		}
		return rawResponse{status: http.StatusOK, body: marshal(answer(changes))}, nil
	}

	return change(ctx, http.StatusOK, answer, func(ctx context.Context, call admin.Call) (admin.Done[[]admin.ConfigurationChange], error) {
		return a.admin.ApplyConfiguration(ctx, call, wanted, prune)
	})
}

// configurationDifference is one change in the answer.
type configurationDifference struct {
	Change  string                     `json:"change"`
	Section string                     `json:"section"`
	Type    string                     `json:"type,omitempty"`
	ID      string                     `json:"id"`
	Before  map[string]json.RawMessage `json:"before,omitempty"`
	After   map[string]json.RawMessage `json:"after,omitempty"`
}

func configurationAnswer(mode string, changes []admin.ConfigurationChange) any {
	list := make([]configurationDifference, len(changes))
	for i, c := range changes {
		list[i] = configurationDifference(c)
	}
	return map[string]any{"data": map[string]any{"mode": mode, "total": len(list), "differences": list}}
}
