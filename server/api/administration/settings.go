package administration

import (
	"context"
	"net/http"
	"time"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
)

// GetSettings reads the settings of the whole programme.
func (a *API) GetSettings(
	ctx context.Context, _ administration.GetSettingsRequestObject,
) (administration.GetSettingsResponseObject, error) {
	s, err := a.Admin.Settings(api.Plain(ctx))
	if err != nil {
		return nil, err
	}
	return administration.GetSettings200JSONResponse{Data: a.settingsOf(s)}, nil
}

// UpdateSettings changes the settings of the whole programme.
func (a *API) UpdateSettings(
	ctx context.Context, in administration.UpdateSettingsRequestObject,
) (administration.UpdateSettingsResponseObject, error) {
	c := admin.SettingsChange{Currency: in.Body.Currency, TimeZone: in.Body.TimeZone}
	if s := in.Body.AcceptanceWindowSeconds; s != nil {
		window := time.Duration(*s) * time.Second
		c.AcceptanceWindow = &window
	}
	answer := func(s loyalty.Settings) any { return administration.SettingsAnswer{Data: a.settingsOf(s)} }
	return api.Change(ctx, http.StatusOK, answer,
		func(ctx context.Context, call admin.Call) (admin.Done[loyalty.Settings], error) {
			return a.Admin.SetSettings(ctx, call, c)
		})
}

// settingsOf renders the settings. The region comes from the installation, not
// from the database.
func (a *API) settingsOf(s loyalty.Settings) administration.Settings {
	return administration.Settings{
		Currency: s.Currency, TimeZone: s.TimeZone, Region: &a.Region,
		AcceptanceWindowSeconds: int(s.AcceptanceWindow / time.Second),
	}
}
