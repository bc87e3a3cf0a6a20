package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// mergeData are the attributes of merge: the identifier of the account that
// becomes part of this one.
type mergeData struct {
	Source string `json:"source"`
}

// merge makes another account part of this one. Only the operation of that name
// causes it.
var merge = engine.Action[mergeData]{
	Name: "merge",
	Needs: func(_ mergeData, n *loyalty.CustomerNeeds) {
		// a merge moves all that both sides have, including used lots: what was spent from them may
		// still be undone
		n.Everything, n.Key, n.Lots = true, true, loyalty.UsedLots
	},
	Apply: func(r *engine.Run, d mergeData) error { return engine.Merge(r, d.Source) },
}
