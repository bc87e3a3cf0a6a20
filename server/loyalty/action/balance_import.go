package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// balanceImportData are the attributes of balance_import. Its effective_timestamp is when the points were earned.
type balanceImportData struct {
	Points  int64  `json:"points"`
	ExpDate string `json:"expdate"` // RFC 3339, or a day; empty: see Expiry
	Expiry  string `json:"expiry"`  // programme: by its policy, counted from when they were earned; otherwise never
}

// balance_import takes over points that were earned in another system, as a lot with the dates that it had there.
// Points that have expired by now are refused: they are no balance.
var balanceImport = engine.Action[balanceImportData]{
	Name: "balance_import", Standing: engine.Earner,
	Check: func(d balanceImportData) error {
		if d.Points <= 0 {
			return loyalty.ErrPropertyInvalid.With("property", "points").With("reason", "range").At("data.points")
		}
		return nil
	},
	Apply: func(r *engine.Run, d balanceImportData) error {
		expires, err := end(r, "expdate", &d.ExpDate)
		switch {
		case err != nil:
			return err
		case d.Expiry == "programme":
			// by today's policy, counted from the day on which they were earned, so that imported points expire like
			// those earned here
			err = r.Credit(r.Event, d.Points, "")
		default:
			err = r.CreditUntil(r.Event, d.Points, expires)
		}

		// taking over expired points would only write two postings that cancel out
		if at := r.Event.ExpDate; err == nil && !at.IsZero() && !at.After(r.Now) {
			return loyalty.ErrPropertyInvalid.With("property", "expdate").With("reason", "past").At("data.expdate")
		}

		return err
	},
}
