package admin

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// ModuleChange is a change of a module; nil fields stay unchanged. A configuration replaces the
// whole previous one: what it leaves out gets its default.
type ModuleChange struct {
	Enabled *bool
	Config  json.RawMessage
}

// Modules lists the modules of this build in alphabetical order, with their
// complete configurations.
func (a *Admin) Modules(ctx context.Context) ([]loyalty.ModuleState, error) {
	s, err := a.store.Snapshot(ctx, nil)
	if err != nil {
		return nil, err
	}
	return programme.ModuleStates(s)
}

// Module returns one module by any spelling of its name. It fails with ErrModuleUnknown.
func (a *Admin) Module(ctx context.Context, spelling string) (loyalty.ModuleState, error) {
	name, err := programme.ModuleName(spelling)
	if err != nil {
		return loyalty.ModuleState{}, err
	}
	s, err := a.store.Snapshot(ctx, nil)
	if err != nil {
		return loyalty.ModuleState{}, err
	}
	m, _, err := programme.CheckModule(programme.StoredModule(s, name))
	return m, err
}

// SetModule switches and configures a module. It fails with ErrModuleUnknown,
// ErrModulesExclusive, or an error of kind Invalid that names the field.
func (a *Admin) SetModule(
	ctx context.Context, call Call, spelling string, c ModuleChange,
) (Done[loyalty.ModuleState], error) {
	return change(ctx, a, call, func(r *adminRun) (loyalty.ModuleState, error) {
		name, err := programme.ModuleName(spelling)
		if err != nil {
			return loyalty.ModuleState{}, err
		}

		before, _, err := programme.CheckModule(programme.StoredModule(r.Snapshot, name))
		if err != nil {
			return before, err
		}

		m, _, err := programme.CheckModule(moduleWith(before, c))
		if err != nil {
			return m, err
		}

		was, is := moduleRecord{before.Enabled, before.Config}, moduleRecord{m.Enabled, m.Config}
		if unchanged(was, is) {
			return m, nil
		}
		if err := r.saveModule(m); err != nil {
			return m, err
		}

		return m, r.audit("module.update", name, was, is)
	}, func(m loyalty.ModuleState) any { return m })
}

// moduleWith returns the module after a change.
func moduleWith(m loyalty.ModuleState, c ModuleChange) loyalty.ModuleState {
	if c.Enabled != nil {
		m.Enabled = *c.Enabled
	}
	if len(c.Config) > 0 && string(c.Config) != "null" {
		m.Config = c.Config
	}
	return m
}

// moduleRecord is a module as the audit trail shows it.
type moduleRecord struct {
	Enabled bool            `json:"enabled"`
	Config  json.RawMessage `json:"config"`
}

// saveModule saves a module if it makes a programme together with everything else.
func (r *adminRun) saveModule(m loyalty.ModuleState) error {
	next := r.Snapshot
	next.Modules = slices.DeleteFunc(slices.Clone(next.Modules),
		func(o loyalty.ModuleState) bool { return o.Name == m.Name })
	next.Modules = append(next.Modules, m)
	if _, err := r.registry.Compile(next); err != nil {
		return err
	}
	return r.SaveModule(m)
}

// SettingsChange is a change of the settings; nil fields stay unchanged.
type SettingsChange struct {
	Currency         *string        // ISO 4217
	TimeZone         *string        // IANA name
	AcceptanceWindow *time.Duration // 1 to 900 s
}

// Settings returns the settings in force.
func (a *Admin) Settings(ctx context.Context) (loyalty.Settings, error) {
	s, err := a.store.Snapshot(ctx, nil)
	return programme.SettingsOrDefaults(s.Settings), err
}

// SetSettings changes the settings. It fails with an error of kind Invalid that
// names the field.
func (a *Admin) SetSettings(ctx context.Context, call Call, c SettingsChange) (Done[loyalty.Settings], error) {
	return change(ctx, a, call, func(r *adminRun) (loyalty.Settings, error) {
		before := programme.SettingsOrDefaults(r.Snapshot.Settings)
		s := settingsWith(before, c)
		if _, err := programme.CheckSettings(s); err != nil {
			return s, err
		}
		if s == before {
			return s, nil
		}
		if err := r.SaveSettings(s); err != nil {
			return s, err
		}
		return s, r.audit("settings.update", "settings", recordOf(before), recordOf(s))
	}, func(s loyalty.Settings) any { return s })
}

// settingsWith returns the settings after a change.
func settingsWith(s loyalty.Settings, c SettingsChange) loyalty.Settings {
	if c.Currency != nil {
		s.Currency = *c.Currency
	}
	if c.TimeZone != nil {
		s.TimeZone = *c.TimeZone
	}
	if c.AcceptanceWindow != nil {
		s.AcceptanceWindow = *c.AcceptanceWindow
	}
	return s
}

// settingsRecord is the settings as the audit trail shows them.
type settingsRecord struct {
	Currency         string `json:"currency"`
	TimeZone         string `json:"time_zone"`
	AcceptanceWindow int64  `json:"acceptance_window_seconds"`
}

func recordOf(s loyalty.Settings) settingsRecord {
	return settingsRecord{s.Currency, s.TimeZone, int64(s.AcceptanceWindow / time.Second)}
}
