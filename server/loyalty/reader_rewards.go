package loyalty

import (
	"context"
)

// RewardReader answers questions about rewards and claims that name no customer.
type RewardReader interface {
	// ClaimByID finds a claim by the event that records it, with the customer whose
	// claim it is; of a merged one with the one they became part of. It fails with
	// ErrClaimUnknown (190221).
	ClaimByID(ctx context.Context, id ID) (RewardClaim, Customer, error)
	// Tallies reads counts that all customers share, by key. One that was never
	// counted is not among them.
	Tallies(ctx context.Context, keys []string) (map[string]int64, error)
}
