//go:build !race

package signing

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A good request allocates next to nothing. The race detector empties pools at random, so this runs without it.
func TestGoodRequestAllocatesNextToNothing(t *testing.T) {
	v, in, lookup := benchRequest(t, 300)
	require.LessOrEqual(t, testing.AllocsPerRun(100, verifyOf(t, v, in, lookup)), 2.0)
}
