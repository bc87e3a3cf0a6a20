package programme

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// SettingsOrDefaults returns the settings with a default for each that is not set.
func SettingsOrDefaults(s loyalty.Settings) loyalty.Settings {
	if s.Currency == "" {
		s.Currency = defaultSettings.Currency
	}
	if s.TimeZone == "" {
		s.TimeZone = defaultSettings.TimeZone
	}
	if s.AcceptanceWindow == 0 {
		s.AcceptanceWindow = defaultSettings.AcceptanceWindow
	}
	return s
}

// CheckSettings reads the settings and returns the programme's location.
func CheckSettings(s loyalty.Settings) (*time.Location, error) {
	if len(s.Currency) != 3 || !isUpper(s.Currency) {
		return nil, Fault("currency", "bad_format", map[string]any{"format": "ISO 4217 (EUR)"})
	}

	loc, err := time.LoadLocation(s.TimeZone)
	if err != nil || s.TimeZone == "Local" {
		return nil, Fault("time_zone", "bad_format", map[string]any{"format": "IANA (Europe/Budapest)"})
	}

	switch {
	case s.AcceptanceWindow < time.Second || s.AcceptanceWindow%time.Second != 0:
		return nil, Fault("acceptance_window_seconds", "too_small", map[string]any{"limit": 1})
	case s.AcceptanceWindow > maxWindow:
		return nil, Fault("acceptance_window_seconds", "too_large", map[string]any{"limit": int(maxWindow / time.Second)})
	}

	return loc, nil
}
