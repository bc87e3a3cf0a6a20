package administration

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// GetConfiguration returns everything that is configured.
func (a *API) GetConfiguration(
	ctx context.Context, _ administration.GetConfigurationRequestObject,
) (administration.GetConfigurationResponseObject, error) {
	document, err := a.Admin.Configuration(api.Plain(ctx))
	if err != nil {
		return nil, err
	}
	return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(map[string]any{"data": document})}, nil
}

// ApplyConfiguration shows what a configuration would change, or changes it.
func (a *API) ApplyConfiguration(
	ctx context.Context, in administration.ApplyConfigurationRequestObject,
) (administration.ApplyConfigurationResponseObject, error) {
	r := api.RequestOf(ctx)
	r.Decided = in.Body.Mode == "plan" // a plan only reads
	body, err := api.ParseBody(api.HTTPRequest(ctx).Header, r.Body)
	if err != nil {
		return nil, err
	}

	reader := contract.ConfiguratorFor(a.Vocabulary, a.Entities)
	wanted, err := reader.Of(contract.Properties(r.Tree)["configuration"], contract.Properties(body)["configuration"])
	if err != nil {
		return nil, err
	}

	mode, prune := string(in.Body.Mode), in.Body.Prune != nil && *in.Body.Prune
	answer := api.WithWarnings(ctx, a.Programme,
		func(changes []admin.ConfigurationChange) any { return configurationAnswer(mode, changes) })
	if mode == "plan" {
		changes, err := a.Admin.PlanConfiguration(api.Plain(ctx), wanted, prune)
		if err != nil {
			return nil, err
		}
		return api.RawResponse{Status: http.StatusOK, Body: api.Marshal(answer(changes))}, nil
	}

	return api.Change(ctx, http.StatusOK, answer,
		func(ctx context.Context, call admin.Call) (admin.Done[[]admin.ConfigurationChange], error) {
			return a.Admin.ApplyConfiguration(ctx, call, wanted, prune)
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
