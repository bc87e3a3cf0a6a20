package traffic

import (
	"sync/atomic"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Ticket is a submission on its way to the database.
type Ticket struct {
	// Submission is what the rules decide; a Dispatcher passes it on.
	Submission any
	// Needs say which customer the submission names, and what to load of that customer. Batches in flight never share
	// a customer.
	Needs  loyalty.CustomerNeeds
	Heavy  bool           // deciding it takes long
	Result loyalty.Result // valid once Submit, Commit or Preview returns

	movable    bool        // to the worker of heavy submissions, if it turns out to be large
	large      bool        // it touches a large purchase (see findLarge)
	conflicted bool        // another writer was faster
	claimed    atomic.Bool // by a worker, or by its caller on leaving
	caller     any         // to the tracer; nil: not traced
	done       chan struct{}
}

// customer is the customer that a submission names. A customer who has a second name, or is touched by another
// customer's event, may still be in two batches at once: the guards of the write find that.
func (t *Ticket) customer() string {
	if ref := t.Needs.Ref.Value; ref != "" {
		return ref
	}
	return string(t.Needs.ID[:])
}
