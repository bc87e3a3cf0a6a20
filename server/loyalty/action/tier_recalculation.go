package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/tier"
)

// tierRecalculationData are the attributes of tier_recalculation.
type tierRecalculationData struct {
	Structure string `json:"structure"`
}

// tier_recalculation computes the figures of a structure again from the customer's journal. The job tiers submits it
// for every customer that a changed structure may place in another tier.
var tierRecalculation = engine.Action[tierRecalculationData]{
	Name: "tier_recalculation", Standing: engine.Earner,
	Needs: func(_ tierRecalculationData, n *loyalty.CustomerNeeds) {
		// the journal, because the stored figures were counted by the previous rules
		n.Progress, n.Past = loyalty.Kinds(loyalty.ProgressTier), true
	},
	Check: func(d tierRecalculationData) error {
		if d.Structure == "" {
			return loyalty.ErrPropertyEmpty.With("property", "structure").At("data.structure")
		}
		return nil
	},
	Apply: func(r *engine.Run, d tierRecalculationData) error {
		return tier.Recalculate(r, r.Event, d.Structure)
	},
}
