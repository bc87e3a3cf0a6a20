package administration

import (
	"context"
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// ListModules lists the modules by name.
func (a *API) ListModules(
	ctx context.Context, in administration.ListModulesRequestObject,
) (administration.ListModulesResponseObject, error) {
	p, err := api.PageOf(ctx, in.Params.Limit, in.Params.Offset, nil)
	if err != nil {
		return nil, err
	}

	all, err := a.Admin.Modules(api.Plain(ctx))
	if err != nil {
		return nil, err
	}

	l := list.Linked(p, list.Cut(p, all, nil), a.Clock(), nil)
	out := administration.ListModules200JSONResponse{
		Data: make([]administration.ModuleDetails, len(l.Entries)), Next: l.Next, Previous: l.Previous, Time: &l.Time,
	}
	for i, m := range l.Entries {
		out.Data[i] = moduleOf(m)
	}

	return out, nil
}

// GetModule reads a module by any spelling of its name.
func (a *API) GetModule(
	ctx context.Context, in administration.GetModuleRequestObject,
) (administration.GetModuleResponseObject, error) {
	m, err := a.Admin.Module(api.Plain(ctx), in.Module)
	if err != nil {
		return nil, err
	}
	return administration.GetModule200JSONResponse{Data: moduleOf(m)}, nil
}

// ConfigureModule switches and configures a module.
func (a *API) ConfigureModule(
	ctx context.Context, in administration.ConfigureModuleRequestObject,
) (administration.ConfigureModuleResponseObject, error) {
	c := admin.ModuleChange{Enabled: in.Body.Enabled, Config: in.Body.Config}
	return api.Change(ctx, http.StatusOK, moduleAnswer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.ModuleState], error) {
			return a.Admin.SetModule(ctx, call, in.Module, c)
		})
}

func moduleAnswer(m loyalty.ModuleState) any { return administration.ModuleAnswer{Data: moduleOf(m)} }

func moduleOf(m loyalty.ModuleState) administration.ModuleDetails {
	return administration.ModuleDetails{Name: administration.ModuleName(m.Name), Enabled: m.Enabled, Config: m.Config}
}
