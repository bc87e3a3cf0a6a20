package offer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOfferProgress: a use is given back at most once, by hand or by the
// rejection of its purchase, also long after.
func TestOfferProgress(t *testing.T) {
	var p OfferProgress
	require.False(t, p.unredeem(""))
	p.redeem("T-1")
	p.redeem("")
	require.False(t, p.unredeem("T-2"))
	require.True(t, p.unredeem("T-1"))
	require.False(t, p.unredeem("T-1"))
	require.Equal(t, OfferProgress{Redeemed: 1, Last: []string{""}}, p)
	require.True(t, p.unredeem(""))
	require.False(t, p.unredeem(""))

	p.redeem("T-1")
	for range 2 * maxOfferUses {
		p.redeem("T-2")
	}

	require.Len(t, p.Last, maxOfferUses, "what is kept is bounded")
	require.True(t, p.unredeem("T-1"), "of a use that is too old to be named")
	require.Equal(t, int64(2*maxOfferUses), p.Redeemed)
	for range 2 * maxOfferUses {
		require.True(t, p.unredeem(""))
	}

	require.False(t, p.unredeem(""))
	require.Zero(t, p.Redeemed)
}
