package engine

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
)

// Observer is told what the engine does, for metrics. Workers wait for it, and several call it at once: it must be
// quick and safe for concurrent use.
type Observer interface {
	traffic.Observer
	// Ended is called once for each submission. action is the submitted action, empty if only due effects were applied.
	// It may be any text, because refused actions are counted too.
	Ended(action string, r *loyalty.Result)
}

// unobserved is the Observer used if none is given.
type unobserved struct{}

func (unobserved) Tried(traffic.Attempt)         {}
func (unobserved) Ended(string, *loyalty.Result) {}
