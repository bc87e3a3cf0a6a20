package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// mergeData are the attributes of merge: the identifier of the account that is merged into this one.
type mergeData struct {
	Source string `json:"source"`
}

// merge merges another account into this one. Only the operation of that name causes it.
var merge = engine.Action[mergeData]{
	Name: "merge",
	Needs: func(_ mergeData, n *loyalty.CustomerNeeds) {
		// a merge moves everything that both sides have, including used lots: points spent from them may still be given
		// back
		n.Everything, n.Key, n.Lots = true, true, loyalty.UsedLots
	},
	Apply: func(r *engine.Run, d mergeData) error { return engine.Merge(r, d.Source) },
}
