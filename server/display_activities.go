package server

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// activityKind is one kind of the things that a customer may do.
type activityKind struct {
	name   string // its key in the overview, and what activity_types calls it
	one    string // the same in the singular, which activity_types takes too
	module string // without which nobody can do it
	// list gives what the list of the kind answers without filters, whole.
	list func(a *displayAPI, r *loyalty.Run, language string, now time.Time) ([]any, error)
}

// activityKinds are the kinds of the overview, in its order. Each has its function
// next to its own list, which uses the same one.
var activityKinds = []activityKind{}

// activities makes a kind's own function one of the overview's.
func activities[T any](of func(a *displayAPI, r *loyalty.Run, language string, now time.Time) ([]T, error)) func(*displayAPI, *loyalty.Run, string, time.Time) ([]any, error) {
	return func(a *displayAPI, r *loyalty.Run, language string, now time.Time) ([]any, error) {
		list, err := of(a, r, language, now)
		all := make([]any, len(list))
		for i, entry := range list {
			all[i] = entry
		}
		return all, err
	}
}
