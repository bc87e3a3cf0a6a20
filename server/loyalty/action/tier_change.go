package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// tierChangeData are the attributes of tier_change.
type tierChangeData struct {
	Structure string `json:"structure"` // of the tier; empty: the one that the tier belongs to
	Tier      string `json:"tier"`
	ExpDate   string `json:"expdate"` // RFC 3339, or a day; empty: it has no end
	Since     string `json:"since"`   // of an import: when the customer reached it; empty: now
}

// tier_change puts a customer into a tier by hand.
var tierChange = engine.Action[tierChangeData]{
	Name: "tier_change", Standing: engine.Earner,
	Needs: func(_ tierChangeData, n *loyalty.CustomerNeeds) {
		n.Progress = loyalty.Kinds(loyalty.ProgressTier)
	},
	Check: func(d tierChangeData) error {
		if d.Tier == "" {
			return loyalty.ErrPropertyEmpty.With("property", "tier").At("data.tier")
		}
		return nil
	},
	Apply: func(r *engine.Run, d tierChangeData) (err error) {
		// an unknown structure and a tier of another structure are different errors, because they are corrected in
		// different places
		if d.Structure != "" && tier.Structures.Of(r.Programme)[d.Structure] == nil {
			return loyalty.ErrStructureNotFound.With("structure", d.Structure).At("data.structure")
		}

		// ids of tiers are unique over all structures, so the structure may be left out
		to := tier.Find(r.Programme, d.Tier)
		if to == nil || (d.Structure != "" && to.Structure != d.Structure) {
			return loyalty.ErrTierNotFound.With("tier", d.Tier).At("data.tier")
		}

		expires, err := end(r, "expdate", &d.ExpDate)
		if err != nil {
			return err
		}

		since, err := start(r, "since", &d.Since)
		if err != nil {
			return err
		}

		return tier.Give(r, r.Event, to, since, expires)
	},
}
