package traffic

import (
	"errors"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Next says how a batch goes on after an attempt to commit it. Rules answer Done, More or Again.
type Next int

const (
	Done  Next = iota // it is committed, or cannot be: the error says why
	More              // its rules need rows that were not loaded: add them to what is loaded
	load              // no guard would check what was decided on cached rows: decide on loaded ones
	Again             // another writer was faster: decide on the rows as they are now, under locks
	split             // waiting callers should not wait for all that it loads: commit its halves
	heavy             // some of its submissions belong to the heavy worker: commit the others
)

// errNotDecided ends a transaction before anything was decided. The value of Next says why.
var errNotDecided = errors.New("the batch was not decided")

// after says how a batch goes on after the store's error. to is how the decision itself ended.
func after(err error, to Next) Next {
	switch {
	case err == nil:
		return Done
	case errors.Is(err, errNotDecided):
		return to
	case errors.Is(err, loyalty.ErrMuch):
		return split
	case errors.Is(err, loyalty.ErrBatchConflict):
		return Again
	}
	return Done
}
