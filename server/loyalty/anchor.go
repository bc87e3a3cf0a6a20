package loyalty

import (
	"context"
	"time"
)

// Chain is the chain of hashes over a customer's journal. The store keeps and
// extends it; no rule looks at it.
type Chain struct {
	Head []byte // 32 bytes; nil: nothing is chained yet
	From ID     // the first event in it; zero: the customer's first
}

// Anchor is one digest over the heads of all customers' chains, taken each hour
// and written to the log, where whoever owns the database cannot change it.
type Anchor struct {
	Number    int64 // grows by one
	At        time.Time
	Customers int64 // with a chain
	Digest    [32]byte
}

// AnchorStore keeps the anchors.
type AnchorStore interface {
	// Anchor notes the heads of all chains and gives their digest.
	Anchor(ctx context.Context, now time.Time) (Anchor, error)
}
